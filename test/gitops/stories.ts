import type { Rollout } from '@tranche/api-schema'
import { resourcePaths } from '@tranche/kube-client'
import { type KubeObject, rolloutAnnotations } from '@tranche/kube-types'
import { forbidV1 } from '../scenarios/cluster-rules.ts'
import { breakPod, setFinalizers } from '../scenarios/hands.ts'
import { condition, untilNodesOn, untilPausedAt, untilReleased } from '../scenarios/looks.ts'
import { metricsOf } from '../scenarios/metrics.ts'
import { startKruise } from '../scenarios/kruise-leftovers.ts'
import type { Stage, StageOptions } from '../scenarios/stage.ts'
import { goesBy, rolloutManifest, stageKey } from '../scenarios/stage-objects.ts'

/** Events of a Rollout, played so that a GitOps tool can watch it. */
export interface Story {
  readonly options?: StageOptions
  play(stage: Stage): Promise<void>
}

const steps = [{ replicas: 1, pause: {} }, { replicas: '50%', pause: { duration: 5 } }, { replicas: '100%' }]

/** Together they lead through every phase, step state and reason that a Rollout can have. */
export const stories: Readonly<Record<string, Story>> = {
  release: {
    options: { policy: { soak: { step: '10s', final: '10s' } } },
    async play(stage) {
      await stage.setImage('v2')
      await untilPausedAt(stage, 1)
      await pauseAndResume(stage)
      await stage.approve()
      await untilNodesOn(stage, 'v2', 2)
      await pauseAndResume(stage)
      await untilReleased(stage, 'v2')
    },
  },
  'new steps': {
    async play(stage) {
      await stage.setImage('v2')
      await untilPausedAt(stage, 1)
      await stage.patchRollout({ spec: { strategy: { canary: { failureThreshold: 1 } } } })
      await stage.pass(2_000)
    },
  },
  'rolled back by Git': {
    async play(stage) {
      await stage.setImage('v2')
      await untilPausedAt(stage, 1)
      await stage.setImage('v1')
      await untilReleased(stage, 'v1')
    },
  },
  'aborted, and applied again': {
    async play(stage) {
      await stage.setImage('v2')
      await untilPausedAt(stage, 1)
      await act(stage, { id: 'stop', type: 'abort' })
      await untilReleased(stage, 'v1')
      await stage.setImage('v2')
      await untilStalled(stage, 'RevisionHeld')
    },
  },
  'bad version': {
    async play(stage) {
      await stage.setImage('bad-crash')
      await untilStalled(stage, 'ReleaseFailed')
      await pauseAndResume(stage)
    },
  },
  'inconclusive analysis': {
    options: {
      policy: {
        analysis: [{ name: 'errors', prometheus: { address: 'http://prometheus.example', query: 'up' }, successCondition: 'false' }],
      },
      egress: (clock) => metricsOf(null).egress(clock),
    },
    async play(stage) {
      await stage.setImage('v2')
      await untilStalled(stage, 'AnalysisInconclusive')
    },
  },
  'RollingUpdate set back twice': {
    options: { nodes: 40, maxUnavailable: 1, steps: [{ replicas: '50%', pause: {} }, { replicas: '100%' }] },
    async play(stage) {
      await stage.setImage('v2')
      for (const nodes of [3, 6]) {
        await untilNodesOn(stage, 'v2', nodes)
        await stage.patchDaemonSet({ spec: { updateStrategy: { type: 'RollingUpdate' } } })
      }
      await untilStalled(stage, 'StrategyConflict')
    },
  },
  'budget of zero': {
    async play(stage) {
      await stage.patchDaemonSet({ spec: { updateStrategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } } } })
      await untilStalled(stage, 'BudgetZero')
      await stage.setImage('v2')
      await stage.until('a release waits', async () => (await stage.rollout()).status?.phase === 'Progressing')
      await untilStalled(stage, 'BudgetZero')
    },
  },
  'pods that do not terminate': {
    options: { nodes: 10, steps: [{ replicas: '100%' }] },
    async play(stage) {
      for (const pod of (await stage.pods()).slice(0, 2)) await setFinalizers(stage, pod, ['example.com/stuck'])
      for (const pod of (await stage.pods()).slice(0, 2)) await breakPod(stage, pod)
      await stage.setImage('v2')
      await untilStalled(stage, 'PodsStuck')
    },
  },
  'invalid spec': {
    async play(stage) {
      const canary = (value: object): Promise<void> => stage.patchRollout({ spec: { strategy: { canary: value } } })
      await canary({ steps: [{ replicas: '50%' }, { replicas: '20%' }] })
      await untilStalled(stage, 'InvalidSpec')
      await canary({ steps: [{ replicas: '50%', traffic: '20%' }] })
      await untilStalled(stage, 'UnsupportedField')
      await canary({ steps })
      await stage.patchRollout({ spec: { workloadRef: { name: 'missing' } } })
      await untilStalled(stage, 'WorkloadNotFound')
    },
  },
  'before its DaemonSet, and beside another Rollout': {
    async play(stage) {
      const create = (name: string, workload: string): Promise<unknown> => {
        const manifest = rolloutManifest({}, name) as { spec: { workloadRef: { name: string } } }
        manifest.spec.workloadRef.name = workload
        return stage.client.create(resourcePaths.rollouts, manifest as never)
      }
      await create('early', 'not-there-yet')
      await create('second', stageKey.name)
      await stage.until('both are stalled', async () => (await reasonsOf(stage, ['early', 'second'])) === 'WorkloadNotFound WorkloadTaken')
    },
  },
  'policy that is missing, and then invalid': {
    async play(stage) {
      await stage.patchRollout({ metadata: { annotations: goesBy('careful') } })
      await untilStalled(stage, 'PolicyNotFound')
      const spec = { analysis: [{ name: 'none', successCondition: 'true' }] }
      await stage.client.create(resourcePaths.releasePolicies, {
        apiVersion: 'tranche.dev/v1alpha1',
        kind: 'ReleasePolicy',
        metadata: { namespace: stageKey.namespace, name: 'careful' },
        spec,
      } as never)
      await untilStalled(stage, 'PolicyInvalid')
    },
  },
  'config that may not be pinned': {
    options: { configMaps: ['agent'] },
    async play(stage) {
      await stage.patchRollout({ metadata: { annotations: goesBy('pinned') } })
      await stage.client.create(resourcePaths.releasePolicies, {
        apiVersion: 'tranche.dev/v1alpha1',
        kind: 'ReleasePolicy',
        metadata: { namespace: stageKey.namespace, name: 'pinned' },
        spec: { config: 'Pin' },
      } as never)
      await untilStalled(stage, 'ConfigUnpinned')
    },
  },
  'a rollback that the API server rejects': {
    async play(stage) {
      await stage.setImage('v2')
      await untilPausedAt(stage, 1)
      await forbidV1(stage)
      await act(stage, { id: 'stop', type: 'abort' })
      await untilStalled(stage, 'ChangeRejected')
    },
  },
  'another controller': {
    async play(stage) {
      const kruise = await startKruise(stage)
      await untilStalled(stage, 'OpenKruiseActive')
      kruise.stop()
    },
  },
  'a node that is away': {
    options: { steps: [{ replicas: '100%' }] },
    async play(stage) {
      await releaseBesideDeadNode(stage)
    },
  },
  'a version that fails on a node that its release had left': {
    options: { steps: [{ replicas: '100%' }] },
    async play(stage) {
      const node = await releaseBesideDeadNode(stage)
      const body = { metadata: { annotations: { 'sim.tranche.dev/no-registry': 'true' } } }
      await stage.client.patch(resourcePaths.nodes, { namespace: '', name: node }, { type: 'merge', body })
      await stage.simulator.nodes.revive(node)
      await untilStalled(stage, 'ReleaseFailed')
    },
  },
  'a BatchRelease of another user': {
    async play(stage) {
      await stage.client.create(resourcePaths.batchReleases, batchReleaseManifest as never)
      await stage.setImage('v2')
      await untilStalled(stage, 'ForeignControl')
    },
  },
  'definitions of another version': {
    async play(stage) {
      const path = '/spec/versions/0/schema/openAPIV3Schema/properties/status/properties/stableRevision'
      const body = [{ op: 'remove', path }] as const
      const { apiVersion, kind, metadata, spec } = await stage.client.get<KubeObject & Pick<Rollout, 'spec'>>(
        resourcePaths.rollouts,
        stageKey,
      )
      await stage.client.patch(resourcePaths.customResourceDefinitions, rolloutDefinition, { type: 'json', body })
      // A stored status stays as it is; a new Rollout reports it, once the watches have ended.
      await stage.pass(3_000)
      await stage.client.delete(resourcePaths.rollouts, stageKey)
      await stage.until('the Rollout is gone', async () => (await stage.client.list(resourcePaths.rollouts, {})).items.length === 0)
      const { name, namespace = '', annotations = {} } = metadata
      await stage.client.create(resourcePaths.rollouts, { apiVersion, kind, metadata: { name, namespace, annotations }, spec } as never)
      await untilStalled(stage, 'CRDOutdated')
    },
  },
  disabled: {
    async play(stage) {
      await stage.patchRollout({ spec: { disabled: true } })
      await untilPhase(stage, 'Disabled')
      await stage.patchRollout({ spec: { disabled: false } })
      await untilPhase(stage, 'Healthy')
      await stage.setImage('v2')
      await untilPausedAt(stage, 1)
      await stage.patchRollout({ spec: { disabled: true } })
      await untilPhase(stage, 'Disabled')
      await stage.patchDaemonSet({ spec: { updateStrategy: { type: 'RollingUpdate' } } })
      await stage.until('every node has the template', async () => {
        const { phase, currentStepState } = (await stage.rollout()).status ?? {}
        return phase === 'Disabled' && currentStepState === 'Completed'
      })
    },
  },
  'disabled after its completion': {
    async play(stage) {
      await stage.patchRollout({ metadata: { annotations: { [rolloutAnnotations.onDelete]: 'Complete' } } })
      await stage.setImage('v2')
      await untilPausedAt(stage, 1)
      await stage.patchRollout({ spec: { disabled: true } })
      await untilPhase(stage, 'Disabled')
    },
  },
  deleted: {
    async play(stage) {
      await stage.setImage('v2')
      await untilPausedAt(stage, 1)
      await stage.client.delete(resourcePaths.rollouts, stageKey)
      await stage.until('it is gone', async () => (await stage.client.list(resourcePaths.rollouts, stageKey)).items.length === 0)
    },
  },
}

const rolloutDefinition = { namespace: '', name: 'rollouts.rollouts.kruise.io' }

const batchReleaseManifest = {
  apiVersion: 'rollouts.kruise.io/v1beta1',
  kind: 'BatchRelease',
  metadata: stageKey,
  spec: {
    workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: stageKey.name },
    releasePlan: { batches: [{ canaryReplicas: '100%' }], enableExtraWorkloadForCanary: false },
  },
}

async function pauseAndResume(stage: Stage): Promise<void> {
  for (const paused of [true, false]) {
    await stage.patchRollout({ spec: { strategy: { paused } } })
    await stage.pass(3_000)
  }
}

function act(stage: Stage, action: object): Promise<void> {
  return stage.patchRollout({ metadata: { annotations: { [rolloutAnnotations.action]: JSON.stringify(action) } } })
}

async function untilStalled(stage: Stage, reason: string): Promise<void> {
  await stage.until(`it is stalled by ${reason}`, async () => (await reasonsOf(stage, [stageKey.name])) === reason)
}

async function reasonsOf(stage: Stage, names: readonly string[]): Promise<string> {
  const rollouts = await Promise.all(names.map((name) => stage.rollout(name)))
  return rollouts.map(({ status }) => status?.conditions?.find(({ type }) => type === 'Stalled')?.reason ?? '').join(' ')
}

async function untilPhase(stage: Stage, phase: string): Promise<void> {
  await stage.until(`it is ${phase}`, async () => (await stage.rollout()).status?.phase === phase)
}

/** Releases v2 on all nodes but one, which is dead. @returns its name */
async function releaseBesideDeadNode(stage: Stage): Promise<string> {
  const node = (await stage.pods())[0]?.spec?.nodeName ?? ''
  await stage.simulator.nodes.kill(node)
  await stage.pass(60_000)
  await stage.setImage('v2')
  await stage.until('it is over', async () => (await condition(stage, 'StrategyRestored'))?.reason === 'NodesLeft')
  return node
}
