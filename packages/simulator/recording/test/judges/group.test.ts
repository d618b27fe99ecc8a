import { describe, expect, it } from 'vitest'
import { type Fields, find, fleet, judgeEach, type Script } from '../script.ts'

const MINUTE = 60_000
const inGroup = { spec: { tranche: { downtime: { group: 'agents' } } } }
const flight = (state: string): Fields => ({ status: { flight: { state, limit: 1, permits: [] } } })

/** The fleet, whose DaemonSet is released in a group, and a second DaemonSet that waits in the same group. */
function two(group: string | null = 'agents'): Script {
  return fleet()
    .order(inGroup)
    .seen('controller-1', ['batchreleases'])
    .record({ state: 'stopped' })
    .record({ state: 'open' })
    .daemonSet({ name: 'logs', uid: 'ds-2', generation: 1, observed: 1, template: 'logs-2', placement: {} }, 'user')
    .batchRelease('logs', { spec: { tranche: { ...(group !== null && { downtime: { group } }) } }, ...flight('stopped') })
    .seen('controller-1', ['pods', 'nodes', 'daemonsets', 'batchreleases'])
    .wait(MINUTE)
}

const opens = (s: Script): Script => s.batchRelease('logs', flight('open'))

describe('a record of a group', () => {
  judgeEach(
    'G13',
    [
      ['opens only where the other one is not open', opens, ['G13']],
      ['opens where the other one is stopped', (s) => opens(s.record({ state: 'stopped' })), []],
      ['opens only where the other one has no node in flight', (s) => opens(s.del('a1').record({ state: 'stopped' })), ['G13']],
      [
        'opens where the nodes of the other one have an available pod',
        (s) => opens(s.del('a1').replace('a1').record({ state: 'stopped' })),
        [],
      ],
      ['opens where the other one is gone', (s) => opens(s.batchRelease('agent', {}, { type: 'DELETED' })), []],
      [
        'opens where the other one waits for nodes left behind',
        (s) =>
          opens(
            s
              .del('a1')
              .record({ state: 'stopped' })
              .order({ status: { waiting: { reason: 'NodesLeft' } } }),
          ),
        [],
      ],
      [
        'opens where the other one is stopped, and its DaemonSet was deleted',
        (s) => opens(s.del('a1').daemonSet({}, 'user', { type: 'DELETED' }).record({ state: 'stopped' })),
        [],
      ],
      [
        'opens only where the other one is stopped, though its DaemonSet was deleted',
        (s) => opens(s.del('a1').daemonSet({}, 'user', { type: 'DELETED' })),
        ['G13'],
      ],
      [
        'opens only where the other one has not opened again after its DaemonSet was deleted',
        (s) =>
          opens(
            s
              .daemonSet({}, 'user', { type: 'DELETED' })
              .record({ state: 'stopped' })
              .daemonSet({ uid: 'ds-3', generation: 1, observed: 1 })
              .record({ state: 'open' }),
          ),
        ['G13'],
      ],
      [
        'opens only where the other one is stopped, though it is being deleted',
        (s) => opens(s.order({ metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } })),
        ['G13'],
      ],
      [
        'may be open before its release joins the group, until it opens again',
        (s) =>
          s
            .batchRelease('logs', { spec: { tranche: { downtime: { group: 'none' } } }, ...flight('open') })
            .batchRelease('logs', inGroup)
            .wait(MINUTE),
        [],
      ],
    ],
    { begin: two },
  )

  judgeEach('G13', [['does not count in another group', opens, []]], { begin: () => two('others') })
  judgeEach('G13', [['does not count without a group', opens, []]], { begin: () => two(null) })
})

it('a pod is not deleted while another release of the group has a node in flight (G13)', () => {
  const script = two().del('a1').record({ state: 'stopped' })
  expect(find(opens(script), { guarantees: ['G13'] })[0]?.text).toContain('demo/agent of its group is in flight on a')
})

it('namespaces that share their groups have one group of a name (G13)', () => {
  const other = { namespace: 'other' }
  const play = (): Script =>
    two(null)
      .daemonSet({ name: 'logs' }, 'user', other)
      .batchRelease('logs', { ...inGroup, ...flight('stopped') }, other)
      .seen('controller-1', ['batchreleases'])
      .batchRelease('logs', flight('open'), other)
  expect(find(play(), { guarantees: ['G13'], sharedGroupNamespaces: ['demo', 'other'] })).toHaveLength(1)
  expect(find(play(), { guarantees: ['G13'] })).toEqual([])
})
