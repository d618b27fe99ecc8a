import { describe, expect, it } from 'vitest'
import { toScopeOptions } from '../src/options/scope-options.ts'

/** As the parser says that a command stands for election. */
const elects = { leaderElection: true }

describe('the part of a cluster that a process works on', () => {
  it('is the whole cluster by default', () => {
    expect(toScopeOptions(elects)).toEqual({ namespaces: undefined, leaseNamespace: undefined })
  })

  it('is the given namespaces, without duplicates', () => {
    const values = { ...elects, watchNamespace: ['agents', 'network', 'agents'], leaseNamespace: 'tranche-system' }
    expect(toScopeOptions(values)).toEqual({ namespaces: ['agents', 'network'], leaseNamespace: 'tranche-system' })
  })

  it('requires no Lease namespace without leader election', () => {
    const want = { namespaces: ['agents'], leaseNamespace: undefined }
    expect(toScopeOptions({ watchNamespace: ['agents'] })).toEqual(want)
    expect(toScopeOptions({ leaderElection: false, watchNamespace: ['agents'] })).toEqual(want)
  })

  it.each([
    [{ watchNamespace: ['Agents'] }, '--watch-namespace does not take "Agents"'],
    [{ watchNamespace: [''] }, '--watch-namespace does not take ""'],
    [{ leaseNamespace: 'kube_system' }, '--lease-namespace does not take "kube_system"'],
    [{ ...elects, watchNamespace: ['agents'] }, '--watch-namespace requires --lease-namespace'],
  ])('is refused as %j', (values, message) => {
    expect(() => toScopeOptions(values)).toThrow(message)
  })
})
