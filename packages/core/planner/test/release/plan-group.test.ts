import type { BatchRelease } from '@tranche/api-schema'
import type { Lease } from '@tranche/kube-types'
import { type GroupView, groupLeaseName, holderText, LEAVING_ANNOTATION, planBatchRelease, type ReleaseView } from '@tranche/planner'
import { describe, expect, it } from 'vitest'
import { aView, NOW_MS, onceSaid, permitFor, type ViewFields } from '../../../../../test/fakes/build-view.ts'

const NAME = groupLeaseName('agents', 'demo', false)
const inGroup = { downtime: { group: 'agents' } }
const held = { status: { groupLease: NAME } } as const
const notBegun = {
  record: null,
  annotations: { 'rollouts.kruise.io/daemonset-canary-revision': null, 'batchrelease.rollouts.kruise.io/control-info': null },
}
const stopped = { state: 'stopped' } as const
const open = { kind: 'writeRecord', why: 'open' }
const frees = { kind: 'freeGroup', lease: NAME }
const takes = { kind: 'takeGroup', lease: NAME }

const paused = { reason: 'Paused', message: 'x', nodes: [], since: new Date(NOW_MS).toISOString() }
const nodesLeft = { ...paused, reason: 'NodesLeft' }
/** A release that is over, and lost a machine in the update of its node. */
const overFields = {
  nodes: 'a:new b:new c:new d:new e:-?',
  spec: { batchPartition: undefined },
  record: { partition: 0, size: 5, state: 'stopped', permits: [permitFor('e')], holds: [{ reason: 'Paused', id: '4' }] },
  annotations: { 'rollouts.kruise.io/daemonset-partition': '0', 'rollouts.kruise.io/in-progressing': null, 'tranche.dev/paused': 'true' },
  status: {
    phase: 'Finalizing',
    canaryStatus: { batchState: 'Ready', currentBatch: 1, batchReadyTime: new Date(NOW_MS - 60_000).toISOString() },
  },
} as const

/** Holder of the Lease: this release, another one, or a program that is no release. */
type Holder = 'own' | 'leaving' | 'other' | 'foreign' | 'none'

interface Case {
  readonly view: ViewFields
  readonly holder?: Holder
  readonly group?: Partial<GroupView>
  readonly want: object
}

describe('planBatchRelease with a group (G13)', () => {
  const cases: Record<string, Case> = {
    'opens the record of a release that holds the Lease': { view: { record: stopped }, holder: 'own', want: { ...open, confirm: true } },
    'opens nothing with a Lease that the release gives up, and takes the mark off': {
      view: { record: stopped, ...held },
      holder: 'leaving',
      want: takes,
    },
    'opens nothing while another release holds the Lease': {
      view: {
        record: { ...stopped, holds: [{ reason: 'GroupBusy', id: 'agents' }] },
        annotations: { 'tranche.dev/paused': 'true' },
        ...held,
      },
      holder: 'other',
      want: { kind: 'writeStatus', status: { waiting: { reason: 'GroupBusy' } } },
    },
    'closes an open record whose release does not hold the Lease': {
      view: { annotations: { 'tranche.dev/paused': 'true' }, ...held },
      holder: 'other',
      want: { kind: 'writeRecord', why: 'stop', record: { state: 'voiding', holds: [{ reason: 'GroupBusy', id: 'agents' }] } },
    },
    'names the Lease in the status before it takes it': {
      view: { ...notBegun },
      want: { kind: 'writeStatus', status: { groupLease: NAME, waiting: { reason: 'GroupBusy' } } },
    },
    'takes the free Lease': { view: { ...notBegun, ...held }, want: takes },
    'takes the Lease again at once if a user has deleted it, before anything is closed': { view: { ...held }, want: takes },
    'leaves the free Lease to the release that has waited longer': {
      view: { ...notBegun, ...held },
      group: { members: [inCharge(aMember({ waiting: waitSince(-60_000) }))] },
      want: { kind: 'writeStatus' },
    },
    'takes the free Lease before a release that has waited less long': {
      view: { ...notBegun, status: { groupLease: NAME, waiting: waitSince(-60_000) } },
      group: { members: [inCharge(aMember({ waiting: waitSince(-30_000) }))] },
      want: takes,
    },
    'takes the free Lease before a release that is over and paused, although a machine was lost in its update': {
      view: { ...notBegun, ...held },
      group: { members: [inCharge(overMember({ waiting: paused }))] },
      want: takes,
    },
    'takes it before one that a budget of zero stops': {
      view: { ...notBegun, ...held },
      group: { members: [inCharge(overMember({ waiting: { ...paused, reason: 'BudgetZero' } }))] },
      want: takes,
    },
    'leaves it to a release that is over, and has begun to update a node left': {
      view: { ...notBegun, ...held },
      group: { members: [inCharge(overMember({ waiting: paused, groupLease: NAME }))], freeForMs: 3_600_000 },
      want: { kind: 'writeStatus' },
    },
    'leaves it at first to a release whose last batch is not ready': {
      view: { ...notBegun, ...held },
      group: { members: [inCharge(overMember({ waiting: paused, canaryStatus: undefined }))] },
      want: { kind: 'writeStatus' },
    },
    'leaves it for half a minute to a release that has given the group up and is paused before its next template begins': {
      view: { ...notBegun, ...held },
      group: { members: [inCharge(overMember({ waiting: paused, observedRelease: 'r2', phase: 'Preparing' }))], freeForMs: 29_000 },
      want: { kind: 'writeStatus' },
    },
    'takes it after that': {
      view: { ...notBegun, ...held },
      group: { members: [inCharge(overMember({ waiting: paused, observedRelease: 'r2', phase: 'Preparing' }))], freeForMs: 30_000 },
      want: takes,
    },
    'leaves it to a paused release in mid-release, which may have got its group later, with nodes in flight': {
      view: { ...notBegun, ...held },
      group: { members: [inCharge(overMember({ waiting: paused, observedRelease: 'r2', phase: 'Progressing' }))], freeForMs: 60_000 },
      want: { kind: 'writeStatus' },
    },
    'leaves it to one that waits for the group': {
      view: { ...notBegun, ...held },
      group: { members: [inCharge(overMember({ waiting: waitSince(0), phase: 'Preparing', observedRelease: 'r2' }))], freeForMs: 30_000 },
      want: { kind: 'writeStatus' },
    },
    'forgets the Lease that it waited for once it is over and paused, although a machine was lost in its update': {
      view: {
        ...overFields,
        tranche: { ...inGroup, paused: true },
        status: { ...overFields.status, groupLease: NAME, waiting: waitSince(0) },
      },
      holder: 'other',
      want: { kind: 'writeStatus', status: { groupLease: null } },
    },
    'keeps the Lease while it is over and paused, and a node left is in flight': {
      view: {
        ...overFields,
        tranche: { ...inGroup, paused: true },
        status: { ...overFields.status, groupLease: NAME, waiting: waitSince(0) },
      },
      holder: 'own',
      want: { kind: 'writeStatus', status: { waiting: { reason: 'Paused' } } },
    },
    'gives the Lease up that it has for nodes left, as it is paused': {
      view: {
        ...overFields,
        tranche: { ...inGroup, paused: true },
        status: { ...overFields.status, groupLease: NAME, waiting: nodesLeft },
      },
      holder: 'own',
      want: frees,
    },
    'takes the free Lease after half a minute, though the first in line has not taken it': {
      view: { ...notBegun, ...held },
      group: { members: [inCharge(aMember({ waiting: waitSince(-60_000) }))], freeForMs: 30_000 },
      want: takes,
    },
    'never takes the Lease before a release with nodes in flight, however long it is free': {
      view: { ...notBegun, ...held },
      group: {
        members: [inCharge(aMember({ groupLease: NAME, phase: 'Preparing', flight: { state: 'stopped', permits: [permitFor('a')] } }))],
        freeForMs: 3_600_000,
      },
      want: { kind: 'writeStatus' },
    },
    'takes the Lease after half a minute before a release whose status says so but which controls no DaemonSet': {
      view: { ...notBegun, ...held },
      group: {
        members: [{ ...inCharge(aMember({ flight: { state: 'open', permits: [permitFor('a')] } })), isInCharge: false }],
        freeForMs: 30_000,
      },
      want: takes,
    },
    'takes the Lease for a rollback before releases that have waited longer': {
      view: { ...notBegun, tranche: { ...inGroup, canaryRevision: 'new', stableRevision: 'new' }, ...held },
      group: { members: [inCharge(aMember({ waiting: waitSince(-60_000) }))] },
      want: takes,
    },
    'waits for a program that is no release': { view: { ...notBegun, ...held }, holder: 'foreign', want: { kind: 'writeStatus' } },
    'frees the Lease of a release that is gone': {
      view: { ...notBegun, ...held },
      holder: 'other',
      group: { holder: undefined },
      want: frees,
    },
    'frees the Lease of a release that has another group now': {
      view: { ...notBegun, ...held },
      holder: 'other',
      group: { holder: { release: aMember({}), wanted: 'tranche-group.demo.others' } },
      want: frees,
    },
    'gives the group up in a pause, once no node is in flight': {
      view: { record: stopped, tranche: { ...inGroup, paused: true }, ...held },
      holder: 'own',
      want: frees,
    },
    'keeps the group in a pause while a node is in flight': {
      view: {
        record: { ...stopped, permits: [permitFor('a')], holds: [{ reason: 'Paused', id: '4' }] },
        annotations: { 'tranche.dev/paused': 'true' },
        tranche: { ...inGroup, paused: true },
        ...held,
      },
      holder: 'own',
      want: { kind: 'writeStatus' },
    },
    'forgets the Lease of another release once it is paused itself': {
      view: { ...notBegun, tranche: { ...inGroup, paused: true }, ...held },
      holder: 'other',
      want: { kind: 'writeStatus', status: { groupLease: null } },
    },
    'gives the group up when its policy names none any more': {
      view: { tranche: { downtime: undefined }, ...held },
      holder: 'own',
      want: frees,
    },
    'gives the group up before its finalizer goes': {
      view: {
        record: stopped,
        metadata: { deletionTimestamp: '2023-11-14T00:00:00Z' },
        annotations: { 'batchrelease.rollouts.kruise.io/control-info': null },
        ...held,
      },
      holder: 'own',
      want: frees,
    },
    'first closes its record if it is deleted together with its DaemonSet': {
      view: { daemonSet: null, metadata: { deletionTimestamp: '2023-11-14T00:00:00Z' }, ...held },
      holder: 'own',
      want: { kind: 'writeRecord', why: 'stop', record: { state: 'voiding' } },
    },
    'first completes the stop of its record if its DaemonSet was given to another release and it is deleted': {
      view: {
        record: { state: 'voiding', permits: [permitFor('a')] },
        metadata: { deletionTimestamp: '2023-11-14T00:00:00Z' },
        annotations: { 'batchrelease.rollouts.kruise.io/control-info': null },
        ...held,
      },
      holder: 'own',
      want: { kind: 'touchPermits' },
    },
    'is stopped before it leaves the group, because a stop waits for nothing, not even for the Lease': {
      view: {
        annotations: { 'tranche.dev/paused': 'true' },
        tranche: { downtime: undefined, paused: true },
        ...held,
      },
      holder: 'own',
      want: { kind: 'writeRecord', why: 'stop', record: { state: 'voiding' } },
    },
    'removes its finalizer even where the Lease could not be written: the next release frees it': {
      view: {
        record: stopped,
        metadata: { deletionTimestamp: '2023-11-14T00:00:00Z' },
        annotations: { 'batchrelease.rollouts.kruise.io/control-info': null },
        ...held,
      },
      holder: 'own',
      group: { leaveFailed: true },
      want: { kind: 'setFinalizer', present: false },
    },
    'waits, and writes no Lease, where that of a release that is gone could not be freed a short time ago': {
      view: { ...notBegun, ...held },
      holder: 'other',
      group: { holder: undefined, leaveFailed: true },
      want: { kind: 'writeStatus' },
    },
    'removes its finalizer even where the Lease cannot be read': {
      view: {
        record: stopped,
        metadata: { deletionTimestamp: '2023-11-14T00:00:00Z' },
        annotations: { 'batchrelease.rollouts.kruise.io/control-info': null },
      },
      group: { refused: { reason: 'GroupFailed', message: 'forbidden' } },
      want: { kind: 'setFinalizer', present: false },
    },
    'says that a program which is no release has the group': {
      view: { ...notBegun, ...held },
      holder: 'foreign',
      want: { kind: 'writeStatus', status: { waiting: { reason: 'GroupLocked', message: expect.stringContaining('is no release') } } },
    },
    'says that the Lease of the group cannot be read, and keeps the time of the wait for its place in line': {
      view: { ...notBegun, status: { groupLease: NAME, waiting: waitSince(-60_000) } },
      group: { refused: { reason: 'GroupFailed', message: 'forbidden' } },
      want: { kind: 'writeStatus', status: { waiting: { reason: 'GroupFailed', since: waitSince(-60_000).since } } },
    },
    'leaves the free Lease to a release that waited longer for another cause': {
      view: { ...notBegun, ...held },
      group: { members: [inCharge(aMember({ waiting: { ...waitSince(-60_000), reason: 'GroupLocked' } }))] },
      want: { kind: 'writeStatus', status: { waiting: { message: expect.stringContaining('comes first') } } },
    },
    'says why the free Lease could not be taken, and writes it no more for a while': {
      view: { ...notBegun, status: { groupLease: NAME, waiting: waitSince(-60_000) } },
      group: { takeFailure: 'exceeded quota' },
      want: {
        kind: 'writeStatus',
        status: {
          waiting: { reason: 'GroupFailed', message: expect.stringContaining('exceeded quota'), since: waitSince(-60_000).since },
        },
      },
    },
    'says that another release has the Lease, although it could not be taken before': {
      view: { ...notBegun, ...held },
      holder: 'other',
      group: { takeFailure: 'exceeded quota' },
      want: { kind: 'writeStatus', status: { waiting: { reason: 'GroupBusy' } } },
    },
    'replaces the name of a Lease in the status that is none, while it waits': {
      view: { ...notBegun, status: { groupLease: 'a%b', waiting: waitSince(-60_000) } },
      want: { kind: 'writeStatus', status: { groupLease: NAME } },
    },
    'replaces it while the record is open': {
      view: { status: { groupLease: 'a%b' } },
      holder: 'own',
      want: { kind: 'writeStatus', status: { groupLease: NAME } },
    },
    'removes it where the Lease cannot be read': {
      view: { ...notBegun, status: { groupLease: 'a%b' } },
      group: { refused: { reason: 'GroupFailed', message: 'x' } },
      want: { kind: 'writeStatus', status: { groupLease: null, waiting: { reason: 'GroupFailed' } } },
    },
    'stops before it replaces it': {
      view: { annotations: { 'tranche.dev/paused': 'true' }, tranche: { ...inGroup, paused: true }, status: { groupLease: 'a%b' } },
      holder: 'own',
      want: { kind: 'writeRecord', why: 'stop' },
    },
    'holds, and says why, where the installation allows no groups': {
      view: { ...notBegun },
      group: { refused: { reason: 'GroupNotAllowed', message: 'the installation does not allow groups' } },
      want: {
        kind: 'writeStatus',
        status: { waiting: { reason: 'GroupNotAllowed', message: expect.stringContaining('does not allow groups') } },
      },
    },
  }

  it.each(Object.entries(cases))('%s', (_name, { view, holder = 'none', group, want }) => {
    expect(planBatchRelease(inGroupView(view, holder, group))).toMatchObject(want)
  })

  it('keeps the group after a failure, so that a rollback does not wait', () => {
    const failure = {
      reason: 'ReleaseFailed',
      message: 'it crashes',
      at: '2023-11-14T00:00:00Z',
      nodes: ['a'],
      count: 1,
      stops: true,
      release: 'r1',
    }
    const record = { ...stopped, holds: [{ reason: 'ReleaseFailed', id: 'r1' }] }
    const fields = { record, annotations: { 'tranche.dev/paused': 'true' }, status: { groupLease: NAME, failure } }
    const plan = planBatchRelease(inGroupView(fields, 'own'))
    expect(plan).toMatchObject({ kind: 'writeStatus', status: { waiting: { reason: 'ReleaseFailed' } } })
  })

  it('gives the group up after a failure on a node that the release had left, because nothing is rolled back then', () => {
    const seen = { reason: 'ReleaseFailed', message: 'it crashes', nodes: ['a'], count: 1, stops: true }
    const failure = { ...seen, at: '2023-11-14T00:00:00Z', release: 'r1/left' }
    const record = { ...stopped, holds: [{ reason: 'ReleaseFailed', id: 'r1/left' }] }
    const annotations = { 'tranche.dev/paused': 'true' }
    const fields = { record, annotations, tranche: { left: { nodes: ['a'] } }, status: { groupLease: NAME, failure } }
    expect(planBatchRelease(inGroupView(fields, 'own'))).toMatchObject({ kind: 'freeGroup' })
  })

  it.each([
    ['gives it up although the node has no available pod', ['a'], { stops: true, release: 'r1/left' }, frees],
    ['keeps it while another node left is in flight', ['a', 'b'], { stops: true, release: 'r1/left' }, { kind: 'writeStatus' }],
    ['keeps it where only a failure of the release itself is known', ['a'], { stops: true, release: 'r1' }, { kind: 'writeStatus' }],
    ['keeps it where the failure stops nothing', ['a'], { stops: false, release: 'r1/left' }, { kind: 'writeStatus' }],
  ])('that has failed on a node that it had left: %s', (_name, inFlight, known, want) => {
    const failure = { reason: 'ReleaseFailed', message: 'it crashes', nodes: ['a'], count: 1, at: '2023-11-14T00:00:00Z', ...known }
    const record = { ...stopped, permits: inFlight.map(permitFor) }
    const fields: ViewFields = {
      nodes: 'a:- b:- c:new d:new e:new',
      ...{ record, annotations: { 'tranche.dev/paused': 'true' }, status: { groupLease: NAME, failure } },
      tranche: { left: { nodes: ['a', 'b'] }, hold: { reason: 'Held', id: '1', message: 'x' } },
    }
    expect(planBatchRelease(inGroupView({ ...fields, record: { ...record, holds: [{ reason: 'Held', id: '1' }] } }, 'own'))).toMatchObject(
      want,
    )
  })

  it('plans nothing and reads no Lease for a release without a group', () => {
    const view = onceSaid(aView({ tranche: {} }))
    expect(planBatchRelease(view)).toEqual(planBatchRelease({ ...view, group: undefined }))
  })

  it('removes the name of a Lease from the status of a release without a group', () => {
    const view = aView({ status: { groupLease: 'a%b' } })
    expect(planBatchRelease(view)).toMatchObject({ kind: 'writeStatus', status: { groupLease: null } })
  })

  it('opens nothing for a release that is over and settles, where another one has the group', () => {
    const settling: ViewFields = {
      nodes: 'a:new b:new c:new d:new e:new',
      spec: { batchPartition: undefined },
      record: { ...stopped, partition: 0, size: 5 },
      annotations: { 'rollouts.kruise.io/daemonset-partition': '0' },
      status: {
        phase: 'Finalizing',
        canaryStatus: { batchState: 'Ready', currentBatch: 1, batchReadyTime: new Date(NOW_MS - 1_000).toISOString() },
      },
    }
    expect(planBatchRelease(inGroupView(settling, 'own'))).toMatchObject(open)
    expect(planBatchRelease(inGroupView(settling, 'other'))).not.toMatchObject(open)
  })

  it('takes the group for a release that was paused before its last batch was ready, although nothing is left to delete', () => {
    const paused: ViewFields = {
      nodes: 'a:new b:new c:new d:new e:new',
      spec: { batchPartition: undefined },
      record: { ...stopped, partition: 0, size: 5, holds: [{ reason: 'Paused', id: '3' }] },
      annotations: { 'rollouts.kruise.io/daemonset-partition': '0', 'tranche.dev/paused': 'true' },
      status: { groupLease: NAME, phase: 'Finalizing', canaryStatus: { batchState: 'Upgrading', currentBatch: 1 } },
    }
    expect(planBatchRelease(inGroupView(paused, 'none'))).toEqual({ kind: 'takeGroup', lease: NAME })
  })

  it('opens nothing where the group was not read', () => {
    const view = aView({ record: stopped, tranche: inGroup })
    expect(planBatchRelease(view)).not.toMatchObject(open)
  })

  it('closes the record when only nodes are left that cannot be updated, frees the Lease, and keeps the batch ready', () => {
    const left: ViewFields = {
      nodes: 'a:new b:new c:new d:new e:old?',
      spec: { batchPartition: undefined },
      record: { partition: 0, size: 5 },
      annotations: { 'rollouts.kruise.io/daemonset-partition': '0', 'rollouts.kruise.io/in-progressing': null },
      status: {
        groupLease: NAME,
        phase: 'Finalizing',
        waiting: { reason: 'NodesLeft', message: 'x', nodes: ['e'], since: new Date(NOW_MS).toISOString() },
        canaryStatus: { batchState: 'Ready', currentBatch: 1, batchReadyTime: new Date(NOW_MS - 60_000).toISOString() },
      },
    }
    expect(planBatchRelease(inGroupView(left, 'own'))).toMatchObject({
      kind: 'writeRecord',
      why: 'stop',
      record: { state: 'voiding', holds: [{ reason: 'NodesLeft' }] },
    })
    const closed = inGroupView({ ...left, record: { ...left.record, ...stopped } }, 'own')
    expect(planBatchRelease(closed)).toMatchObject(frees)
    const free = inGroupView(
      { ...left, record: { ...left.record, ...stopped }, status: { ...left.status, groupLease: undefined } },
      'other',
    )
    expect(planBatchRelease(free)).not.toMatchObject({ status: { canaryStatus: { batchState: 'Upgrading' } } })
  })
})

function inGroupView(fields: ViewFields, holder: Holder, group: Partial<GroupView> = {}): ReleaseView {
  const view = aView({ ...fields, tranche: { ...inGroup, ...fields.tranche } })
  const other = aMember({})
  const holderIdentity = {
    own: holderText(view.release),
    leaving: holderText(view.release),
    other: holderText(other),
    foreign: 'node-drainer',
    none: '',
  }[holder]
  const annotations = holder === 'leaving' ? { [LEAVING_ANNOTATION]: 'true' } : {}
  const lease: Lease = { metadata: { name: NAME, uid: 'lease', resourceVersion: '7', annotations }, spec: { holderIdentity } }
  const isOwn = holder === 'own' || holder === 'leaving'
  const wanted = view.release.spec.tranche?.downtime === undefined ? null : NAME
  const read = { wanted, refused: null, name: NAME, members: [], freeForMs: null }
  const named = isOwn ? { release: view.release, wanted } : holder === 'other' ? { release: other, wanted: NAME } : undefined
  return { ...view, group: { ...read, lease: holder === 'none' ? null : lease, holder: named, ...group } }
}

/** Another release of the group. */
function aMember(status: object): BatchRelease {
  const { release } = aView({ record: null, tranche: inGroup })
  return { ...release, metadata: { ...release.metadata, name: 'other', uid: 'other' }, status: status as BatchRelease['status'] }
}

/** Another release of the group, which is over, and lost a machine in the update of its node. */
function overMember(status: object): BatchRelease {
  const { release } = aView({ ...overFields, tranche: inGroup })
  const metadata = { ...release.metadata, name: 'other', uid: 'other' }
  return { ...release, metadata, status: { ...release.status, ...status } }
}

function inCharge(release: BatchRelease): GroupView['members'][number] {
  return { release, isInCharge: true }
}

function waitSince(fromNowMs: number) {
  return { reason: 'GroupBusy', message: 'x', nodes: [], since: new Date(NOW_MS + fromNowMs).toISOString() }
}
