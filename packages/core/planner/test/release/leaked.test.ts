import { toFleetView } from '@tranche/fleet'
import { LEAKED_LABEL } from '@tranche/kube-types'
import { controlInfo, planBatchRelease, type ReleaseView } from '@tranche/planner'
import { describe, expect, it } from 'vitest'
import { aFleetPod, aRevision, aView, NOW_MS, onceSaid, permitFor, type ViewFields } from '../../../../../test/fakes/build-view.ts'

const at = (fromNowMs: number): string => new Date(NOW_MS + fromNowMs).toISOString()

/** Node a has a pod of the revision without labels, which came up a second ago in a release that started a minute ago. */
function cameUp(fields: ViewFields & { readonly pod?: Parameters<typeof aFleetPod>[2]; readonly madeMs?: number } = {}): ReleaseView {
  const base = aView({ nodes: 'b:old c:old d:old e:old', metadata: { creationTimestamp: at(-60_000) }, ...fields })
  const pod = aFleetPod('a', 'new!', { rolloutId: undefined, createdAt: at(-1_000), ...fields.pod })
  const madeAt = (revision: ReturnType<typeof aRevision>, ms: number): ReturnType<typeof aRevision> => {
    return { ...revision, metadata: { ...revision.metadata, creationTimestamp: at(ms) } }
  }
  const revisions = [madeAt(aRevision('old', 1), -8_500_000), madeAt(aRevision('new', 2), fields.madeMs ?? -61_000)]
  return {
    ...base,
    revisions,
    fleet: toFleetView([{ name: 'a', desired: true, ready: true, answers: true, labels: {}, pods: [pod] }, ...base.fleet.nodes]),
  }
}

/** The mark that a plan puts on the pod, with the version that the pod must still have. */
function markOf(view: ReleaseView): { readonly leakedIn: string | undefined; readonly version: string | null } | null {
  const plan = planBatchRelease(view)
  if (plan.kind !== 'labelPods') return null
  const [pod] = plan.pods
  expect(plan.confirm).toBe(pod?.resourceVersion !== null)
  return { leakedIn: pod?.labels[LEAKED_LABEL], version: pod?.resourceVersion ?? null }
}

describe('a pod that came up on the revision', () => {
  const leaked = { leakedIn: 'new', version: '10' }
  const ours = { leakedIn: undefined, version: null }
  it.each([
    ['has leaked where its node has no permit', {}, leaked],
    ['is ours where its node has a permit', { record: { permits: [{ node: 'a', podUid: 'before', podResourceVersion: '9' }] } }, ours],
    ['has leaked though another node has a permit', { record: { permits: [permitFor('b')] } }, leaked],
    ['is not known to have leaked once it is Ready', { pod: { ready: true } }, ours],
    [
      'has leaked in a pause',
      {
        record: { state: 'stopped', holds: [{ reason: 'Paused', id: '4' }] },
        tranche: { paused: true },
        annotations: { 'tranche.dev/paused': 'true' },
      },
      leaked,
    ],
    ['has leaked before the release took over, of a revision made for it', { pod: { createdAt: at(-61_000) } }, leaked],
    [
      'does not belong to this release where the release returns to its revision',
      { madeMs: -9_000_000, pod: { createdAt: at(-8_000_000) } },
      ours,
    ],
    [
      'is older than the release of a revision that was stable once, however new that one is',
      { tranche: { formerRevisions: ['new'] }, pod: { createdAt: at(-61_000) } },
      ours,
    ],
    [
      'is older than the release of the stable revision, however new that one is',
      {
        tranche: { stableRevision: 'new' },
        annotations: { 'rollouts.kruise.io/daemonset-stable-revision': 'new' },
        pod: { createdAt: at(-61_000) },
      },
      ours,
    ],
    [
      'is older than the release where nodes left have kept the BatchRelease of an earlier one',
      {
        record: { begunAt: at(-500) },
        annotations: { 'batchrelease.rollouts.kruise.io/control-info': controlInfo({ name: 'agent', uid: 'release', begunAt: at(-500) }) },
        tranche: { formerRevisions: ['new'] },
        pod: { createdAt: at(-2_000) },
      },
      ours,
    ],
    ['has leaked since, also of a revision that was stable once', { tranche: { formerRevisions: ['new'] } }, leaked],
    ['has leaked during a return to an older revision', { madeMs: -9_000_000 }, leaked],
  ] as const)('%s', (_name, fields, want) => {
    expect(markOf(cameUp(fields))).toEqual(want)
  })
})

describe('a pod with labels of another rollout-id (F13)', () => {
  const labelled = { rolloutId: 'before', rolloutBatchId: '3', ready: true }
  const labelsFor = (pod: Parameters<typeof aFleetPod>[2], madeMs?: number): unknown => {
    const plan = planBatchRelease(cameUp({ pod: { ...labelled, ...pod }, ...(madeMs !== undefined && { madeMs }) }))
    return plan.kind === 'labelPods' ? plan.pods.map(({ labels }) => labels) : plan.kind
  }
  const [id, batch] = ['rollouts.kruise.io/rollout-id', 'rollouts.kruise.io/rollout-batch-id']

  it('keeps its batch where it came up in this release', () => {
    expect(labelsFor({})).toEqual([{ [id]: 'new' }])
  })

  it('keeps its leaked mark of this release', () => {
    expect(labelsFor({ leakedIn: 'before' })).toEqual([{ [id]: 'new', [LEAKED_LABEL]: 'new' }])
    expect(labelsFor({ leakedIn: 'long before' })).toEqual([{ [id]: 'new' }])
  })

  it('belongs to the present batch where it is from an earlier release', () => {
    expect(labelsFor({ createdAt: at(-8_000_000), leakedIn: 'before' }, -9_000_000)).toEqual([{ [id]: 'new', [batch]: '1' }])
  })
})

describe('the status of a release whose pods have leaked', () => {
  const marked = { rolloutId: 'new', leakedIn: 'new' }

  it('counts and names their nodes', () => {
    expect(onceSaid(cameUp({ pod: marked })).release.status?.leaked).toEqual({ count: 1, nodes: ['a'] })
  })

  it('counts all and names fifty', () => {
    const names = Array.from({ length: 60 }, (_, at) => `n${10 + at}`)
    const nodes = names.map((name) => ({
      name,
      desired: true,
      ready: true,
      answers: true,
      labels: {},
      pods: [aFleetPod(name, 'new!', marked)],
    }))
    const base = cameUp({
      pod: marked,
      annotations: { 'rollouts.kruise.io/daemonset-partition': '38' },
      record: { size: 26, partition: 38 },
    })
    expect(onceSaid({ ...base, fleet: toFleetView([...nodes, ...base.fleet.nodes.slice(1)]) }).release.status?.leaked).toEqual({
      count: 60,
      nodes: names.slice(0, 50),
    })
  })

  it.each([
    ['of another revision', { ...marked, hash: 'old' }],
    ['of another release', { ...marked, leakedIn: 'before' }],
    ['that is terminating', { ...marked, terminating: true }],
  ])('ignores pods %s', (_which, pod) => {
    expect(onceSaid(cameUp({ pod })).release.status?.leaked).toBeUndefined()
  })
})
