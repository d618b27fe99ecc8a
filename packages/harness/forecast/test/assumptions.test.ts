import { expect, it } from 'vitest'
import { assumptionsOf } from '../src/assumptions.ts'

it.each([
  { measured: 30, crowd: 30, starts: 'all 30 of these started together' },
  { measured: 30, crowd: 24, starts: 'about 24 of these started together' },
])('$crowd of $measured measured pods that started together are named as $starts', ({ measured, crowd, starts }) => {
  const believed = Array.from({ length: measured }, () => 3_000)
  expect(assumed({}, { believed, crowd })).toContain(
    `${starts}, so their times are measured from the kubelet's admission; a release may be faster than predicted`,
  )
})

it.each([
  {
    policy: { drain: { consumers: [{ csiDriver: 'a.example.com' }] } },
    says: 'pods that use the agent are assumed to leave each node at once (drain)',
  },
  { policy: { downtime: { group: 'agents' } }, says: 'no other release of the group agents is assumed to be in progress (downtime.group)' },
  {
    policy: { downtime: { nodeLock: 'Take' } },
    says: 'no other program is assumed to hold the Lease of a node (downtime.nodeLock)',
  },
  {
    policy: { downtime: { perDay: '10m' } },
    says: 'the downtime of each node in the last 24 hours is assumed to be below the limit (downtime.perDay)',
  },
])('a forecast under the policy $policy says that $says', ({ policy, says }) => {
  expect(assumed(policy)).toContain(says)
  expect(assumed({})).not.toContain(says)
  const refused = new Set(['DrainNotAllowed', 'GroupNotAllowed', 'NodeLockNotAllowed', 'DowntimeNotAllowed'])
  expect(assumed(policy, { believed: [], crowd: null }, refused)).not.toContain(says)
})

function assumed(policy: object, times: object = { believed: [], crowd: null }, refused = new Set<string>()): readonly string[] {
  const daemonSet = { metadata: {}, spec: { template: { spec: { containers: [] } } } }
  const inputs = {
    snapshot: { nodes: [], rollout: { spec: { strategy: {} } }, daemonSet, unread: [], policy: { spec: policy } },
    daemonSet,
    request: {},
    times: { isCoarse: false, stop: { ms: 0, source: 'ByPods' }, ...times },
    mishaps: [],
    holds: { stop: null, refused, waits: [], unknownRights: [] },
    minReadySeconds: 0,
  }
  return assumptionsOf(inputs as never)
}
