import { daemonSetAnnotations } from '@tranche/kube-types'
import { resourcePaths } from '@tranche/kube-client'
import { expect } from 'vitest'
import type { Story } from './failpoint-story.ts'
import { deletions } from './expect-kept.ts'
import { addAgent, GROUP, groupLeases, LEASES } from './group-stage.ts'
import { breakPod } from './hands.ts'
import { expectNoLocks, locking, makeLeaseNamespace } from './lock-stage.ts'
import { condition, nodesOn, runs, untilNodesOn, untilPausedAt, untilReleased } from './looks.ts'
import { drive, type Stage, type StageOptions } from './stage.ts'
import { contents, copies, untilContents, write } from './pinned-stage.ts'
import { rolloutManifest, stageKey } from './stage-objects.ts'

/** Time limit of a step in a story in which calls hang one after the other, in milliseconds. */
const LONG_MS = 3_600_000
const steps = [{ replicas: '50%', pause: {} }, { replicas: '100%' }]
/** No host is reachable, so every call is retried in vain. */
const policy: StageOptions['policy'] = {
  nodes: { room: 'Check' },
  soak: { final: '5s' },
  notify: [{ name: 'ops', webhook: { url: 'https://hooks.example.com/' } }],
  analysis: [
    { name: 'errors', background: true, dryRun: true, http: { url: 'https://metrics.example.com/' }, successCondition: 'status == 200' },
  ],
}
const shortFirst = [{ replicas: 2, pause: {} }, { replicas: '100%' }]

/** A release that is paused in mid-batch, resumed, superseded, approved, and completed; then its Rollout is deleted. */
export const changeOfMind: Story = {
  setting: { nodes: 6, maxUnavailable: 2, steps, policy },
  async play(stage) {
    await stage.setImage('v2')
    await untilNodesOn(stage, 'v2', 1, LONG_MS)
    await pause(stage)
    await stage.patchRollout({ spec: { strategy: { paused: false } } })
    await untilPausedAt(stage, 1, LONG_MS)
    await stage.setImage('v3')
    await untilNodesOn(stage, 'v3', 3, LONG_MS)
    await untilPausedAt(stage, 1, LONG_MS)
    await stage.approve()
    await untilReleased(stage, 'v3', LONG_MS)
    await deleteRollout(stage)
  },
}

/**
 * A version that never becomes available is rolled back in mid-release. The next version is paused and resumed, and rolled back once it is
 * on every node.
 */
export const rollback: Story = {
  setting: { nodes: 4, maxUnavailable: 1, minReadySeconds: 2, steps },
  async play(stage) {
    await stage.setImage('bad-pull')
    await untilNodesOn(stage, 'bad-pull', 1, LONG_MS)
    await stage.setImage('v1')
    await untilReleased(stage, 'v1', LONG_MS)
    await stage.setImage('v2')
    await untilPausedAt(stage, 1, LONG_MS)
    await stage.approve()
    await untilNodesOn(stage, 'v2', 3, LONG_MS)
    await pause(stage)
    await stage.patchRollout({ spec: { strategy: { paused: false } } })
    await untilReleased(stage, 'v2', LONG_MS)
    await stage.setImage('v1')
    await untilPausedAt(stage, 1, LONG_MS)
    await stage.approve()
    await untilReleased(stage, 'v1', LONG_MS)
  },
}

/** The Rollout is deleted in mid-batch, which freezes the half-released DaemonSet. A new Rollout continues from there. */
export const deletion: Story = {
  setting: { nodes: 6, maxUnavailable: 1, steps: shortFirst },
  async play(stage) {
    await stage.setImage('v2')
    await untilNodesOn(stage, 'v2', 1, LONG_MS)
    await deleteRollout(stage)
    expect((await stage.daemonSet()).metadata.annotations).toHaveProperty([daemonSetAnnotations.frozen])
    const deleted = deletions(stage)
    await stage.pass(10_000)
    expect(deletions(stage), 'deletions after the Rollout is gone (G9)').toBe(deleted)
    await stage.client.create(resourcePaths.rollouts, rolloutManifest({ steps: shortFirst }) as never)
    await untilPausedAt(stage, 1, LONG_MS)
    await stage.approve()
    await untilReleased(stage, 'v2', LONG_MS)
  },
}

/**
 * An old pod breaks whose permit is behind those of healthy pods: with a budget of one, the head must be withdrawn. Then a node is removed
 * while its pod is in flight.
 */
export const withdrawal: Story = {
  setting: { nodes: 8, maxUnavailable: 1, steps: [{ replicas: '100%' }] },
  async play(stage) {
    await stage.setImage('v2')
    for (let broken = 0; broken < 3; broken++) {
      await stage.until(
        'there are two permits',
        async () => (await standing(stage)).length > 1 || (await nodesOn(stage, 'v2')).length === 8,
        LONG_MS,
      )
      const last = (await standing(stage)).at(-1)
      const pod = (await stage.pods()).find(({ metadata }) => metadata.uid === last)
      if (pod !== undefined) await breakPod(stage, pod)
      await stage.pass(500)
    }
    await removeNodeInFlight(stage)
    await untilReleased(stage, 'v2', LONG_MS)
  },
}

const grouped = {
  ...{ nodes: 4, maxUnavailable: 1, steps: [{ replicas: '100%' }], policy: { downtime: { group: GROUP } } },
  groups: { namespace: LEASES, shared: [] },
} as const

/** Two DaemonSets of one group: the first is paused in mid-batch, so that the second begins, and continues after it. */
export const twoOfAGroup: Story = {
  setting: grouped,
  async play(stage) {
    const other = await addAgent(stage, 'log-agent', grouped)
    await stage.setImage('v2')
    await untilNodesOn(stage, 'v2', 1, LONG_MS)
    await other.setImage('v2')
    await other.untilWaiting('GroupBusy')
    await pause(stage)
    await stage.until('the other one begins', async () => (await other.nodesOn('v1')).length < 4, LONG_MS)
    await stage.patchRollout({ spec: { strategy: { paused: false } } })
    await other.untilReleased('v2', LONG_MS)
    await untilReleased(stage, 'v2', LONG_MS)
    await stage.until('no Lease of a group is left', async () => (await groupLeases(stage)).length === 0, LONG_MS)
  },
}

/** A client removes the permit record twice in mid-release, and claims that the BatchRelease follows a later Rollout; the controller repairs both. */
export const lostRecord: Story = {
  setting: { nodes: 4, maxUnavailable: 1, steps },
  async play(stage) {
    await stage.setImage('v2')
    for (let nodes = 1; nodes <= 2; nodes++) {
      await untilNodesOn(stage, 'v2', nodes, LONG_MS)
      const body = { status: { flight: null } }
      await stage.client.patch(resourcePaths.batchReleases, stageKey, { type: 'merge', body }, { subresource: 'status' })
      await stage.until('the record is restored', async () => (await stage.release())?.status?.flight !== undefined, LONG_MS)
    }
    await untilPausedAt(stage, 1, LONG_MS)
    const claim = { spec: { tranche: { rolloutGeneration: 999_999 } } }
    await stage.client.patch(resourcePaths.batchReleases, stageKey, { type: 'merge', body: claim })
    await stage.approve()
    await untilReleased(stage, 'v2', LONG_MS)
  },
}

/** Images are pulled before pods are deleted, on few nodes at a time; a pause and a newer version come in the middle. */
export const pullsFirst: Story = {
  setting: { nodes: 4, maxUnavailable: 1, steps: [{ replicas: '100%' }], policy: { prePull: { parallel: 2 } } },
  async play(stage) {
    await stage.setImage('v2-pull10s')
    await untilNodesOn(stage, 'v2-pull10s', 1, LONG_MS)
    await pause(stage)
    await stage.patchRollout({ spec: { strategy: { paused: false } } })
    await untilNodesOn(stage, 'v2-pull10s', 2, LONG_MS)
    await stage.setImage('v3-pull10s')
    await untilReleased(stage, 'v3-pull10s', LONG_MS)
    await stage.until('no helper pod is left', async () => (await stage.helperPods()).length === 0, LONG_MS)
  },
}

/** The Leases of nodes are held while new pods take so long that they are renewed. */
export const locksNodes: Story = {
  setting: { nodes: 2, maxUnavailable: 1, steps: [{ replicas: '100%' }], policy: locking },
  async play(stage) {
    await makeLeaseNamespace(stage)
    await stage.setImage('v2-pull360s')
    await untilReleased(stage, 'v2-pull360s', LONG_MS)
    await expectNoLocks(stage)
  },
}

/** Config changes, again in mid-release, and is rolled back. The history is then cut, so that copies are deleted. */
export const configChanges: Story = {
  setting: { nodes: 4, maxUnavailable: 1, steps, policy: { config: 'Pin' }, pinConfig: true, configMaps: ['agent'] },
  async play(stage) {
    const all = (content: string): readonly string[] => Array<string>(4).fill(content)
    await write(stage, '1')
    await untilPausedAt(stage, 1, LONG_MS)
    await stage.approve()
    await untilContents(stage, all('1'), LONG_MS)
    await write(stage, '2')
    await stage.until('a pod reads the change', async () => (await contents(stage)).includes('2'), LONG_MS)
    await write(stage, '3')
    await untilPausedAt(stage, 1, LONG_MS)
    await stage.until('two pods read it', async () => (await contents(stage)).filter((one) => one === '3').length === 2, LONG_MS)
    const undo = { metadata: { annotations: { 'tranche.dev/action': JSON.stringify({ id: 'undo', type: 'abort' }) } } }
    await stage.patchRollout(undo)
    await untilContents(stage, all('1'), LONG_MS)
    await stage.patchDaemonSet({ spec: { revisionHistoryLimit: 0 } })
    // The copy of the content that was offered last stays.
    await stage.until('other copies are gone', async () => (await copies(stage)).length === 2, LONG_MS)
    expect((await copies(stage)).map(({ data }) => data?.['level']).toSorted()).toEqual(['1', '3'])
    expect(await contents(stage)).toEqual(all('1'))
  },
}

async function removeNodeInFlight(stage: Stage): Promise<void> {
  const inFlight = async (): Promise<string | undefined> => (await stage.release())?.status?.flight?.permits[0]?.node
  const isOver = async (): Promise<boolean> => (await nodesOn(stage, 'v2')).length === 8
  await stage.until('a node is in flight', async () => (await inFlight()) !== undefined || (await isOver()), LONG_MS)
  const node = await inFlight()
  if (node !== undefined) await drive(stage.clock, stage.simulator.nodes.removeNode(node))
}

/** Uids of the old pods that have a permit and are not terminating. */
async function standing(stage: Stage): Promise<readonly string[]> {
  const permits = (await stage.release())?.status?.flight?.permits ?? []
  const old = (await stage.pods()).filter((pod) => runs(pod, 'v1') && pod.metadata.deletionTimestamp === undefined)
  return permits.map(({ podUid }) => podUid).filter((uid) => old.some(({ metadata }) => metadata.uid === uid))
}

async function pause(stage: Stage): Promise<void> {
  await stage.patchRollout({ spec: { strategy: { paused: true } } })
  await stage.until('the pause is acknowledged', async () => (await condition(stage, 'Progressing'))?.reason === 'Paused', LONG_MS)
  const deleted = deletions(stage)
  await stage.pass(10_000)
  expect(deletions(stage), 'deletions in a pause (G9)').toBe(deleted)
}

async function deleteRollout(stage: Stage): Promise<void> {
  await stage.client.delete(resourcePaths.rollouts, stageKey)
  await stage.until(
    'the Rollout is gone',
    async () => {
      const { items } = await stage.client.list(resourcePaths.rollouts, { namespace: stageKey.namespace })
      return items.length === 0
    },
    LONG_MS,
  )
}
