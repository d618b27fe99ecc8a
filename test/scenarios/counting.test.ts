import { metricCatalog, type MetricDefinition } from '@tranche/metrics'
import { afterEach, describe, expect, it } from 'vitest'
import { exposed, type Exposed } from './exposed.ts'
import { untilNodesOn, untilPausedAt, untilReleased } from './looks.ts'
import { setStage, type Stage } from './stage.ts'

let stage: Stage
afterEach(() => stage.end())

/** Current metrics of a program. */
async function metricsOf(identity = 'controller-1'): Promise<Exposed> {
  return exposed((await stage.scrape(identity)) ?? '')
}

const release = { rollout: 'demo/node-agent' }

describe('the metrics of a release', () => {
  it('show its budget, its nodes by state, its step and how long it waits for a person, and end with it', async () => {
    stage = await setStage({ counts: true, nodes: 20, maxUnavailable: 4 })
    expect((await metricsOf()).value('tranche_rollouts', { phase: 'Healthy' })).toBe(1)
    expect((await metricsOf()).samples('tranche_release_nodes')).toEqual([])

    await stage.setImage('v2')
    await untilNodesOn(stage, 'v2', 1)
    // Metrics of releases may be a second old.
    await stage.pass(1_000)
    const running = await metricsOf()
    expect(running.value('tranche_release_budget_allowed_nodes', release)).toBe(4)
    expect(running.value('tranche_release_budget_used_nodes', release)).toBeGreaterThan(0)
    expect(running.value('tranche_release_permits', release)).toBeGreaterThan(0)
    expect(running.value('tranche_releases', { phase: 'Progressing' })).toBe(1)

    await untilPausedAt(stage, 1)
    await stage.pass(60_000)
    const paused = await metricsOf()
    expect(paused.value('tranche_release_nodes', { ...release, state: 'updated' })).toBe(4)
    expect(paused.value('tranche_release_nodes', { ...release, state: 'old' })).toBe(16)
    expect(paused.value('tranche_release_need_seconds', { ...release, reason: 'StepPaused' })).toBeGreaterThanOrEqual(59)
    expect(paused.value('tranche_batch_seconds_count', {})).toBe(1)

    await stage.approve()
    await untilReleased(stage, 'v2')
    const over = await metricsOf()
    expect(over.samples('tranche_release_nodes')).toEqual([])
    expect(over.samples('tranche_release_need_seconds')).toEqual([])
    expect(over.value('tranche_events_total', { type: 'Normal', reason: 'ReleaseCompleted' })).toBe(1)
    expect(over.value('tranche_step_seconds_count', { state: 'StepPaused' })).toBe(1)
    expect(over.value('tranche_step_seconds_sum', { state: 'StepPaused' })).toBeGreaterThanOrEqual(59)
    // Tranche took each node down once, for as long as a pod of the simulator takes to stop and start.
    expect(over.value('tranche_node_down_seconds_count', { cause: 'release' })).toBe(20)
    expect(over.value('tranche_node_down_seconds_sum', { cause: 'release' }) / 20).toBeGreaterThan(0.5)
    const executed = await metricsOf('executor-1')
    expect(executed.value('tranche_deletes_total', { result: 'accepted' })).toBe(20)
    expect(executed.value('tranche_permits_total', { change: 'appended' })).toBe(
      executed.value('tranche_permits_total', { change: 'removed' }),
    )
  })

  it('count no step of a rollback', async () => {
    stage = await setStage({ counts: true, nodes: 5 })
    const steps = async (): Promise<number> => (await metricsOf()).value('tranche_step_seconds_count', { state: 'StepUpgrade' })
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    const before = await steps()
    await stage.setImage('v1')
    await untilReleased(stage, 'v1')
    expect([before, await steps()]).toEqual([1, 1])
  })

  it('are exported by the leader alone, and by the next leader when it is gone', async () => {
    stage = await setStage({ counts: true, controllers: ['controller-1', 'controller-2'] })
    const leaders = async (): Promise<readonly string[]> => {
      const found: string[] = []
      for (const identity of ['controller-1', 'controller-2'])
        if ((await metricsOf(identity)).value('tranche_leader', {}) === 1) found.push(identity)
      return found
    }
    const [first = ''] = await leaders()
    const second = first === 'controller-1' ? 'controller-2' : 'controller-1'
    expect((await metricsOf(first)).samples('tranche_rollouts')).not.toEqual([])
    expect((await metricsOf(second)).samples('tranche_rollouts')).toEqual([])
    stage.program(first).kill()
    await stage.pass(30_000)
    expect(await leaders()).toEqual([second])
    expect((await metricsOf(second)).value('tranche_rollouts', { phase: 'Healthy' })).toBe(1)
  })

  it('distinguish a node that another client took down from those that Tranche took down', async () => {
    stage = await setStage({ counts: true, nodes: 10 })
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    const victim = (await stage.pods()).find((pod) => pod.metadata.deletionTimestamp === undefined)
    await stage.client.delete(
      { group: '', version: 'v1', plural: 'pods', namespaced: true },
      { namespace: 'demo', name: victim?.metadata.name ?? '' },
    )
    await stage.pass(60_000)
    const counted = await metricsOf()
    expect(counted.value('tranche_node_down_seconds_count', { cause: 'release' })).toBe(2)
    expect(counted.value('tranche_node_down_seconds_count', { cause: 'other' })).toBe(1)
  })

  it('have no label and no label value that the catalog does not list', async () => {
    stage = await setStage({ counts: true, nodes: 10 })
    await stage.setImage('v2-bad-crash')
    await stage.until('it is stopped', async () => (await stage.rollout()).status?.failure !== undefined)
    const series = [...(await metricsOf('controller-1')).all, ...(await metricsOf('executor-1')).all]
    expect((await metricsOf()).value('tranche_verdicts_total', { action: 'Pause' })).toBe(1)
    expect((await metricsOf()).value('tranche_release_need_seconds', { ...release, reason: 'ReleaseFailed' })).toBeGreaterThanOrEqual(0)
    for (const { name, labels } of series) {
      const metric: MetricDefinition = metricCatalog[name.replace(/_(bucket|sum|count)$/, '') as keyof typeof metricCatalog]
      for (const [label, value] of Object.entries(labels)) {
        if (label === 'le') continue
        const values = metric.labels[label]
        expect(values, `${name}{${label}}`).toBeDefined()
        if (values !== 'open') expect([...(values ?? []), 'other'], `${name}{${label}}`).toContain(value)
        expect(value, `${name}{${label}}`).not.toMatch(/node-\d/)
      }
    }
  })
})
