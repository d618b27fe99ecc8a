import {
  beginStop,
  delayMs,
  enterStage,
  lifeCycleOf,
  type LifeCycleName,
  lifeCycles,
  type PodMemory,
  podStatus,
  readPodSettings,
  type Stage,
} from '@tranche/sim-nodes'
import { describe, expect, it } from 'vitest'

/** Every life up to its second repetition: seconds since the kubelet saw the pod, phase, ready, state, restarts, last end. */
const lives: Readonly<Record<LifeCycleName, readonly string[]>> = {
  ok: ['0 Pending - ContainerCreating 0', '1 Running - running 0', '3 Running ready running 0'],
  'bad-pull': ['0 Pending - ContainerCreating 0', '1 Pending - ImagePullBackOff 0'],
  'bad-config': ['0 Pending - ContainerCreating 0', '1 Pending - CreateContainerConfigError 0'],
  'bad-ready': ['0 Pending - ContainerCreating 0', '1 Running - running 0'],
  'bad-crash': [
    '0 Pending - ContainerCreating 0',
    '1 Running - CrashLoopBackOff 1 Error:1',
    '11 Running - CrashLoopBackOff 2 Error:1',
    '31 Running - CrashLoopBackOff 3 Error:1',
  ],
  'bad-oom': [
    '0 Pending - ContainerCreating 0',
    '1 Running - CrashLoopBackOff 1 OOMKilled:137',
    '11 Running - CrashLoopBackOff 2 OOMKilled:137',
    '31 Running - CrashLoopBackOff 3 OOMKilled:137',
  ],
  'bad-flap': [
    '0 Pending - ContainerCreating 0',
    '1 Running - running 0',
    '3 Running ready running 0',
    '8 Running - CrashLoopBackOff 1 Error:1',
    '18 Running - CrashLoopBackOff 2 Error:1',
    '38 Running - CrashLoopBackOff 3 Error:1',
  ],
}

describe('the life of a pod', () => {
  it.each(Object.entries(lives))('%s', (name, want) => {
    expect(live(name as LifeCycleName)).toEqual(want)
  })

  it('doubles the back-off of crashes up to five minutes', () => {
    const settings = readPodSettings({}, 'node-001', 'agent:v1')
    expect([1, 2, 5, 6, 60].map((restarts) => delayMs('backOff', settings, restarts))).toEqual([10_000, 20_000, 160_000, 300_000, 300_000])
  })
})

describe('podStatus', () => {
  const facts = { containers: [{ name: 'agent', image: 'agent:v1' }], hostIP: '10.0.0.1', podIP: '10.64.0.1' }
  const begin: PodMemory = { restarts: 0, startTime: '2026-01-01T00:00:00Z', conditions: [] }
  const [creating, running, ready] = lifeCycles.ok

  it('says what the API says of a running pod', () => {
    const memory = [creating, running, ready].reduce<PodMemory>(
      (now, stage, at) => enterStage(now, stage, `2026-01-01T00:00:0${at}Z`),
      begin,
    )
    expect(podStatus(memory, ready, facts)).toEqual({
      phase: 'Running',
      startTime: '2026-01-01T00:00:00Z',
      hostIP: '10.0.0.1',
      hostIPs: [{ ip: '10.0.0.1' }],
      podIP: '10.64.0.1',
      podIPs: [{ ip: '10.64.0.1' }],
      conditions: [
        { type: 'Initialized', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' },
        { type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:02Z' },
        { type: 'ContainersReady', status: 'True', lastTransitionTime: '2026-01-01T00:00:02Z' },
      ],
      containerStatuses: [
        {
          name: 'agent',
          image: 'agent:v1',
          imageID: '',
          ready: true,
          started: true,
          restartCount: 0,
          state: { running: { startedAt: '2026-01-01T00:00:01Z' } },
        },
      ],
    })
  })

  it('keeps the time of a condition while its status stays', () => {
    const memory = enterStage(enterStage(begin, creating, '2026-01-01T00:00:00Z'), running, '2026-01-01T00:00:05Z')
    expect(memory.conditions[1]).toMatchObject({ type: 'Ready', status: 'False', lastTransitionTime: '2026-01-01T00:00:00Z' })
  })

  it('is not ready any more once it is being stopped', () => {
    const memory = beginStop(enterStage(begin, ready, '2026-01-01T00:00:00Z'), '2026-01-01T00:01:00Z')
    expect(memory.conditions[1]).toEqual({
      type: 'Ready',
      status: 'False',
      reason: 'PodTerminating',
      lastTransitionTime: '2026-01-01T00:01:00Z',
    })
  })
})

describe('lifeCycleOf', () => {
  it.each<[name: string, images: readonly string[], mayFail: boolean, want: LifeCycleName]>([
    ['goes well with any other tag', ['agent:v1'], true, 'ok'],
    ['goes by the tag', ['registry:5000/agent:v2-bad-crash'], true, 'bad-crash'],
    ['looks at every container', ['agent:v1', 'side:v1-bad-ready'], true, 'bad-ready'],
    ['does not look at the name', ['bad-pull/agent:v1'], true, 'ok'],
    ['leaves nodes out', ['agent:v2-bad-pull'], false, 'ok'],
    ['knows memory', ['agent:bad-oom'], true, 'bad-oom'],
    ['knows configuration', ['agent:bad-config'], true, 'bad-config'],
    ['knows flapping', ['agent:bad-flap'], true, 'bad-flap'],
  ])('%s', (_name, images, mayFail, want) => expect(lifeCycleOf(images, mayFail)).toBe(want))
})

/** Plays a life with start after 1 s, ready after 2 s more and flapping after 5 s. */
function live(name: LifeCycleName): readonly string[] {
  const settings = readPodSettings({ 'sim.tranche.dev/readiness-ms': '2000' }, 'node-001', 'agent:v1')
  const stages: readonly Stage[] = lifeCycles[name]
  const repeated = stages.at(-1)!.repeats ? [...stages, stages.at(-1)!] : stages
  let atMs = 0
  let memory: PodMemory = { restarts: 0, startTime: '', conditions: [] }
  return repeated.map((stage) => {
    atMs += delayMs(stage.after, settings, memory.restarts)
    memory = enterStage(memory, stage, 'now')
    const end = memory.lastEnd === undefined ? '' : ` ${memory.lastEnd.reason}:${memory.lastEnd.exitCode}`
    const state = stage.state === 'running' ? 'running' : stage.state.waiting
    return `${atMs / 1000} ${stage.phase} ${stage.ready ? 'ready' : '-'} ${state} ${memory.restarts}${end}`
  })
}
