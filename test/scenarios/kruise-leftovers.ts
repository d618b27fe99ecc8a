import type { BatchRelease, CanaryStatus, Rollout } from '@tranche/api-schema'
import { resourcePaths } from '@tranche/kube-client'
import type { ControllerRevision, Lease, Pod } from '@tranche/kube-types'
import { nodesOn } from './looks.ts'
import { drive, type Stage } from './stage.ts'
import { rolloutManifest, stageKey } from './stage-objects.ts'

/** State of a release when OpenKruise's manager stopped. */
export interface KruiseLeftovers {
  readonly step: number
  readonly state: CanaryStatus['currentStepState']
  /** Number of nodes on the new version, and number of nodes to update in this step. */
  readonly updated: number
  readonly size: number
  readonly reason?: string
  readonly finalisingStep?: CanaryStatus['finalisingStep']
}

/** Access to a cluster for leaving OpenKruise's objects behind, in virtual time or in real time. */
export interface KruiseCluster extends Pick<Stage, 'client' | 'until' | 'daemonSet' | 'pods' | 'setImage' | 'patchDaemonSet'> {
  readonly clock: Pick<Stage['clock'], 'nowMs' | 'setTimer' | 'run'>
}

/** Sizes 2, 5 and 10 of ten nodes. */
export const kruiseSteps = [{ replicas: 2, pause: {} }, { replicas: '50%', pause: {} }, { replicas: '100%' }]

/**
 * Leaves a release of v2 as OpenKruise's manager does when it stops in mid-release: with Rollout, BatchRelease, annotations, labels and the
 * pods that it replaced.
 */
export async function leaveAsKruise(stage: KruiseCluster, leavings: KruiseLeftovers): Promise<void> {
  const { client, clock } = stage
  const rollout = await drive(clock, client.create<Rollout>(resourcePaths.rollouts, rolloutManifest({ steps: kruiseSteps }) as never))
  await drive(clock, pushAsItsWebhookDoes(stage))
  const revisions = await twoRevisions(stage)
  const { uid } = rollout.metadata
  await drive(clock, writeRelease(stage, uid, { ...leavings, ...revisions }))
  await replacePods(stage, leavings.updated, { revision: revisions.canary, step: leavings.step })
  await drive(clock, writeRollout(stage, { ...leavings, ...revisions }))
}

/**
 * Makes OpenKruise active on the cluster: creates its webhook for DaemonSets, and a Lease that is renewed until `stop` is called.
 *
 * @param leaseDurationSeconds validity of the Lease after its last renewal; OpenKruise uses 15
 */
export async function startKruise(
  { client, clock }: Pick<KruiseCluster, 'client' | 'clock'>,
  leaseDurationSeconds = 15,
): Promise<{ stop(): void }> {
  const webhook = {
    name: 'mdaemonset-native.kb.io',
    clientConfig: { url: 'https://127.0.0.1:1/none' },
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
    failurePolicy: 'Ignore',
    rules: [{ apiGroups: ['none'], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['none'] }],
  }
  const configuration = { metadata: { name: 'kruise-rollout-mutating-webhook-configuration' }, webhooks: [webhook] }
  await drive(clock, client.create(resourcePaths.mutatingWebhookConfigurations, configuration as never))
  const key = { namespace: 'kruise-rollout', name: '71ddec2c.kruise.io' }
  await drive(clock, client.create(resourcePaths.namespaces, { metadata: { name: key.namespace } } as never))
  const spec = { holderIdentity: 'manager-0', leaseDurationSeconds, renewTime: stamp(clock.nowMs()) }
  await drive(clock, client.create<Lease>(resourcePaths.leases, { metadata: key, spec } as never))
  const renew = (): void => {
    const body = { spec: { renewTime: stamp(clock.nowMs()) } }
    client.patch(resourcePaths.leases, key, { type: 'merge', body }).catch(() => {})
    timer = clock.setTimer(2_000, renew)
  }
  let timer = clock.setTimer(2_000, renew)
  return { stop: () => timer.cancel() }
}

interface Revisions {
  readonly canary: string
  readonly stable: string
}

async function pushAsItsWebhookDoes(stage: KruiseCluster): Promise<void> {
  await stage.setImage('v2')
  await stage.patchDaemonSet({
    metadata: {
      annotations: {
        'rollouts.kruise.io/in-progressing': JSON.stringify({ rolloutName: stageKey.name }),
        'rollouts.kruise.io/daemonset-original-update-strategy': 'RollingUpdate',
      },
      labels: { 'rollouts.kruise.io/workload-type': 'daemonset' },
    },
  })
}

async function twoRevisions(stage: KruiseCluster): Promise<Revisions> {
  const { namespace } = stageKey
  const list = async (): Promise<readonly ControllerRevision[]> =>
    (await stage.client.list<ControllerRevision>(resourcePaths.controllerRevisions, { namespace })).items
  await stage.until('there are two revisions', async () => (await list()).length === 2)
  const newestFirst = (await drive(stage.clock, list())).toSorted((a, b) => b.revision - a.revision)
  const [canary = '', stable = ''] = newestFirst.map(({ metadata }) => metadata.labels?.['controller-revision-hash'])
  return { canary, stable }
}

async function writeRelease(
  stage: KruiseCluster,
  ownerUid: string,
  { canary, stable, ...left }: KruiseLeftovers & Revisions,
): Promise<void> {
  const { client } = stage
  const { apiVersion, kind, name } = { apiVersion: 'rollouts.kruise.io/v1beta1', kind: 'Rollout', name: stageKey.name }
  const release = await client.create<BatchRelease>(resourcePaths.batchReleases, {
    metadata: {
      ...stageKey,
      finalizers: ['rollouts.kruise.io/batch-release-finalizer'],
      ownerReferences: [{ apiVersion, kind, name, uid: ownerUid, controller: true, blockOwnerDeletion: true }],
    },
    spec: {
      workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name },
      releasePlan: {
        batches: kruiseSteps.map(({ replicas }) => ({ canaryReplicas: replicas })),
        batchPartition: left.step - 1,
        rolloutID: canary,
        rollingStyle: 'Partition',
        enableExtraWorkloadForCanary: false,
      },
    },
  } as never)
  const canaryStatus = {
    batchState: left.updated >= left.size ? 'Ready' : 'Upgrading',
    currentBatch: left.step - 1,
    updatedReplicas: left.updated,
  }
  const status = { phase: 'Progressing', stableRevision: stable, updateRevision: canary, observedWorkloadReplicas: 10, canaryStatus }
  await client.patch(resourcePaths.batchReleases, stageKey, { type: 'merge', body: { status } }, { subresource: 'status' })
  const control = { apiVersion, kind: 'BatchRelease', name, uid: release.metadata.uid, controller: true, blockOwnerDeletion: true }
  await stage.patchDaemonSet({
    metadata: {
      annotations: {
        'batchrelease.rollouts.kruise.io/control-info': JSON.stringify(control),
        'rollouts.kruise.io/daemonset-revision': JSON.stringify({ 'canary-revision': canary, 'stable-revision': stable }),
        'rollouts.kruise.io/daemonset-advanced-control': JSON.stringify({ partition: String(10 - left.size), 'batch-revision': canary }),
      },
    },
  })
}

/** Replaces pods as its pod-deleting controller does, with the labels of its batches. */
async function replacePods(stage: KruiseCluster, count: number, { revision, step }: { revision: string; step: number }): Promise<void> {
  const { client, clock } = stage
  const old = (await drive(clock, stage.pods())).slice(0, count)
  for (const { metadata } of old)
    await drive(clock, client.delete(resourcePaths.pods, { namespace: stageKey.namespace, name: metadata.name }))
  const areBack = async (): Promise<boolean> => {
    const { status } = await stage.daemonSet()
    return (await nodesOn(stage, 'v2')).length === count && status?.numberAvailable === 10
  }
  await stage.until(`${count} pods run v2`, areBack)
  const isNew = (pod: Pod): boolean => pod.metadata.labels?.['controller-revision-hash'] === revision
  for (const [at, { metadata }] of (await drive(clock, stage.pods())).filter(isNew).entries()) {
    const labels = { 'rollouts.kruise.io/rollout-id': revision, 'rollouts.kruise.io/rollout-batch-id': at < 2 ? '1' : String(step) }
    const key = { namespace: stageKey.namespace, name: metadata.name }
    await drive(clock, client.patch(resourcePaths.pods, key, { type: 'merge', body: { metadata: { labels } } }))
  }
}

async function writeRollout(stage: KruiseCluster, { canary, stable, ...left }: KruiseLeftovers & Revisions): Promise<void> {
  const { client, clock } = stage
  const key = stageKey
  await client.patch<Rollout>(resourcePaths.rollouts, key, {
    type: 'merge',
    body: { metadata: { finalizers: ['rollouts.kruise.io/rollout'], annotations: { 'rollouts.kruise.io/hash': 'f00d' } } },
  })
  const now = stamp(clock.nowMs())
  const step = { currentStepIndex: left.step, currentStepState: left.state }
  const canaryStatus = {
    ...step,
    nextStepIndex: left.step < kruiseSteps.length ? left.step + 1 : -1,
    finalisingStep: left.finalisingStep ?? '',
    observedWorkloadGeneration: 2,
    observedRolloutID: canary,
    rolloutHash: 'f00d',
    stableRevision: stable,
    podTemplateHash: canary,
    canaryRevision: canary,
    canaryReplicas: left.updated,
    canaryReadyReplicas: left.updated,
    lastUpdateTime: now,
    message: 'BatchRelease is at state Ready',
  }
  const progressing = {
    type: 'Progressing',
    status: 'True',
    reason: left.reason ?? 'InRolling',
    message: 'Rollout is in Progressing',
    lastUpdateTime: now,
  }
  const status = {
    ...step,
    observedGeneration: 1,
    phase: 'Progressing',
    message: 'Rollout is in step',
    conditions: [progressing],
    canaryStatus,
  }
  await client.patch(resourcePaths.rollouts, key, { type: 'merge', body: { status } }, { subresource: 'status' })
}

function stamp(ms: number): string {
  return new Date(ms).toISOString()
}
