import type { Rollout, RolloutStatus } from '@tranche/api-schema'
import { type FleetPod, type NodeView, toFleetView } from '@tranche/fleet'
import type { ControllerRevision, DaemonSet } from '@tranche/kube-types'
import { describe, expect, it } from 'vitest'
import { buildSnapshot, type ReleaseObjects } from '../src/screen/build-snapshot.ts'

const now = { nowMs: 1_700_000_000_000, monotonicMs: 50_000 }

describe('buildSnapshot', () => {
  const states: Record<string, { node: Partial<NodeView>; state: string }> = {
    'a pod on the newest revision that is available is updated': { node: { pods: [pod({ hash: 'new' })] }, state: 'updated' },
    'an available pod on another revision is old': { node: { pods: [pod({})] }, state: 'old' },
    'a pod without a hash is old': { node: { pods: [pod({ hash: undefined })] }, state: 'old' },
    'a terminating pod is in transition': { node: { pods: [pod({ terminating: true })] }, state: 'updating' },
    'a node without a pod is in transition': { node: { pods: [] }, state: 'updating' },
    'a new pod that is not Ready is in transition': { node: { pods: [pod({ hash: 'new', ready: false })] }, state: 'updating' },
    'a new pod that is not Ready for long enough is in transition': {
      node: { pods: [pod({ hash: 'new', readyFromMs: 41_000 })] },
      state: 'updating',
    },
    'an old pod that is not Ready is down': { node: { pods: [pod({ ready: false })] }, state: 'down' },
    'a pod whose container does not run is failing': {
      node: { pods: [pod({ hash: 'new', ready: false, trouble: { reason: 'ImagePullBackOff' } })] },
      state: 'failing',
    },
    'a node that is not Ready is shown as that': { node: { ready: false, pods: [pod({ ready: false })] }, state: 'notReady' },
  }

  it.each(Object.entries(states))('%s', (_name, { node, state }) => {
    const view: NodeView = { name: 'node-1', desired: true, ready: true, answers: true, labels: {}, pods: [], ...node }
    expect(buildSnapshot({ ...base, fleet: toFleetView([view]) }, now).nodes[0]?.state).toBe(state)
  })

  it('counts no node as updated before the revision of a new template exists', () => {
    const nodes: NodeView[] = [{ name: 'node-1', desired: true, ready: true, answers: true, labels: {}, pods: [pod({})] }]
    const revisions = base.revisions.slice(0, 1)
    expect(buildSnapshot({ ...base, revisions, fleet: toFleetView(nodes) }, now).nodes[0]?.state).toBe('old')
  })

  it('leaves out nodes that are not desired', () => {
    const view: NodeView = { name: 'node-1', desired: false, ready: true, answers: true, labels: {}, pods: [pod({})] }
    expect(buildSnapshot({ ...base, fleet: toFleetView([view]) }, now).nodes).toEqual([])
  })

  it('sorts nodes by zone, then by the number in their name', () => {
    const nodes = ['node-10', 'node-2', 'node-1'].map(
      (name): NodeView => ({ name, desired: true, ready: true, answers: true, labels: {}, pods: [] }),
    )
    const zoneOf = (name: string): string => (name === 'node-1' ? 'b' : 'a')
    const snapshot = buildSnapshot({ ...base, fleet: toFleetView(nodes), zoneOf }, now)
    expect(snapshot.nodes.map((node) => node.name)).toEqual(['node-2', 'node-10', 'node-1'])
  })

  it('names the versions by the tags of the images of stable revision and template', () => {
    expect(buildSnapshot(base, now)).toMatchObject({ fromVersion: 'v1', toVersion: 'v2' })
  })

  it('turns steps into nodes and maxUnavailable into a number, rounding up', () => {
    const nodes = Array.from(
      { length: 15 },
      (_, index): NodeView => ({ name: `node-${index}`, desired: true, ready: true, answers: true, labels: {}, pods: [] }),
    )
    expect(buildSnapshot({ ...base, fleet: toFleetView(nodes) }, now)).toMatchObject({
      steps: [
        { label: '10%', nodes: 2 },
        { label: '100%', nodes: 15 },
      ],
      maxUnavailable: 2,
    })
  })

  it('says what the batch waits for while a step is in progress', () => {
    const waiting = { reason: 'Availability', message: 'waiting for node-1', since: '2023-11-14T22:13:00Z', nodes: ['node-1'] }
    const batchRelease = { metadata, spec: { releasePlan: { enableExtraWorkloadForCanary: false } }, status: { waiting } }
    expect(buildSnapshot({ ...base, batchRelease }, now).waiting).toEqual({
      message: 'waiting for node-1',
      subject: '["Availability","node-1"]',
      sinceMs: Date.parse(waiting.since),
    })
  })

  it('says what the Rollout waits for otherwise', () => {
    const subject = '["Progressing",[],null,1,"StepUpgrade",null]'
    expect(buildSnapshot(base, now).waiting).toEqual({ message: 'upgrading', subject, sinceMs: null })
  })

  const asOf = (change: Partial<RolloutStatus>): string | undefined => {
    const { status, ...rest } = rollout('Progressing')
    return buildSnapshot({ ...base, rollout: { ...rest, status: { ...status!, ...change } } }, now).waiting?.subject
  }
  const waitsFor = (reason: string): Partial<RolloutStatus> => ({ waitingFor: { reason, message: 'x', nodes: [] } })
  const stalled: Partial<RolloutStatus> = { conditions: [{ type: 'Stalled', status: 'True', reason: 'PodsStuck', message: 'x' }] }

  it.each<[string, Partial<RolloutStatus>, Partial<RolloutStatus>, boolean]>([
    ['two messages', { message: 'pauses for 60 s' }, { message: 'waiting for node-2' }, true],
    ['two reasons to wait', waitsFor('Soak'), waitsFor('Upgrading'), false],
    ['two steps', { currentStepIndex: 1 }, { currentStepIndex: 2 }, false],
    ['a wait and a stall', waitsFor('Soak'), { ...waitsFor('Soak'), ...stalled }, false],
  ])('takes %s as one wait, or not', (_title, first, second, same) => {
    expect(asOf(first) === asOf(second)).toBe(same)
  })

  it('says that the Rollout is paused', () => {
    const { status, ...rest } = rollout('Progressing')
    const conditions = [{ type: 'Progressing', status: 'True', reason: 'Paused', message: '', lastTransitionTime: '' }] as const
    expect(buildSnapshot(base, now).paused).toBe(false)
    expect(buildSnapshot({ ...base, rollout: { ...rest, status: { ...status!, conditions: [...conditions] } } }, now).paused).toBe(true)
  })

  it('shows only the events of this release', () => {
    const events = ['Rollout/agent', 'BatchRelease/agent', 'DaemonSet/agent', 'Pod/agent-x7k2p', 'Rollout/other', 'Pod/agent-two-x7k2p']
    const event = (object: string, namespace: string) => ({ atMs: 0, warning: true, reason: 'R', message: '', object, namespace })
    const all = [...events.map((object) => event(object, 'demo')), event('Rollout/agent', 'elsewhere')]
    expect(buildSnapshot({ ...base, events: all }, now).events.map(({ object }) => object)).toEqual(events.slice(0, 4))
  })

  it.each([
    ['old', false],
    ['new', true],
  ])('says whether a Healthy status is about the present template: of revision %s %s', (stableRevision, isObserved) => {
    const { status, ...rest } = rollout('Healthy')
    const healthy: Rollout = { ...rest, status: { ...status!, stableRevision } }
    expect(buildSnapshot({ ...base, rollout: healthy }, now)).toMatchObject({ isObserved })
  })

  it('waits for nothing when the Rollout is Healthy', () => {
    expect(buildSnapshot({ ...base, rollout: rollout('Healthy') }, now).waiting).toBeNull()
  })
})

const metadata = { name: 'agent', namespace: 'demo', uid: 'u', resourceVersion: '1' }

const daemonSet: DaemonSet = {
  metadata,
  spec: {
    minReadySeconds: 10,
    updateStrategy: { rollingUpdate: { maxUnavailable: '10%' } },
    template: { spec: { containers: [{ name: 'agent', image: 'registry.example:5000/agent:v2' }] } },
  },
}

const base: ReleaseObjects = {
  daemonSet,
  rollout: rollout('Progressing'),
  batchRelease: undefined,
  revisions: [revision('old', 1, 'registry.example:5000/agent:v1'), revision('new', 2, 'registry.example:5000/agent:v2')],
  fleet: toFleetView([]),
  zoneOf: () => '',
  failingSinceMs: () => undefined,
  events: [],
  startedAtMs: null,
  endedAtMs: null,
}

function rollout(phase: 'Progressing' | 'Healthy'): Rollout {
  return {
    metadata,
    spec: {
      workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent' },
      strategy: { canary: { steps: [{ replicas: '10%' }, { replicas: '100%' }] } },
    },
    status: { phase, message: 'upgrading', currentStepIndex: 1, currentStepState: 'StepUpgrade' },
  }
}

function revision(hash: string, number: number, image: string): ControllerRevision {
  const labels = { 'controller-revision-hash': hash }
  return {
    metadata: { ...metadata, name: hash, labels },
    revision: number,
    data: { spec: { template: { $patch: 'replace', spec: { containers: [{ image, name: 'agent' }] } } } },
  }
}

function pod(fields: Partial<FleetPod>): FleetPod {
  const state = {
    phase: 'Running',
    acknowledged: true,
    ready: true,
    readyFromMs: 0,
    readyStamp: undefined,
    terminating: false,
    trouble: undefined,
    restarts: 0,
    hash: 'old',
  }
  const names = { namespace: 'demo', name: 'p', uid: 'p', resourceVersion: '1', ownerUid: 'u', labels: {}, node: 'node-1', createdAt: '' }
  return { ...names, ...state, rolloutId: undefined, rolloutBatchId: undefined, ...fields }
}
