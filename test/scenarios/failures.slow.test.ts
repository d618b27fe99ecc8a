import type { BatchRelease, FailureAction, WatchedNode } from '@tranche/api-schema'
import { resourcePaths } from '@tranche/kube-client'
import { afterEach, describe, expect, it } from 'vitest'
import { deletions, expectKept } from './expect-kept.ts'
import { type FailureKind, failureKinds } from './failures.ts'
import { breakPod } from './hands.ts'
import { condition, nodesOn, untilNodesOn, untilPausedAt, untilReleased } from './looks.ts'
import { imageOf, stageKey } from './stage-objects.ts'
import { setStage, type Stage } from './stage.ts'

let stage: Stage
afterEach(() => stage.end())

describe.each(failureKinds)('$name', (kind) => {
  it('stops the release, which reports the cause and the nodes, and waits for a person (Pause, G9)', async () => {
    const heal = await fail(kind, 'Pause')
    const deleted = await untilReported(kind)
    const hit = await nodesHit()
    expect(hit.length).toBeGreaterThan(0)
    expect(hit.length).toBeLessThanOrEqual(kind.most)
    const { message = '' } = (await condition(stage, 'Stalled')) ?? {}
    expect(message).toMatch(/^revision \w+ failed: \d+ of 10 nodes failed \(tolerated: 0\): node-\d\d\d(, node-\d\d\d)*: /)
    expect(message).toMatch(kind.says)
    expect(message).toContain('tranche retry')
    const { failure: reported, phase } = (await stage.rollout()).status ?? {}
    expect([phase, reported?.action, reported?.stops, reported?.nodes.length]).toEqual(['Progressing', 'Pause', true, reported?.count])
    await stage.pass(60_000)
    expect([deletions(stage), await nodesHit()]).toEqual([deleted, hit])
    await heal()
    expectKept(stage)
  })

  it('is rolled back within the budget, and its revision is blocked (Rollback, G12)', async () => {
    const heal = await fail(kind, 'Rollback')
    await stage.until(
      'it is rolled back',
      async () => (await stage.rollout()).status?.heldRevisions !== undefined,
      kind.withinSeconds * 1000,
    )
    const hit = await nodesHit()
    expect(hit.length).toBeLessThanOrEqual(kind.most)
    await heal()
    await untilReleased(stage, 'v1')
    const { heldRevisions = [], message } = (await stage.rollout()).status ?? {}
    expect(heldRevisions).toMatchObject([{ reason: 'Failed', reverted: true }])
    expect(deletions(stage)).toBeLessThanOrEqual(2 * kind.most)
    expect(message).toBeDefined()
    expectKept(stage)
  })

  it('is reported, and the release continues as far as the budget allows (Continue)', async () => {
    const heal = await fail(kind, 'Continue')
    // A failure that does not stop the release is reported with a delay.
    const withinMs = (kind.withinSeconds + 60) * 1000
    await stage.until('it is reported', async () => kind.says.test((await stage.rollout()).status?.failure?.message ?? ''), withinMs)
    const { failure: reported } = (await stage.rollout()).status ?? {}
    expect([reported?.action, reported?.stops]).toEqual(['Continue', false])
    await stage.pass(120_000)
    expect((await condition(stage, 'Stalled'))?.reason).not.toBe('ReleaseFailed')
    expect((await nodesHit()).length).toBe(kind.reaches ?? 2)
    await heal()
    expectKept(stage)
  })
})

const half = [{ replicas: '50%', pause: {} }, { replicas: '100%' }]
const isReported = async (): Promise<boolean> => (await condition(stage, 'Stalled'))?.reason === 'ReleaseFailed'
const countOf = async (): Promise<number | undefined> => (await stage.rollout()).status?.failure?.count

describe('a failure counts', () => {
  it('in a pause, and an approval does not override it (G9)', async () => {
    stage = await setStage({ nodes: 10, maxUnavailable: 2, steps: half, annotations: { 'sim.tranche.dev/late-ms': '60000' } })
    await stage.setImage('bad-late')
    await untilPausedAt(stage, 1)
    await stage.until('it is reported', isReported)
    const deleted = deletions(stage)
    await stage.approve()
    await stage.pass(60_000)
    expect([await isReported(), deletions(stage), (await nodesOn(stage, 'bad-late')).length]).toEqual([true, deleted, 5])
    expectKept(stage)
  })

  it('in the soak of a step, on nodes of earlier batches too', async () => {
    const steps = ['20%', '50%', '100%'].map((replicas) => ({ replicas, pause: { duration: 0 } }))
    stage = await setStage({
      nodes: 10,
      maxUnavailable: 2,
      steps,
      policy: { soak: { step: '20s' } },
      annotations: { 'sim.tranche.dev/late-ms': '40000' },
    })
    await stage.setImage('bad-late')
    await stage.until('it is reported', isReported)
    const { canaryStatus, failure } = (await stage.rollout()).status ?? {}
    expect(canaryStatus).toMatchObject({ currentStepIndex: 2, currentStepState: 'StepMetricsAnalysis' })
    expect(failure?.count).toBeGreaterThan(0)
    const deleted = deletions(stage)
    await stage.pass(60_000)
    expect([deletions(stage), (await nodesOn(stage, 'bad-late')).length]).toEqual([deleted, 5])
    expectKept(stage)
  })

  it('after the last batch, while the release settles', async () => {
    stage = await setStage({ nodes: 4, maxUnavailable: 4, steps: [{ replicas: '100%' }], policy: { soak: { final: '30s' } } })
    await stage.setImage('bad-flap')
    await stage.until('it is reported', isReported)
    expect((await stage.rollout()).status?.phase).toBe('Progressing')
    expectKept(stage)
  })

  it('not if the node was broken before', async () => {
    stage = await setStage({ nodes: 6, maxUnavailable: 2, steps: half, annotations: { 'sim.tranche.dev/bad-nodes': 'node-001' } })
    const [old] = (await stage.pods()).filter(({ spec }) => spec?.nodeName === 'node-001')
    await breakPod(stage, old!)
    await stage.setImage('bad-ready')
    await stage.pass(700_000)
    expect(await isReported()).toBe(false)
    expect(await nodesOn(stage, 'bad-ready')).toContain('node-001')
    expectKept(stage)
  })

  it('not if the broken nodes already used up the budget: the status says so, and changes only when a container restarts', async () => {
    stage = await setStage({ nodes: 6, maxUnavailable: 2, steps: half })
    const onNodes = (await stage.pods()).toSorted((a, b) => (a.spec?.nodeName ?? '').localeCompare(b.spec?.nodeName ?? ''))
    for (const pod of onNodes.slice(0, 2)) await breakPod(stage, pod)
    const versions = new Set<string>()
    const remembered = async (): Promise<readonly WatchedNode[]> => {
      const { status, metadata } = await stage.client.get<BatchRelease>(resourcePaths.batchReleases, stageKey)
      versions.add(metadata.resourceVersion ?? '')
      return status?.watchedNodes ?? []
    }
    await stage.setImage('bad-crash')
    await untilNodesOn(stage, 'bad-crash', 2)
    await stage.pass(30_000)
    versions.clear()
    for (let seconds = 0; seconds < 240; seconds += 5) {
      await stage.pass(5_000)
      for (const { restarts = 0, seen = 0, ignoredRestarts = 0 } of await remembered())
        expect([restarts, seen]).toEqual([0, ignoredRestarts])
    }
    const restarts = (await remembered()).reduce((sum, { seen = 0 }) => sum + seen, 0)
    expect(versions.size).toBeLessThanOrEqual(restarts + 1)
    expect(await isReported()).toBe(false)
    expect((await stage.rollout()).status?.message).toContain(
      'node-001, node-002 had no available pod before the update either, so the version has not failed',
    )
    expectKept(stage)
  })
})

it.each([0, 10_000])(
  'a version that leaves nodes NotReady is fixed by another version, although kubelets report it %i ms later (G5, G6)',
  async (ms) => {
    stage = await setStage({
      nodes: 10,
      maxUnavailable: 2,
      steps: [{ replicas: '100%' }],
      annotations: { 'sim.tranche.dev/flap-ms': '3000', 'sim.tranche.dev/node-heal-ms': String(ms) },
    })
    await stage.setImage('bad-node')
    await stage.until('it is reported', isReported)
    await stage.pass(30_000)
    const broken = await nodesOn(stage, 'bad-node')
    expect(broken.length).toBeGreaterThan(2)
    await stage.setImage('v3')
    await stage.until('all of them are fixed', async () => (await nodesOn(stage, 'bad-node')).length === 0)
    expect((await nodesOn(stage, 'v3')).filter((node) => !broken.includes(node)).length).toBeLessThanOrEqual(2)
    expect(await isReported()).toBe(false)
    await untilReleased(stage, 'v3')
    expectKept(stage)
  },
)

describe.each([
  { what: 'nodes', failure: { maxFailedNodes: 1 }, tolerated: 1 },
  { what: 'percent of the nodes', failure: { maxFailedNodes: '20%' }, tolerated: 2 },
  { what: 'nodes of a batch', failure: { maxFailedNodes: 5, maxFailedNodesPerBatch: 1 }, tolerated: 5 },
  { what: 'percent of a batch', failure: { maxFailedNodes: '50%', maxFailedNodesPerBatch: '40%' }, tolerated: 5 },
])('a limit in $what', ({ failure, tolerated }) => {
  it('tolerates that many failed nodes, and stops at the next', async () => {
    stage = await setStage({ nodes: 10, maxUnavailable: 3, steps: half, policy: { failure } })
    await stage.setImage('bad-flap')
    await stage.until('it is reported', isReported)
    const most = failure.maxFailedNodesPerBatch === undefined ? tolerated : failure.maxFailedNodesPerBatch === 1 ? 1 : 2
    expect(await countOf()).toBeGreaterThan(most)
    const { message = '' } = (await condition(stage, 'Stalled')) ?? {}
    expect(message).toContain(`(tolerated: ${tolerated}`)
    const deleted = deletions(stage)
    await stage.pass(30_000)
    expect(deletions(stage)).toBe(deleted)
    expectKept(stage)
  })
})

/** Releases the failing version. @returns function that removes the causes outside of the template */
async function fail(kind: FailureKind, action: FailureAction): Promise<() => Promise<void>> {
  const { tag = 'v2', settings = {}, deadline = 20, resources, initContainers, tolerations } = kind
  const failure = { action, progressDeadlineSeconds: deadline, schedulingDeadlineSeconds: 10 }
  stage = await setStage({
    nodes: 10,
    maxUnavailable: 2,
    steps: [{ replicas: '100%' }],
    policy: { failure },
    ...(tolerations !== undefined && { tolerations }),
  })
  const heal = await kind.before?.(stage)
  const annotations = Object.fromEntries(Object.entries(settings).map(([name, value]) => [`sim.tranche.dev/${name}`, value]))
  const containers = [{ name: 'agent', image: imageOf(tag), resources }]
  const body = { spec: { template: { metadata: { annotations }, spec: { containers, initContainers } } } }
  await stage.client.patch(resourcePaths.daemonSets, stageKey, { type: 'strategic', body })
  const alsoHeal = await kind.after?.(stage)
  return async () => {
    await heal?.()
    await alsoHeal?.()
  }
}

/** Waits until the Rollout reports the failure, at most as long as this kind may take. @returns number of Tranche's deletions by then */
async function untilReported({ withinSeconds }: FailureKind): Promise<number> {
  const isReported = async (): Promise<boolean> => (await condition(stage, 'Stalled'))?.reason === 'ReleaseFailed'
  await stage.until('it is reported', isReported, withinSeconds * 1000)
  return deletions(stage)
}

/** Nodes on which the old version was replaced, whether or not they have a new pod. */
async function nodesHit(): Promise<readonly string[]> {
  const untouched = new Set(await nodesOn(stage, 'v1'))
  const all = Array.from({ length: 10 }, (_, at) => `node-${String(at + 1).padStart(3, '0')}`)
  return all.filter((node) => !untouched.has(node))
}
