import { rolloutAnnotations } from '@tranche/kube-types'
import { afterEach, describe, expect, it } from 'vitest'
import { deletions, expectKept } from '../expect-kept.ts'
import { condition, nodesOn, untilNodesOn, untilPausedAt, untilReleased } from '../looks.ts'
import { measuredPods } from '../openkruise-faults/measured.ts'
import { setStage, type Stage, type StageOptions } from '../stage.ts'

let stage: Stage
afterEach(() => stage.end())

/** Two deliveries of a watch, which take 20 ms each: no timer is part of an acknowledgement. */
const ACKNOWLEDGED_MS = 40

const toAll = [{ replicas: '50%', pause: { duration: 0 } }, { replicas: '100%' }]

async function setReleasingStage(options: StageOptions = {}): Promise<void> {
  stage = await setStage({ nodes: 20, maxUnavailable: 4, steps: toAll, annotations: measuredPods, ...options })
  await stage.setImage('v2')
}

describe('a status whose counts are written seldom', () => {
  it('shows each updated and available node within five seconds', async () => {
    await setReleasingStage()
    let [shown, shownAtMs] = [await countsShown(), stage.clock.nowMs()]
    let longestMs = 0
    while ((await nodesOn(stage, 'v2')).length < 20) {
      await stage.pass(100)
      const [now, counted] = [await countsShown(), await countsNow()]
      if (now !== shown || now === counted) shownAtMs = stage.clock.nowMs()
      shown = now
      longestMs = Math.max(longestMs, stage.clock.nowMs() - shownAtMs)
    }
    expect(longestMs).toBeGreaterThan(1_000)
    expect(longestMs).toBeLessThanOrEqual(5_200)
    await untilReleased(stage, 'v2')
    expectKept(stage)
  })

  it.each([
    ['while pods start', () => untilNodesOn(stage, 'v2', 3)],
    ['in the last batch', () => untilNodesOn(stage, 'v2', 15)],
    ['right after a step begins', () => stage.until('step 2 begins', async () => (await stepNow()) === 2)],
    ['as soon as a batch is ready', () => stage.until('the batch is ready', isBatchReady)],
  ])('acknowledges a pause %s within 40 ms', async (_when, until) => {
    await setReleasingStage()
    await until()
    await stage.patchRollout({ spec: { strategy: { paused: true } } })
    expect(await msUntil(isPaused)).toBeLessThanOrEqual(ACKNOWLEDGED_MS)
    await stage.patchRollout({ spec: { strategy: { paused: false } } })
    await untilReleased(stage, 'v2')
    expectKept(stage)
  })

  it('acknowledges an approval within 40 ms, and deletes a pod of the next step within 100 ms', async () => {
    await setReleasingStage({ steps: [{ replicas: '50%', pause: {} }, { replicas: '100%' }] })
    await untilPausedAt(stage, 1)
    const before = deletions(stage)
    await stage.approve()
    expect(await msUntil(async () => (await stepNow()) === 2)).toBeLessThanOrEqual(ACKNOWLEDGED_MS)
    expect(await msUntil(async () => deletions(stage) > before)).toBeLessThanOrEqual(100 - ACKNOWLEDGED_MS)
    await untilReleased(stage, 'v2')
    expectKept(stage)
  })

  it('answers an abort within 40 ms', async () => {
    await setReleasingStage()
    await untilNodesOn(stage, 'v2', 6)
    const abort = JSON.stringify({ id: 'a1', type: 'abort' })
    await stage.patchRollout({ metadata: { annotations: { [rolloutAnnotations.action]: abort } } })
    expect(await msUntil(async () => (await stage.rollout()).status?.lastAction?.id === 'a1')).toBeLessThanOrEqual(ACKNOWLEDGED_MS)
    await untilReleased(stage, 'v1')
    expectKept(stage)
  })
})

async function stepNow(): Promise<number | undefined> {
  return (await stage.rollout()).status?.canaryStatus?.currentStepIndex
}

async function countsShown(): Promise<string> {
  const { canaryReplicas, canaryReadyReplicas } = (await stage.rollout()).status?.canaryStatus ?? {}
  return `${canaryReplicas} ${canaryReadyReplicas}`
}

async function countsNow(): Promise<string> {
  const pods = (await stage.pods()).filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  const updated = pods.filter((pod) => JSON.stringify(pod.spec).includes(':v2"'))
  const ready = updated.filter(({ status }) => status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True'))
  return `${updated.length} ${ready.length}`
}

async function isBatchReady(): Promise<boolean> {
  return (await stage.release())?.status?.canaryStatus?.batchState === 'Ready'
}

async function isPaused(): Promise<boolean> {
  return (await condition(stage, 'Progressing'))?.reason === 'Paused'
}

/** Waits in steps of 1 ms. @returns milliseconds until then */
async function msUntil(done: () => Promise<boolean>): Promise<number> {
  const sinceMs = stage.clock.nowMs()
  while (!(await done())) await stage.pass(1)
  return Math.round(stage.clock.nowMs() - sinceMs)
}
