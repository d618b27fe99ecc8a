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

/** Every life with its repetition: seconds since the kubelet saw the pod, phase, ready, state, restarts, last end. */
const lives: Readonly<Record<LifeCycleName, readonly string[]>> = {
  ok: ['0 Pending - ContainerCreating 0', '1 Running - running 0', '3 Running ready running 0'],
  'non-root': ['0 Pending - ContainerCreating 0', '1 Pending - CreateContainerConfigError 0'],
  'bad-pull': [
    '0 Pending - ContainerCreating 0',
    '1 Pending - ErrImagePull 0',
    '2 Pending - ImagePullBackOff 0',
    '12 Pending - ErrImagePull 0',
    '13 Pending - ImagePullBackOff 0',
    '33 Pending - ErrImagePull 0',
  ],
  'bad-config': ['0 Pending - ContainerCreating 0', '1 Pending - CreateContainerConfigError 0'],
  'bad-heals': [
    '0 Pending - ContainerCreating 0',
    '1 Pending - CreateContainerConfigError 0',
    '31 Running - running 0',
    '33 Running ready running 0',
  ],
  'bad-create': ['0 Pending - ContainerCreating 0', '1 Pending - CreateContainerError 0'],
  'bad-start': [
    '0 Pending - ContainerCreating 0',
    '1 Running - RunContainerError 0',
    '2 Running - CrashLoopBackOff 1 StartError:128',
    '12 Running - CrashLoopBackOff 2 StartError:128',
    '32 Running - CrashLoopBackOff 3 StartError:128',
  ],
  'bad-init': [
    '0 Pending - ContainerCreating 0',
    '1 Pending - Init:CrashLoopBackOff 1 Error:1',
    '11 Pending - Init:CrashLoopBackOff 2 Error:1',
    '31 Pending - Init:CrashLoopBackOff 3 Error:1',
  ],
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
  'bad-ready': ['0 Pending - ContainerCreating 0', '1 Running - running 0'],
  'bad-probe': [
    '0 Pending - ContainerCreating 0',
    '1 Running - running 0',
    '3 Running ready running 0',
    '8 Running - running 0',
    '13 Running ready running 0',
    '18 Running - running 0',
    '23 Running ready running 0',
  ],
  'bad-flap': [
    '0 Pending - ContainerCreating 0',
    '1 Running - running 0',
    '3 Running ready running 0',
    '8 Running - CrashLoopBackOff 1 Error:1',
    '18 Running - CrashLoopBackOff 2 Error:1',
    '38 Running - CrashLoopBackOff 3 Error:1',
  ],
  'bad-late': [
    '0 Pending - ContainerCreating 0',
    '1 Running - running 0',
    '3 Running ready running 0',
    '63 Running - CrashLoopBackOff 1 Error:1',
    '73 Running - running 1 Error:1',
    '75 Running ready running 1 Error:1',
    '135 Running - CrashLoopBackOff 2 Error:1',
    '155 Running - running 2 Error:1',
    '157 Running ready running 2 Error:1',
  ],
  'bad-restart': [
    '0 Pending - ContainerCreating 0',
    '1 Running - running 0',
    '3 Running ready running 0',
    '63 Running - running 1 Error:1',
    '65 Running ready running 1 Error:1',
    '125 Running - running 2 Error:1',
    '127 Running ready running 2 Error:1',
  ],
  'bad-node': [
    '0 Pending - ContainerCreating 0',
    '1 Running - running 0',
    '3 Running ready running 0',
    '8 Running ready running 0 breaks its node',
  ],
}

describe('the life of a pod', () => {
  it.each(Object.entries(lives))('%s', (name, want) => {
    expect(live(name as LifeCycleName)).toEqual(want)
  })

  it('doubles the back-off of crashes up to five minutes', () => {
    const settings = readPodSettings({}, 'node-001', 'agent:v1')
    expect([1, 2, 5, 6, 60].map((failures) => delayMs('backOff', settings, failures))).toEqual([10_000, 20_000, 160_000, 300_000, 300_000])
  })
})

describe('podStatus', () => {
  const facts = { containers: [{ name: 'agent', image: 'agent:v1' }], hostIP: '10.0.0.1', podIP: '10.64.0.1' }
  const begin: PodMemory = { restarts: 0, failures: 0, startTime: '2026-01-01T00:00:00Z', conditions: [] }
  const [creating, running, ready] = lifeCycles.ok

  it("matches the API's status of a running pod", () => {
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

  it('shows the progress of a pod with init containers', () => {
    const withInit = { ...facts, initContainers: [{ name: 'first', image: 'first:v1' }] }
    const memory = enterStage(begin, creating, '2026-01-01T00:00:00Z')
    const waiting = { ready: false, state: { waiting: { reason: 'PodInitializing' } } }
    expect(podStatus(memory, creating, withInit)).toMatchObject({ initContainerStatuses: [waiting], containerStatuses: [waiting] })
    const failing = lifeCycles['bad-init'][1]
    expect(podStatus(enterStage(memory, failing, '2026-01-01T00:00:01Z'), failing, withInit)).toMatchObject({
      phase: 'Pending',
      conditions: expect.arrayContaining([expect.objectContaining({ type: 'Initialized', status: 'False' })]),
      initContainerStatuses: [
        {
          name: 'first',
          restartCount: 1,
          state: { waiting: { reason: 'CrashLoopBackOff' } },
          lastState: { terminated: { reason: 'Error', exitCode: 1 } },
        },
      ],
      containerStatuses: [{ name: 'agent', restartCount: 0, ...waiting }],
    })
    expect(podStatus(enterStage(memory, ready, '2026-01-01T00:00:02Z'), ready, withInit)).toMatchObject({
      initContainerStatuses: [{ ready: true, state: { terminated: { reason: 'Completed', exitCode: 0 } } }],
      containerStatuses: [{ ready: true }],
    })
  })

  it('counts restarts without a back-off, and has the time of the last start', () => {
    const [, , , restarted] = lifeCycles['bad-restart']
    const memory = enterStage(enterStage(begin, running, '2026-01-01T00:00:01Z'), restarted, '2026-01-01T00:01:00Z')
    expect(podStatus(memory, restarted, facts)).toMatchObject({
      containerStatuses: [
        {
          restartCount: 1,
          state: { running: { startedAt: '2026-01-01T00:01:00Z' } },
          lastState: { terminated: { startedAt: '2026-01-01T00:00:01Z', finishedAt: '2026-01-01T00:01:00Z' } },
        },
      ],
    })
  })

  it('is no longer ready while it is stopping', () => {
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
    ...Object.keys(lifeCycles)
      .filter(isByTag)
      .map((name): [string, readonly string[], boolean, LifeCycleName] => [
        `knows ${name}`,
        [`agent:v2-${name}`],
        true,
        name as LifeCycleName,
      ]),
  ])('%s', (_name, images, mayFail, want) => expect(lifeCycleOf(images, mayFail)).toBe(want))
})

/** The life of a container that must not run as root is chosen by its settings. */
function isByTag(name: string): boolean {
  return name !== 'non-root'
}

/** Plays a life with start after 1 s, ready after 2 s more, and the defaults. */
function live(name: LifeCycleName): readonly string[] {
  const settings = readPodSettings({ 'sim.tranche.dev/readiness-ms': '2000' }, 'node-001', 'agent:v1')
  const stages: readonly Stage[] = lifeCycles[name]
  const again = stages.slice(stages.length - (stages.at(-1)!.repeats ?? 0))
  const repeated = [...stages, ...again]
  let atMs = 0
  let memory: PodMemory = { restarts: 0, failures: 0, startTime: '', conditions: [] }
  return repeated.map((stage) => {
    atMs += delayMs(stage.after, settings, memory.failures)
    memory = enterStage(memory, stage, 'now')
    const end = memory.lastEnd === undefined ? '' : ` ${memory.lastEnd.reason}:${memory.lastEnd.exitCode}`
    const state = stage.state === 'running' ? 'running' : stage.state.waiting
    const where = stage.inInit ? 'Init:' : ''
    const node = stage.breaksNode ? ' breaks its node' : ''
    return `${atMs / 1000} ${stage.phase} ${stage.ready ? 'ready' : '-'} ${where}${state} ${memory.restarts}${end}${node}`
  })
}
