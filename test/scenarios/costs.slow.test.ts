import { afterEach, describe, expect, it } from 'vitest'
import { unavailableSeen } from '@tranche/recording'
import { condition, untilNodesOn, untilPausedAt, untilReleased } from './looks.ts'
import { idealMakespan, slotsOf } from './makespan.ts'
import { measuredPods } from './openkruise-faults/measured.ts'
import { createRequestLog, type RequestLog } from './requests.ts'
import { setStage, type Stage } from './stage.ts'

let stage: Stage
afterEach(() => stage.end())

const NODES = 300
const sizes = [30, 150, 300]
const steps = sizes.map((replicas) => ({ replicas, pause: { duration: 0 } }))

describe.each([
  { maxUnavailable: '1%', limit: 3 },
  { maxUnavailable: '5%', limit: 15 },
  { maxUnavailable: '10%', limit: 30 },
])('a release of 300 nodes in three steps with a budget of $maxUnavailable', ({ maxUnavailable, limit }) => {
  it('costs few requests per node, and hardly more time than the budget requires (W24)', async () => {
    const log = createRequestLog()
    stage = await setStage({ nodes: NODES, maxUnavailable, steps, annotations: measuredPods, tap: log.tap })
    log.reset()
    const sinceMs = stage.clock.nowMs()
    await stage.setImage('v2')
    await untilReleased(stage, 'v2', 3_600_000)

    expect(perNode(log, 'executor-1', () => true)).toBeLessThanOrEqual(1.3)
    expect(perNode(log, 'controller-1', (what) => !what.endsWith('/status'))).toBeLessThanOrEqual(1.2)
    for (const kind of ['Rollout', 'BatchRelease']) expect(mostWrites(kind, sinceMs, 60_000)).toBeLessThanOrEqual(60)

    const slots = slotsOf(stage, sinceMs)
    expect(slots).toHaveLength(NODES)
    const makespanMs = (slots.at(-1)?.endMs ?? Number.NaN) - sinceMs
    expect(makespanMs / idealMakespan(slots, { limit, sizes })).toBeLessThanOrEqual(1.02)
    expect(unavailableSeen(stage.recording(), { namespace: 'demo', daemonSet: 'node-agent', sinceMs }).max).toBe(limit)
  })
})

describe('a release whose pods become available by minReadySeconds', () => {
  it('costs one more read per node (F6)', async () => {
    const nodes = 40
    const log = createRequestLog()
    stage = await setStage({ nodes, maxUnavailable: 4, minReadySeconds: 10, steps: [{ replicas: '100%' }], tap: log.tap })
    log.reset()
    await stage.setImage('v2')
    await untilReleased(stage, 'v2', 3_600_000)
    const ofExecutor = log.sent().filter(({ identity }) => identity === 'executor-1')
    const reads = ofExecutor.filter(({ what }) => what === 'GET /api/v1/namespaces/demo/pods/*')
    expect(reads.length).toBeGreaterThanOrEqual(nodes - 4)
    expect(reads.length).toBeLessThanOrEqual(nodes)
    expect((ofExecutor.length - reads.length) / nodes).toBeLessThanOrEqual(1.4)
  })
})

describe('ten minutes', () => {
  const lease = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/tranche-controller'
  const untilPaused = { replicas: '50%', pause: {} }
  const unpaused = { replicas: '50%', pause: { duration: 0 } }

  it.each([
    ['in the pause of a step', untilPaused, () => untilPausedAt(stage, 1)],
    ['of a pause in mid-batch', untilPaused, pauseInMidBatch],
    ['after a release', unpaused, () => untilReleased(stage, 'v2')],
  ] as const)('%s cost nothing but leases and watch renewals, with two of each program (W24)', async (_when, first, untilThen) => {
    const log = createRequestLog()
    stage = await setStage({
      nodes: 30,
      maxUnavailable: 3,
      steps: [first, { replicas: '100%' }],
      annotations: measuredPods,
      controllers: ['controller-1', 'controller-2'],
      executors: ['executor-1', 'executor-2'],
      tap: log.tap,
    })
    await stage.setImage('v2')
    await untilThen()
    await stage.pass(60_000)
    log.reset()
    await stage.pass(600_000)
    const others = log.sent().filter(({ what }) => !what.startsWith('WATCH ') && ![`PUT ${lease}`, `GET ${lease}`].includes(what))
    expect(others).toEqual([])
  })
})

async function pauseInMidBatch(): Promise<void> {
  await untilNodesOn(stage, 'v2', 6)
  await stage.patchRollout({ spec: { strategy: { paused: true } } })
  await stage.until('the pause is acknowledged', async () => (await condition(stage, 'Progressing'))?.reason === 'Paused')
}

function perNode(log: RequestLog, identity: string, counts: (what: string) => boolean): number {
  return log.sent().filter((request) => request.identity === identity && counts(request.what)).length / NODES
}

/** @returns the most writes of the controller to the object of this kind within any `withinMs` milliseconds */
function mostWrites(kind: string, sinceMs: number, withinMs: number): number {
  const times = stage
    .recording()
    .filter((write) => write.kind === kind && write.t >= sinceMs && write.actor === 'controller-1')
    .map(({ t }) => t)
  return Math.max(0, ...times.map((from) => times.filter((t) => t >= from && t < from + withinMs).length))
}
