import type { ClusterSnapshot, ReleasePolicySpec } from '@tranche/api-schema'
import { describe, expect, it } from 'vitest'
import { reportedHolds, waitsText } from '../src/planned/reported-holds.ts'

const metadata = { name: 'careful', generation: 2 }

function snapshotWith(
  spec: ReleasePolicySpec,
  {
    unusable = [] as readonly string[],
    observedGeneration = 2,
    stalled = '',
    blocked = [] as readonly string[],
    waiting = '',
    phase = 'Progressing',
    config = 'agent',
  } = {},
): ClusterSnapshot {
  const conditions = [{ type: 'Usable', status: 'False', reason: 'A', message: 'it is not allowed' }]
  const volumes = config === '' ? [] : [{ name: 'config', configMap: { name: config } }]
  return {
    daemonSet: { spec: { template: { spec: { volumes } } } },
    pods: [],
    policy: { metadata, spec, status: { observedGeneration, conditions, unusable } },
    rollout: {
      status: { phase, conditions: stalled === '' ? [] : [{ type: 'Stalled', status: 'True', reason: stalled, message: 'it is stalled' }] },
    },
    release: {
      status: {
        flight: { blocked: blocked.map((reason, at) => ({ node: `node-${at}`, reason, message: 'so it is' })) },
        ...(waiting !== '' && { waiting: { reason: waiting, message: 'it waits' } }),
      },
    },
  } as unknown as ClusterSnapshot
}

const planned = (spec: ReleasePolicySpec) => ({ policy: { metadata: { name: 'careful' }, spec } })

describe('what the installation refuses', () => {
  it.each<[sentence: string, snapshot: ClusterSnapshot, plan: ReleasePolicySpec | null, refused: readonly string[]]>([
    [
      'is what the status of the policy says',
      snapshotWith({ drain: {} }, { unusable: ['DrainNotAllowed', 'SecretUnusable'] }),
      null,
      ['DrainNotAllowed', 'SecretUnusable'],
    ],
    [
      'is not known from a status of another generation',
      snapshotWith({ drain: {} }, { unusable: ['DrainNotAllowed'], observedGeneration: 1 }),
      null,
      [],
    ],
    [
      'does not matter where the planned policy does not ask for it',
      snapshotWith({ drain: {} }, { unusable: ['DrainNotAllowed'] }),
      {},
      [],
    ],
  ])('%s', (_sentence, snapshot, plan, refused) => {
    expect([...reportedHolds(snapshot, plan === null ? {} : planned(plan), false).refused]).toEqual(refused)
  })
})

describe('a release is stopped', () => {
  it.each<[sentence: string, snapshot: ClusterSnapshot, plan: ReleasePolicySpec | null, stop: string | null]>([
    ['by another Rollout', snapshotWith({}, { stalled: 'WorkloadTaken' }), null, 'it is stalled'],
    ['not by a failure, which its copy shows', snapshotWith({}, { stalled: 'ReleaseFailed' }), null, null],
    ['by config that is not pinned', snapshotWith({ config: 'Pin' }, { stalled: 'ConfigUnpinned' }), null, 'it is stalled'],
    ['not by config that the planned policy does not pin', snapshotWith({ config: 'Pin' }, { stalled: 'ConfigUnpinned' }), {}, null],
    [
      'before it begins, where config cannot be pinned',
      snapshotWith({ config: 'Pin' }, { unusable: ['PinNotAllowed'] }),
      null,
      'it is not allowed',
    ],
    [
      'not where the template reads no config',
      snapshotWith({ config: 'Pin' }, { unusable: ['PinNotAllowed', 'PodPolicyMissing'], config: '' }),
      null,
      null,
    ],
    [
      'before it begins, without the policy for pods',
      snapshotWith({ config: 'Pin' }, { unusable: ['PodPolicyMissing'] }),
      null,
      'it is not allowed',
    ],
    [
      'by Leases that cannot be used',
      snapshotWith({ downtime: { nodeLock: 'Take' } }, { blocked: ['NodeLockFailed'] }),
      null,
      'node-0: so it is',
    ],
    [
      'not by Leases that the planned policy does not use',
      snapshotWith({ downtime: { nodeLock: 'Take' } }, { blocked: ['NodeLockFailed'] }),
      {},
      null,
    ],
    [
      'by checks that the installation does not allow, where the status of the policy does not say so',
      snapshotWith({ drain: {} }, { blocked: ['DrainNotAllowed'] }),
      null,
      'node-0: so it is',
    ],
    [
      'not by checks that its copy does not allow either',
      snapshotWith({ drain: {} }, { blocked: ['DrainNotAllowed'], unusable: ['DrainNotAllowed'] }),
      null,
      null,
    ],
    ['not by a reason of a newer version', snapshotWith({ drain: {} }, { blocked: ['constructor'] }), null, null],
    [
      'by a group that the installation does not allow',
      snapshotWith({ downtime: { group: 'agents' } }, { waiting: 'GroupNotAllowed' }),
      null,
      'it waits',
    ],
    [
      'not by a group that the planned policy does not name',
      snapshotWith({ downtime: { group: 'agents' } }, { waiting: 'GroupNotAllowed' }),
      {},
      null,
    ],
    [
      'not by a group whose Lease the API server fails to read, which ends',
      snapshotWith({ downtime: { group: 'agents' } }, { waiting: 'GroupFailed' }),
      null,
      null,
    ],
    [
      'not by another release of the group, which ends',
      snapshotWith({ downtime: { group: 'agents' } }, { waiting: 'GroupBusy' }),
      null,
      null,
    ],
    ['not by a check that may pass', snapshotWith({ drain: {} }, { blocked: ['DrainBlocked'] }), null, null],
  ])('%s', (_sentence, snapshot, plan, stop) => {
    expect(reportedHolds(snapshot, plan === null ? {} : planned(plan), false).stop).toBe(stop)
  })
})

it('nodes wait for checks that may pass, in a release in progress', () => {
  const blocked = ['DrainBlocked', 'NodeLockFailed', 'DrainNotAllowed', 'NoRoom']
  expect(reportedHolds(snapshotWith({}, { blocked }), {}, false).waits.map(({ reason }) => reason)).toEqual(['DrainBlocked', 'NoRoom'])
  expect(reportedHolds(snapshotWith({}, { blocked, phase: 'Healthy' }), {}, false).waits).toEqual([])
  const many = Array.from({ length: 5 }, (_, at) => ({ node: `n${at}`, reason: 'NoRoom', message: '' }))
  expect(waitsText(many)).toBe('n0 (NoRoom), n1 (NoRoom), n2 (NoRoom) and 2 more')
})

it('a right that the planned policy asks for first is not known', () => {
  expect(reportedHolds(snapshotWith({ prePull: {} }), planned({ prePull: {}, config: 'Pin' }), false).unknownRights).toEqual([
    'config: Pin (rbac.configPin)',
  ])
  expect(reportedHolds(snapshotWith({ config: 'Pin' }), {}, false).unknownRights).toEqual([])
})

it('pods that read config itself stop no release of another template, which replaces them', () => {
  const containers = [{ envFrom: [{ configMapRef: { name: 'agent' } }] }]
  const live = { metadata: { annotations: { 'tranche.dev/pinned-config': 'ConfigMap/agent=agent-1' } }, spec: { containers } }
  const snapshot = { ...snapshotWith({ config: 'Pin' }, { stalled: 'ConfigUnpinned' }), pods: [live as never] }
  expect(reportedHolds(snapshot, {}, true).stop).toBeNull()
  expect(reportedHolds(snapshot, {}, false).stop).toBe('it is stalled')
  expect(reportedHolds({ ...snapshot, pods: [] }, {}, true).stop).toBe('it is stalled')
})
