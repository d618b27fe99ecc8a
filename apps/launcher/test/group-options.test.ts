import { describe, expect, it } from 'vitest'
import { toGroupOptions } from '../src/options/group-options.ts'

describe('the Leases of groups', () => {
  it('are not used by default, so that no policy may name a group', () => {
    expect(toGroupOptions({})).toBeUndefined()
  })

  it('are in the given namespace, and some namespaces may share their groups', () => {
    expect(toGroupOptions({ groupNamespace: 'tranche-system' })).toEqual({ namespace: 'tranche-system', shared: [] })
    expect(toGroupOptions({ groupNamespace: 'tranche-system', sharedGroupNamespace: ['a', 'b', 'a'] })).toEqual({
      namespace: 'tranche-system',
      shared: ['a', 'b'],
    })
  })

  it.each([
    [{ groupNamespace: 'Tranche' }, '--group-namespace does not take "Tranche"'],
    [{ groupNamespace: 'tranche-system', sharedGroupNamespace: ['a_b'] }, '--shared-group-namespace does not take "a_b"'],
    [{ sharedGroupNamespace: ['a'] }, '--shared-group-namespace requires --group-namespace'],
  ])('are refused as %j', (values, message) => {
    expect(() => toGroupOptions(values)).toThrow(message)
  })
})
