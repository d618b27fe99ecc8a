import { describe, expect, it } from 'vitest'
import { aRevision, aView, onceSaid, templateOf, type ViewFields } from '../../../../../test/fakes/build-view.ts'

const kept = (fields: ViewFields): unknown => onceSaid(aView(fields)).release.status?.stableTemplate
const withLimit = (revisionHistoryLimit: number): ViewFields['daemonSet'] & object => ({ revisionHistoryLimit })
const expected = { revision: 'old', template: { ...templateOf('old') } }
const big = aRevision('old', 1, { spec: { containers: [{ name: 'agent', image: 'x'.repeat(300_000) }] } })

describe('the template of the stable revision', () => {
  it.each([
    ['is kept without a history', 0, expected],
    ['is kept where one newer revision prunes it', 1, expected],
    ['is left to a history that holds it', 2, undefined],
  ] as const)('%s', (_name, limit, want) => {
    expect(kept({ daemonSet: withLimit(limit) })).toEqual(want)
  })

  it('is kept as soon as further revisions endanger it', () => {
    const revisions = [aRevision('old', 1), aRevision('mid', 2), aRevision('new', 3)]
    expect(kept({ daemonSet: withLimit(2), revisions })).toEqual(expected)
  })

  it('stays kept when the revision is gone from the history', () => {
    const revisions = [aRevision('new', 2)]
    expect(kept({ daemonSet: withLimit(0), revisions, status: { stableTemplate: expected } })).toEqual(expected)
  })

  it('is dropped when another revision becomes the stable one', () => {
    expect(kept({ status: { stableTemplate: { revision: 'older', template: {} } } })).toBeUndefined()
  })

  it('is not kept where it is too large for a status', () => {
    expect(kept({ daemonSet: withLimit(0), revisions: [big, aRevision('new', 2)] })).toBeUndefined()
  })
})
