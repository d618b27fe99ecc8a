import { afterEach, describe, expect, it } from 'vitest'
import { deletions, expectKept } from './expect-kept.ts'
import { breakPod, deletePod, setFinalizers } from './hands.ts'
import { condition, nodesOn, runs, untilNodesOn, untilPausedAt, untilReleased } from './looks.ts'
import { setStage, type Stage } from './stage.ts'

let stage: Stage
afterEach(() => stage.end())

describe.each([
  { tag: 'bad-pull', reason: 'ErrImagePull' },
  { tag: 'bad-crash', reason: 'CrashLoopBackOff' },
  { tag: 'bad-ready', reason: 'ProgressDeadlineExceeded' },
  { tag: 'bad-config', reason: 'CreateContainerConfigError' },
])('an image that ends in $reason', ({ tag, reason }) => {
  it('stops the release, names nodes and reason, and is replaced by a good image (G2)', async () => {
    stage = await setStage({ nodes: 10, maxUnavailable: 2, steps: [{ replicas: '50%', pause: {} }, { replicas: '100%' }] })
    await stage.setImage(tag)
    await stage.until('the reason is reported', async () => (await stage.rollout()).status?.message?.includes(reason) === true, 700_000)
    await stage.pass(600_000)
    const broken = await nodesOn(stage, tag)
    expect(broken).toHaveLength(2)
    const { message, phase } = (await stage.rollout()).status ?? {}
    expect(phase).toBe('Progressing')
    for (const node of broken) expect(message).toContain(node)
    expect(message).toContain(reason)

    await stage.setImage('v3')
    await untilPausedAt(stage, 1)
    expect(await nodesOn(stage, tag)).toEqual([])
    await stage.approve()
    await untilReleased(stage, 'v3')
    expectKept(stage)
  })
})

it('old pods that are not Ready are replaced two nodes at a time, without the budget for Ready pods (G2)', async () => {
  stage = await setStage({ nodes: 10, maxUnavailable: 2, steps: [{ replicas: '100%' }] })
  for (const pod of await stage.pods()) await breakPod(stage, pod)
  await stage.setImage('v2')
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

it('quick changes of the template do not restart a broken fleet all at once (F11, G2)', async () => {
  stage = await setStage({
    nodes: 12,
    maxUnavailable: 2,
    steps: [{ replicas: '100%' }],
    annotations: { 'sim.tranche.dev/start-ms': '5000', 'sim.tranche.dev/stop-ms': '8000' },
  })
  for (const pod of await stage.pods()) await breakPod(stage, pod)
  for (const tag of ['v2', 'v3', 'v4', 'v5']) {
    const before = deletions(stage)
    await stage.setImage(tag)
    await stage.until('something is deleted or time has passed', () => deletions(stage) > before, 60_000)
  }
  await untilReleased(stage, 'v5')
  expectKept(stage)
})

it('an old pod that turns unready behind the head does not block the release (F7, G6)', async () => {
  stage = await setStage({ nodes: 10, maxUnavailable: 1, steps: [{ replicas: '100%' }] })
  await stage.setImage('v2')
  await stage.until('there are permits', async () => ((await stage.release())?.status?.flight?.permits.length ?? 0) > 3)
  const permits = (await stage.release())?.status?.flight?.permits ?? []
  const behind = (await stage.pods()).find(({ metadata }) => metadata.uid === permits.at(-1)?.podUid)
  if (behind === undefined) throw new Error('the last permit has no pod')
  await breakPod(stage, behind)
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

it('an old pod without a permit that turns unready does not block the release (F7, G6)', async () => {
  stage = await setStage({ nodes: 20, maxUnavailable: 1, steps: [{ replicas: '100%' }] })
  await stage.setImage('v2')
  await untilNodesOn(stage, 'v2', 2)
  const permitted = new Set(((await stage.release())?.status?.flight?.permits ?? []).map(({ podUid }) => podUid))
  const free = (await stage.pods()).find((pod) => runs(pod, 'v1') && !permitted.has(pod.metadata.uid))
  if (free === undefined) throw new Error('every old pod has a permit')
  await breakPod(stage, free)
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

it('the release never exceeds its batch when another client deletes old pods in mid-step (F7, G3)', async () => {
  stage = await setStage({ nodes: 20, maxUnavailable: 2, steps: [{ replicas: '50%', pause: {} }, { replicas: '100%' }] })
  await stage.setImage('v2')
  await untilNodesOn(stage, 'v2', 2)
  for (let round = 0; round < 3; round++) {
    for (const pod of (await stage.pods()).filter((one) => runs(one, 'v1')).slice(-2)) await deletePod(stage, pod)
    await stage.pass(1_500)
  }
  await untilPausedAt(stage, 1)
  expect(await nodesOn(stage, 'v2')).toHaveLength(10)
  await stage.approve()
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

it('the controller deletes nothing in a step that leaked nodes alone have filled (G3)', async () => {
  stage = await setStage({
    nodes: 20,
    maxUnavailable: 2,
    steps: [{ replicas: '10%', pause: {} }, { replicas: '50%', pause: {} }, { replicas: '100%' }],
  })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  for (const pod of (await stage.pods()).filter((one) => runs(one, 'v1')).slice(0, 12)) await deletePod(stage, pod)
  await untilNodesOn(stage, 'v2', 14)
  const deleted = deletions(stage)
  await stage.approve()
  await untilPausedAt(stage, 2)
  expect(deletions(stage)).toBe(deleted)
  await stage.approve()
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

it('a pod stuck in termination takes one node of the budget, and the release continues with the others (F12)', async () => {
  stage = await setStage({ nodes: 10, maxUnavailable: 2, steps: [{ replicas: '100%' }] })
  const stuck = (await stage.pods())[0]!
  await setFinalizers(stage, stuck, ['example.com/stuck'])
  await stage.setImage('v2')
  await untilNodesOn(stage, 'v2', 9)
  await stage.pass(120_000)
  expect((await stage.rollout()).status?.phase).toBe('Progressing')
  expect((await stage.pods()).find(({ metadata }) => metadata.uid === stuck.metadata.uid)?.metadata.deletionTimestamp).toBeDefined()
  await setFinalizers(stage, stuck, [])
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

it('the release is held with PodsStuck and names the pods when they use up the budget (F12)', async () => {
  stage = await setStage({ nodes: 10, maxUnavailable: 2, steps: [{ replicas: '100%' }] })
  const stuck = (await stage.pods()).slice(0, 2)
  for (const pod of stuck) await setFinalizers(stage, pod, ['example.com/stuck'])
  for (const pod of (await stage.pods()).slice(0, 2)) await breakPod(stage, pod)
  await stage.setImage('v2')
  await stage.until('it is stalled', async () => (await condition(stage, 'Stalled'))?.reason === 'PodsStuck')
  const { message } = (await condition(stage, 'Stalled'))!
  for (const pod of stuck) expect(message).toContain(pod.metadata.name)
  for (const pod of stuck) expect(message).toContain(pod.spec?.nodeName)
  expect(message).toContain('example.com/stuck')
  for (const pod of stuck) await setFinalizers(stage, pod, [])
  await untilReleased(stage, 'v2')
  expectKept(stage)
})
