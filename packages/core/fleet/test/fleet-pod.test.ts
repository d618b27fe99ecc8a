import { availableFromMs, type FleetPod, isAvailable, type PodTrouble, toFleetPod } from '@tranche/fleet'
import type { ContainerStatus, Pod } from '@tranche/kube-types'
import { aPod } from '@tranche/testing'
import { describe, expect, it } from 'vitest'

/** 2026-01-01T00:00:10Z on the wall, five seconds after this process started. */
const observedAt = { nowMs: Date.parse('2026-01-01T00:00:10Z'), monotonicMs: 5_000 }
const later = { nowMs: observedAt.nowMs + 60_000, monotonicMs: observedAt.monotonicMs + 60_000 }

describe('toFleetPod', () => {
  it('keeps the fields that the fence needs', () => {
    const pod = aPod({ node: 'a', hash: 'v1', resourceVersion: '12', createdAt: '2026-01-01T00:00:00Z', terminating: true })
    expect(toFleetPod(pod, undefined, observedAt)).toMatchObject({
      namespace: 'demo',
      name: 'pod-a',
      uid: 'uid-pod-a',
      resourceVersion: '12',
      ownerUid: 'daemonset-uid',
      node: 'a',
      hash: 'v1',
      createdAt: '2026-01-01T00:00:00Z',
      terminating: true,
      phase: 'Running',
      ready: true,
    })
  })

  const refused: Record<string, Pod> = {
    'a pod without a controller': withMetadata(aPod({ node: 'a' }), { ownerReferences: [] }),
    'a pod that a ReplicaSet controls': withMetadata(aPod({ node: 'a' }), {
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'r', uid: 'r', controller: true }],
    }),
    'a pod that a DaemonSet only owns': withMetadata(aPod({ node: 'a' }), {
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'd', uid: 'd' }],
    }),
    'a pod that is neither bound nor pinned': { ...aPod({ node: '' }) },
  }
  it.each(Object.entries(refused))('drops %s', (_name, pod) => {
    expect(toFleetPod(pod, undefined, observedAt)).toBeNull()
  })

  it('finds the node of a pod that still waits for the scheduler in its affinity', () => {
    const matchFields = [{ key: 'metadata.name', operator: 'In', values: ['a'] }]
    const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields }] } } }
    expect(toFleetPod({ ...aPod({ node: '' }), spec: { affinity } }, undefined, observedAt)?.node).toBe('a')
    expect(toFleetPod({ ...aPod({ node: '' }), spec: { nodeName: 'b', affinity } }, undefined, observedAt)?.node).toBe('b')
  })

  it.each([
    { key: 'metadata.name', operator: 'NotIn', values: ['a'] },
    { key: 'metadata.uid', operator: 'In', values: ['a'] },
    { key: 'metadata.name', operator: 'In' },
  ])('finds no node by the field $key $operator $values', (field) => {
    const nodeSelectorTerms = [{ matchExpressions: [] }, { matchFields: [field] }]
    const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } }
    expect(toFleetPod({ ...aPod({ node: '' }), spec: { affinity } }, undefined, observedAt)).toBeNull()
  })

  it('reports when its kubelet acknowledged it, and in which release it leaked', () => {
    const pod = withStatus(withMetadata(aPod({ node: 'a' }), { labels: { 'tranche.dev/leaked': 'r1' } }), {
      startTime: '2026-01-01T00:00:01Z',
    })
    const want = { acknowledged: true, acknowledgedAt: '2026-01-01T00:00:01Z', leakedIn: 'r1' }
    expect(toFleetPod(pod, undefined, observedAt)).toMatchObject(want)
    const neither = toFleetPod(withStatus(aPod({ node: 'a' }), {}), undefined, observedAt)
    expect(neither).toMatchObject({ acknowledged: false })
    for (const key of Object.keys(want).slice(1)) expect(neither).not.toHaveProperty(key)
  })

  it('reports when this process first saw that its kubelet had acknowledged it', () => {
    const [created, taken] = [{}, { startTime: '2026-01-01T00:00:01Z' }].map((status) => withStatus(aPod({ node: 'a' }), status))
    const later = { ...observedAt, monotonicMs: observedAt.monotonicMs + 5 }
    const first = toFleetPod(created!, undefined, observedAt)!
    const second = toFleetPod(taken!, first, later)!
    const third = toFleetPod(taken!, second, { ...later, monotonicMs: later.monotonicMs + 5 })
    expect([first, second, third].map((pod) => pod?.acknowledgedFromMs)).toEqual([undefined, later.monotonicMs, later.monotonicMs])
    expect(toFleetPod(taken!, { ...second, uid: 'another' }, observedAt)?.acknowledgedFromMs).toBe(observedAt.monotonicMs)
  })

  it('sums the restarts of all its containers, including init containers', () => {
    const counted = (restartCount: number): ContainerStatus => ({ name: `c${restartCount}`, restartCount })
    const pod = withStatus(aPod({ node: 'a' }), {
      initContainerStatuses: [counted(1)],
      containerStatuses: [counted(20), counted(300), { name: 'none' }],
    })
    expect(toFleetPod(pod, undefined, observedAt)?.restarts).toBe(321)
  })

  it('treats a pod without the label as having no known revision', () => {
    expect(toFleetPod(aPod({ node: 'a', hash: null }), undefined, observedAt)?.hash).toBeUndefined()
  })
})

describe('since when a pod is Ready (F6)', () => {
  it('counts from the first observation, even with an old timestamp', () => {
    expect(seen({ readyStamp: '2025-12-31T00:00:00Z' }).readyFromMs).toBe(5_000)
  })

  it('counts from a timestamp in the future', () => {
    expect(seen({ readyStamp: '2026-01-01T00:00:13Z' }).readyFromMs).toBe(8_000)
  })

  it('counts from the first observation when the timestamp is invalid', () => {
    expect(seen({ readyStamp: 'soon' }).readyFromMs).toBe(5_000)
  })

  it('keeps the first observation while the pod stays Ready', () => {
    const first = seen({ resourceVersion: '10' })
    expect(seen({ resourceVersion: '11' }, first, later).readyFromMs).toBe(5_000)
  })

  it('restarts the count after a break', () => {
    const broken = seen({ ready: false }, seen({}))
    expect(broken.readyFromMs).toBeNull()
    expect(seen({}, broken, later).readyFromMs).toBe(65_000)
  })

  it('restarts the count after an unobserved break, by the new timestamp', () => {
    const first = seen({ readyStamp: '2026-01-01T00:00:00Z' })
    expect(seen({ readyStamp: '2026-01-01T00:00:30Z' }, first, later).readyFromMs).toBe(65_000)
  })

  it('does not use observations of another pod', () => {
    expect(seen({ uid: 'second' }, seen({ uid: 'first' }), later).readyFromMs).toBe(65_000)
  })
})

describe('what keeps a terminating pod (F12)', () => {
  const finalizers = ['example.com/keep']
  const going = { deletionTimestamp: '2026-01-01T00:00:40Z', finalizers }
  it.each<[string, Partial<Pod['metadata']>, readonly string[] | undefined]>([
    ['its finalizers, after its grace period', { ...going, deletionGracePeriodSeconds: 0 }, finalizers],
    ['only its node during its grace period', { ...going, deletionGracePeriodSeconds: 30 }, undefined],
    ['only its node without a known grace period', going, undefined],
    ['nothing, without a finalizer', { ...going, deletionGracePeriodSeconds: 0, finalizers: [] }, undefined],
    ['nothing, while it is not terminating', { finalizers, deletionGracePeriodSeconds: 0 }, undefined],
  ])('%s', (_name, metadata, keptBy) => {
    expect(toFleetPod(withMetadata(aPod({ node: 'a' }), metadata), undefined, observedAt)?.keptBy).toEqual(keptBy)
  })

  it('is reported until its deletionTimestamp', () => {
    expect(toFleetPod(withMetadata(aPod({ node: 'a' }), going), undefined, observedAt)?.goneByMs).toBe(Date.parse('2026-01-01T00:00:40Z'))
  })
})

describe('isAvailable', () => {
  const cases: Record<string, { pod: FleetPod; minReadyMs?: number; available: boolean }> = {
    'a Ready pod is available at once without minReadySeconds': { pod: seen({}), available: true },
    'a Ready pod is not available one moment too early': { pod: seen({}), minReadyMs: 10_001, available: false },
    'a Ready pod is available at the exact time': { pod: seen({}), minReadyMs: 10_000, available: true },
    'a pod that is not Ready is never available': { pod: seen({ ready: false }), available: false },
    'a terminating pod is not available, though it is Ready': { pod: seen({ terminating: true }), available: false },
    'a future timestamp does not delay a pod without minReadySeconds': {
      pod: seen({ readyStamp: '2026-01-01T01:00:00Z' }),
      available: true,
    },
    'a future timestamp delays availability': {
      pod: seen({ readyStamp: '2026-01-01T00:00:11Z' }),
      minReadyMs: 10_000,
      available: false,
    },
  }
  it.each(Object.entries(cases))('%s', (_name, { pod, minReadyMs = 0, available }) => {
    expect(isAvailable(pod, minReadyMs, 15_000)).toBe(available)
  })

  it('comes at a known time while the pod stays Ready', () => {
    expect(availableFromMs(seen({}), 10_000)).toBe(15_000)
    expect(availableFromMs(seen({ ready: false }), 10_000)).toBeNull()
  })
})

describe('the trouble of a pod', () => {
  const cases: Record<string, { pod: Pod; trouble: PodTrouble | undefined }> = {
    'none while a container runs': { pod: containers({}), trouble: undefined },
    'none while a container is being created': { pod: waiting('ContainerCreating'), trouble: undefined },
    'none while init containers run': { pod: waiting('PodInitializing'), trouble: undefined },
    'none of a container that has completed': {
      pod: containers({ state: { terminated: { reason: 'Completed', exitCode: 0 } } }),
      trouble: undefined,
    },
    'why a container waits': { pod: waiting('ImagePullBackOff'), trouble: { reason: 'ImagePullBackOff', container: 'agent' } },
    'the exit code and restarts of a crash loop': {
      pod: containers({
        restartCount: 4,
        state: { waiting: { reason: 'CrashLoopBackOff' } },
        lastState: { terminated: { reason: 'Error', exitCode: 3 } },
      }),
      trouble: { reason: 'CrashLoopBackOff', container: 'agent', exitCode: 3, restarts: 4 },
    },
    'out of memory as the cause of a crash loop': {
      pod: containers({
        state: { waiting: { reason: 'CrashLoopBackOff' } },
        lastState: { terminated: { reason: 'OOMKilled', exitCode: 137 } },
      }),
      trouble: { reason: 'OOMKilled', container: 'agent', exitCode: 137 },
    },
    'why it waits now, regardless of its last termination': {
      pod: containers({
        state: { waiting: { reason: 'ImagePullBackOff' } },
        lastState: { terminated: { reason: 'OOMKilled', exitCode: 137 } },
      }),
      trouble: { reason: 'ImagePullBackOff', container: 'agent', exitCode: 137 },
    },
    'none of a pod that the scheduler has not handled yet': {
      pod: withStatus(aPod({ node: 'a' }), {
        phase: 'Pending',
        conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }],
      }),
      trouble: undefined,
    },
    'the first 100 characters of the reason': {
      pod: containers({ state: { waiting: { reason: 'R'.repeat(101) } } }),
      trouble: { reason: `${'R'.repeat(99)}…`, container: 'agent' },
    },
    'the first 256 characters of the last message': {
      pod: containers({ state: { terminated: { reason: 'Error', exitCode: 1, message: ` ${'x'.repeat(300)} ` } } }),
      trouble: { reason: 'Error', container: 'agent', exitCode: 1, message: `${'x'.repeat(255)}…` },
    },
    'the message without half a character at its cut': {
      pod: containers({ state: { waiting: { reason: 'ErrImagePull', message: `${'x'.repeat(254)}😀😀` } } }),
      trouble: { reason: 'ErrImagePull', container: 'agent', message: `${'x'.repeat(254)}…` },
    },
    'a whole shorter message, trimmed': {
      pod: containers({ state: { waiting: { reason: 'ErrImagePull', message: '  no such image\n' } } }),
      trouble: { reason: 'ErrImagePull', container: 'agent', message: 'no such image' },
    },
    'that a container has ended': {
      pod: containers({ state: { terminated: { reason: 'Error', exitCode: 1 } } }),
      trouble: { reason: 'Error', container: 'agent', exitCode: 1 },
    },
    'why the whole pod failed': {
      pod: withStatus(aPod({ node: 'a', phase: 'Failed' }), { phase: 'Failed', reason: 'Evicted' }),
      trouble: { reason: 'Evicted' },
    },
    'that it failed, without a reason': { pod: aPod({ node: 'a', phase: 'Failed' }), trouble: { reason: 'Failed' } },
    'that no node fits it': {
      pod: withStatus(aPod({ node: 'a' }), {
        phase: 'Pending',
        conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }],
      }),
      trouble: { reason: 'Unschedulable' },
    },
  }
  it.each(Object.entries(cases))('is %s', (_name, { pod, trouble }) => {
    expect(toFleetPod(pod, undefined, observedAt)?.trouble).toEqual(trouble)
  })

  it('is that of the first container that has any', () => {
    const pod = aPod({
      node: 'a',
      containers: [
        { name: 'calm' },
        { name: 'first', state: { waiting: { reason: 'ErrImagePull' } } },
        { name: 'second', state: { waiting: { reason: 'CrashLoopBackOff' } } },
      ],
    })
    expect(toFleetPod(pod, undefined, observedAt)?.trouble).toEqual({ reason: 'ErrImagePull', container: 'first' })
  })
})

describe('the crash of a container that runs again', () => {
  const ran = (name: string, reason?: string): ContainerStatus => ({
    name,
    state: {},
    restartCount: 1,
    lastState: { terminated: { exitCode: 7, ...(reason !== undefined && { reason }) } },
  })
  it.each<[string, readonly ContainerStatus[], PodTrouble | undefined]>([
    ['is its last termination', [ran('a', 'Error')], { reason: 'Error', container: 'a', exitCode: 7, restarts: 1 }],
    ['is an error without a reason', [ran('a')], { reason: 'Error', container: 'a', exitCode: 7, restarts: 1 }],
    [
      'is of the first container',
      [ran('a', 'Error'), ran('b', 'ContainerCannotRun')],
      { reason: 'Error', container: 'a', exitCode: 7, restarts: 1 },
    ],
    [
      'prefers a container that was out of memory',
      [ran('a', 'Error'), ran('b', 'OOMKilled')],
      { reason: 'OOMKilled', container: 'b', exitCode: 7, restarts: 1 },
    ],
    ['is absent for a container that completed', [ran('a', 'Completed')], undefined],
    ['is absent for a container that waits', [{ ...ran('a', 'Error'), state: { waiting: { reason: 'CrashLoopBackOff' } } }], undefined],
    ['is absent for a container that has ended', [{ ...ran('a', 'Error'), state: { terminated: { exitCode: 7 } } }], undefined],
    ['is absent for a container that never ended', [{ name: 'a', state: {} }], undefined],
  ])('%s', (_name, statuses, crash) => {
    expect(toFleetPod(aPod({ node: 'a', containers: statuses }), undefined, observedAt)?.crash).toEqual(crash)
  })
})

function seen(fields: Omit<Parameters<typeof aPod>[0], 'node'>, previous?: FleetPod, at = observedAt): FleetPod {
  const pod = toFleetPod(aPod({ node: 'a', ...fields }), previous, at)
  if (pod === null) throw new Error('the pod is bound and owned')
  return pod
}

function containers(status: Omit<ContainerStatus, 'name'>): Pod {
  return aPod({ node: 'a', containers: [{ name: 'agent', ...status }] })
}

function waiting(reason: string): Pod {
  return containers({ state: { waiting: { reason } } })
}

function withMetadata(pod: Pod, metadata: Partial<Pod['metadata']>): Pod {
  return { ...pod, metadata: { ...pod.metadata, ...metadata } }
}

function withStatus(pod: Pod, status: NonNullable<Pod['status']>): Pod {
  return { ...pod, status }
}
