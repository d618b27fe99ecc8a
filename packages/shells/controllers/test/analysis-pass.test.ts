import type { MetricRequest } from '@tranche/analysis'
import type { Analysis, AnalysisRun, BatchRelease } from '@tranche/api-schema'
import { FakeClock } from '@tranche/clock'
import { type AnalysisPass, createAnalysisPass, type MetricResult } from '@tranche/controllers'
import { AppError } from '@tranche/errors'
import type { PatchOperation } from '@tranche/fence'
import { silentLogger } from '@tranche/telemetry'
import type { ReconcileResult } from '@tranche/reconcile'
import { applyPatch } from '@tranche/testing'
import { describe, expect, it } from 'vitest'

const key = { namespace: 'demo', name: 'agent' }
const http = { url: 'http://health.example' }
const background: Analysis = { name: 'health', background: true, http, successCondition: 'result.ok', interval: '30s' }

describe('a pass over the analyses of a BatchRelease', () => {
  it('does nothing when the BatchRelease is gone', async () => {
    const world = aWorld([background])
    world.release = null
    expect(await world.pass()).toEqual({ kind: 'awaitChange' })
    expect(world.patches).toEqual([])
  })

  it('writes the start of an analysis before it measures', async () => {
    const world = aWorld([background])
    expect(await world.pass()).toEqual({ kind: 'recheckAfter', ms: 0 })
    expect(world.runs()).toMatchObject([{ name: 'health', phase: 'Running' }])
    expect(world.asked).toEqual([])
    await world.pass()
    expect(world.asked).toHaveLength(1)
  })

  it('does not wait for a response, is woken by it, and writes the result', async () => {
    const world = await aRunningWorld()
    expect(await world.pass()).toEqual({ kind: 'awaitChange' })
    expect(world.wakes).toBe(0)
    await world.answer({ ok: true })
    expect(world.wakes).toBe(1)
    await world.pass()
    expect(world.runs()).toMatchObject([{ successful: 1, phase: 'Running' }])
    expect(await world.pass()).toEqual({ kind: 'recheckAfter', ms: 30_000 })
  })

  it('passes a slow response to the judge, and writes the result', async () => {
    const world = await aRunningWorld()
    await world.answer({ ok: true, pad: 'x'.repeat(20_000) })
    expect(world.judged).toEqual(['demo: result.ok'])
    await world.pass()
    expect(world.runs()).toMatchObject([{ errors: 1, message: 'it takes too much' }])
  })

  it('makes one measurement of an analysis at a time', async () => {
    const world = await aRunningWorld()
    world.clock.advance(5_000)
    await world.pass()
    expect(world.asked).toHaveLength(1)
  })

  it('tests the state that it read, so that a measurement of two controllers counts once (G8)', async () => {
    const world = await aRunningWorld()
    await world.answer({ ok: true })
    await world.pass()
    const patch = world.patches.at(-1) ?? []
    expect(world.runs()).toMatchObject([{ successful: 1 }])
    expect(applyPatch(world.release ?? {}, patch)).toBeNull()
  })

  it('writes a measurement when it retries the write that lost a race (G7)', async () => {
    const world = await aRunningWorld()
    await world.answer({ ok: true })
    world.fails = new AppError('WRITE_CONFLICT', 'it changed')
    await expect(world.pass()).rejects.toThrow('it changed')
    world.fails = null
    await world.pass()
    expect(world.runs()).toMatchObject([{ successful: 1 }])
    expect(world.asked).toHaveLength(1)
  })

  it('measures again after a process died before it wrote its measurement (G7)', async () => {
    const world = await aRunningWorld()
    await world.answer({ ok: true })
    world.restart()
    await world.pass()
    expect(world.asked).toHaveLength(2)
    await world.answer({ ok: true })
    await world.pass()
    expect(world.runs()).toMatchObject([{ successful: 1 }])
  })

  it('drops a response if another process has measured meanwhile', async () => {
    const world = await aRunningWorld()
    const elsewhere = world.elsewhere()
    await elsewhere.pass()
    await elsewhere.answer({ ok: false })
    await elsewhere.pass()
    world.release = elsewhere.release
    await world.answer({ ok: true })
    await world.pass()
    expect(world.runs()).toMatchObject([{ failed: 1 }])
    expect(world.runs()?.[0]?.successful ?? 0).toBe(0)
  })

  it('abandons a measurement when its release is deleted', async () => {
    const world = await aRunningWorld()
    world.release = null
    await world.pass()
    expect(world.asked[0]?.signal.aborted).toBe(true)
  })

  it('abandons every measurement when it stops', async () => {
    const world = await aRunningWorld()
    world.analyses.stop()
    expect(world.asked[0]?.signal.aborted).toBe(true)
    await world.answer({ ok: true })
    expect(world.wakes).toBe(0)
  })

  it('counts a measurement that exceeds its limit as an error, whatever it waits for', async () => {
    const world = await aRunningWorld()
    world.clock.advance(10_500)
    await settled()
    await world.pass()
    expect(world.runs()).toMatchObject([{ errors: 1, message: 'no answer within 10000 ms' }])
    expect(world.asked[0]?.signal.aborted).toBe(true)
  })

  it('counts an unexpected error as an error, and logs it', async () => {
    const world = await aRunningWorld()
    await world.refuse(new Error('boom'))
    await world.pass()
    expect(world.runs()).toMatchObject([{ errors: 1, message: 'the measurement failed; see the controller log' }])
  })

  it('records the result of an analysis on the Rollout, once', async () => {
    const world = await aRunningWorld()
    await world.answer({ ok: false })
    await world.pass()
    await world.pass()
    expect(world.reported).toEqual([
      'Warning AnalysisFailed Rollout/agent: analysis health in the background failed: 1 of 1 measurement failed, at most 0 are tolerated; last one: successCondition does not hold: result.ok, with the result {"ok":false}',
    ])
  })

  it('records a dry run without a warning, as having no effect on the release', async () => {
    const world = await aRunningWorld({ dryRun: true, count: 1 })
    await world.answer({ ok: false })
    await world.pass()
    expect(world.reported[0]).toMatch(/^Normal AnalysisFailed .* \(dry run: no effect on the release\)$/)
  })
})

interface Asked {
  readonly request: MetricRequest
  readonly signal: AbortSignal
  readonly settle: PromiseWithResolvers<MetricResult>
}

/** A controller with one release, and everything that its analyses do. */
interface World {
  readonly clock: FakeClock
  release: BatchRelease | null
  fails: Error | null
  readonly patches: (readonly PatchOperation[])[]
  readonly asked: Asked[]
  readonly reported: string[]
  /** Inputs of the judge: namespace and condition. */
  readonly judged: string[]
  readonly wakes: number
  readonly analyses: AnalysisPass
  pass(): Promise<ReconcileResult>
  runs(): readonly AnalysisRun[] | undefined
  /** Answers what was asked last, with JSON. */
  answer(body: unknown): Promise<void>
  refuse(error: Error): Promise<void>
  /** Another process takes the place of this one. */
  restart(): void
  /** Another process beside this one, which sees the release as it stands. */
  elsewhere(): World
}

/** A world in which the first measurement is under way. */
async function aRunningWorld(rules: Partial<Analysis> = {}): Promise<World> {
  const world = aWorld([{ ...background, ...rules }])
  await world.pass()
  await world.pass()
  return world
}

function aWorld(analyses: readonly Analysis[], clock = new FakeClock(), release: BatchRelease | null = aRelease(analyses)): World {
  const world = {
    clock,
    release,
    fails: null as Error | null,
    patches: [] as (readonly PatchOperation[])[],
    asked: [] as Asked[],
    reported: [] as string[],
    judged: [] as string[],
    wakes: 0,
    analyses: begin(),
    pass: () => world.analyses.reconcile(key, new AbortController().signal, silentLogger),
    runs: () => world.release?.status?.analysis,
    async answer(body: unknown) {
      const answer = { status: 200, contentType: 'application/json', body: JSON.stringify(body), conceal: (text: string) => text }
      world.asked.at(-1)?.settle.resolve({ kind: 'answered', answer })
      await settled()
    },
    async refuse(error: Error) {
      world.asked.at(-1)?.settle.reject(error)
      await settled()
    },
    restart: () => void (world.analyses = begin()),
    elsewhere: () => aWorld(analyses, clock, world.release),
  }
  return world

  function begin(): AnalysisPass {
    return createAnalysisPass({
      cluster: {
        read: () => (world.release === null ? null : { release: world.release, nodes: () => ['node-1'] }),
        async patchStatus(read, patch) {
          if (world.fails !== null) throw world.fails
          world.patches.push(patch)
          const patched = applyPatch(read, patch)
          if (patched === null) throw new AppError('WRITE_CONFLICT', 'it changed')
          world.release = patched
        },
      },
      metrics: {
        ask(_namespace, request, signal) {
          const settle = Promise.withResolvers<MetricResult>()
          world.asked.push({ request, signal, settle })
          return settle.promise
        },
      },
      judge: {
        async judge(namespace, { analysis }) {
          world.judged.push(`${namespace}: ${analysis.successCondition}`)
          return { phase: 'Error', message: 'it takes too much' }
        },
      },
      clock,
      events: {
        record: ({ kind, name }, type, reason, message) => void world.reported.push(`${type} ${reason} ${kind}/${name}: ${message}`),
        flush: async () => undefined,
      },
      wake: () => void world.wakes++,
    })
  }
}

function aRelease(analyses: readonly Analysis[]): BatchRelease {
  return {
    apiVersion: 'rollouts.kruise.io/v1beta1',
    kind: 'BatchRelease',
    metadata: {
      ...key,
      uid: 'uid-1',
      resourceVersion: '7',
      generation: 1,
      ownerReferences: [{ apiVersion: 'rollouts.kruise.io/v1beta1', kind: 'Rollout', name: 'agent', uid: 'uid-2', controller: true }],
    },
    spec: {
      workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent' },
      releasePlan: { batches: [{ canaryReplicas: '100%' }], batchPartition: 0, enableExtraWorkloadForCanary: false },
      tranche: { release: 'r1', analysis: analyses },
    },
    status: { phase: 'Progressing', observedRelease: 'r1', canaryStatus: { currentBatch: 0, batchState: 'Upgrading' } },
  }
}

/** Lets every promise that is settled be heard of. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve()
}
