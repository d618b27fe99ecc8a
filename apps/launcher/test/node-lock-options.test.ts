import { describe, expect, it } from 'vitest'
import { toNodeLockOptions } from '../src/options/node-lock-options.ts'

describe('the options of node locks', () => {
  it('are off without a namespace', () => {
    expect(toNodeLockOptions({})).toBeUndefined()
  })

  it('name the namespaces whose policies may lock nodes, and that of the Leases', () => {
    expect(toNodeLockOptions({ lockNamespace: ['gpu', '*'], lockLeaseNamespace: 'leases' })).toEqual({
      lockNamespaces: ['gpu', '*'],
      lockLeaseNamespace: 'leases',
    })
  })

  it('use the namespace of medik8s by default', () => {
    expect(toNodeLockOptions({ lockNamespace: ['gpu'] })?.lockLeaseNamespace).toBe('medik8s-leases')
  })

  it.each([
    [{ lockNamespace: ['a_b'] }, '--lock-namespace does not take "a_b"'],
    [{ lockNamespace: ['a'], lockLeaseNamespace: 'a_b' }, '--lock-lease-namespace does not take "a_b"'],
    [{ lockNamespace: ['a'], lockLeaseNamespace: 'kube-node-lease' }, '--lock-lease-namespace does not take "kube-node-lease"'],
    [{ lockLeaseNamespace: 'a' }, '--lock-lease-namespace requires --lock-namespace'],
  ])('%j are rejected', (values, message) => {
    expect(() => toNodeLockOptions(values)).toThrow(message)
  })
})
