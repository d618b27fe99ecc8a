import type { BatchRelease, Rollout, RolloutStatus } from '@tranche/api-schema'
import { daemonSetsBoundTo, ownedRevisions, type WatchedCluster } from '@tranche/cluster'
import type { RolloutPort, RolloutReading } from '@tranche/controllers'
import { toFleetView } from '@tranche/fleet'
import { isBadRequest, isNotFound, type JsonPatchOperation, type KubeClient, resourcePaths } from '@tranche/kube-client'
import {
  BATCH_RELEASE_FINALIZER,
  type DaemonSet,
  daemonSetAnnotations,
  keyOf,
  type ObjectKey,
  ROLLOUT_FINALIZER,
  ROLLOUTS_API_VERSION,
} from '@tranche/kube-types'
import { selectsNodes, type StrategyScope, type WorkloadReading } from '@tranche/planner'
import { isDaemonSetRef } from '@tranche/validation'
import { patchDaemonSet } from './patch-daemon-set.ts'
import { patchFinalizer } from './patch-finalizer.ts'
import { patchOrConflict, patchOrRejection } from './patch-or-conflict.ts'
import { policyOf } from './policy-of.ts'
import type { SchemaWatch } from '../schema/schema-watch.ts'
import { bindingOf, workloadHolder } from './workload-holder.ts'

/** Dependencies of {@link createRolloutPort}. */
export interface RolloutPortParts {
  readonly client: KubeClient
  readonly cluster: WatchedCluster
  readonly strategyScope: StrategyScope
  readonly schemas: SchemaWatch
}

/** Implements the port of the Rollout reconciler with the API server and the watches of this process. */
export function createRolloutPort(parts: RolloutPortParts): RolloutPort {
  const { client, schemas } = parts
  const { overlay } = parts.cluster
  return {
    read: (key) => readSituation(parts, key),
    async releaseExists(rollout, signal) {
      return (await readOrNull(() => client.get(resourcePaths.batchReleases, keyOf(rollout), { signal }))) !== null
    },
    async isNewest({ metadata }, signal) {
      const live = await readOrNull(() => client.get<Rollout>(resourcePaths.rollouts, keyOf({ metadata }), { signal }))
      return live?.metadata.uid === metadata.uid && live.metadata.generation === metadata.generation
    },
    async setFinalizer(rollout, present, signal) {
      const written = await patchFinalizer(client, resourcePaths.rollouts, rollout, { finalizer: ROLLOUT_FINALIZER, present, signal })
      if (written !== undefined) overlay.rollouts.learn(written)
    },
    async setAnnotations(rollout, annotations, signal) {
      const patch = annotationsPatch(rollout, annotations)
      overlay.rollouts.learn(await patchOrConflict<Rollout>(client, resourcePaths.rollouts, rollout, patch, { signal }))
    },
    async patchDaemonSet(daemonSet, patch, signal) {
      await patchDaemonSet({ client, overlay }, daemonSet, patch, signal)
    },
    async createRelease(rollout, spec, signal) {
      const created = (await client.create(resourcePaths.batchReleases, newRelease(rollout, spec), { signal })) as unknown as BatchRelease
      if (isCut(spec, created.spec)) schemas.suspect()
      overlay.batchReleases.learn(created)
    },
    async updateRelease(release, spec, signal) {
      // Tests the generation, not the resourceVersion: frequent record writes of executors must not delay a pause.
      const patch = [
        { op: 'test', path: '/metadata/uid', value: release.metadata.uid },
        { op: 'test', path: '/metadata/generation', value: release.metadata.generation },
        { op: 'replace', path: '/spec', value: spec },
      ] as const
      const updated = await patchOrRejection(client, resourcePaths.batchReleases, release, patch, {
        signal,
        learn: (live) => overlay.batchReleases.learn(live),
        isSame: ({ metadata, status }) =>
          metadata.generation === release.metadata.generation && status?.flight?.workloadUid === release.status?.flight?.workloadUid,
      })
      if (isCut(spec, updated.spec)) schemas.suspect()
      overlay.batchReleases.learn(updated)
    },
    async deleteRelease(release, signal) {
      const options = { preconditions: { uid: release.metadata.uid }, signal }
      const left = await client.delete<BatchRelease>(resourcePaths.batchReleases, keyOf(release), options)
      if (left?.metadata.deletionTimestamp !== undefined) overlay.batchReleases.learn(left)
    },
    async writeStatus(rollout, status, signal) {
      const written = await updateStatus({ client, schemas }, { rollout, status, signal })
      if (isCut(status, written.status ?? {})) schemas.suspect()
      overlay.rollouts.learn(written)
    },
  }
}

async function readOrNull<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read()
  } catch (error) {
    if (isNotFound(error)) return null
    throw error
  }
}

function readSituation({ cluster, strategyScope, schemas }: RolloutPortParts, key: ObjectKey): RolloutReading | null {
  const { overlay } = cluster
  const rollout = overlay.rollouts.get(key)
  if (rollout === undefined) return null
  const workload = workloadOf(cluster, rollout, key)
  return {
    rollout,
    ...(workload ?? { daemonSet: undefined, revisions: [], fleet: toFleetView([]) }),
    former: formerOf(cluster, rollout, key),
    release: overlay.batchReleases.get(key),
    others: holdersOf(cluster, rollout, workload?.daemonSet),
    policy: policyOf(cluster, rollout, key),
    strategyScope,
    kruise: cluster.kruise.activity(),
    schemaGap: schemas.gap(),
  }
}

function workloadOf(cluster: WatchedCluster, { spec }: Rollout, { namespace }: ObjectKey): WorkloadReading | undefined {
  if (!isDaemonSetRef(spec.workloadRef)) return undefined
  const daemonSet = cluster.overlay.daemonSets.get({ namespace, name: spec.workloadRef.name })
  return daemonSet === undefined ? undefined : readingOf(cluster, daemonSet)
}

/** Only the Rollout that holds the DaemonSet matters to the others. */
function holdersOf(cluster: WatchedCluster, { metadata, spec }: Rollout, daemonSet: DaemonSet | undefined): readonly Rollout[] {
  const workload = { namespace: metadata.namespace ?? '', name: spec.workloadRef.name }
  const holder = workloadHolder(cluster, workload, bindingOf(daemonSet))
  return holder === undefined ? [] : [holder]
}

/** A DaemonSet that `workloadRef` named before and that is still bound. */
function formerOf(cluster: WatchedCluster, { spec }: Rollout, { namespace, name }: ObjectKey): WorkloadReading | undefined {
  const workload = isDaemonSetRef(spec.workloadRef) ? spec.workloadRef.name : null
  for (const { metadata } of daemonSetsBoundTo(cluster, { namespace, name })) {
    if (metadata.name === workload) continue
    // The watch may lag behind our own write, which the overlay has.
    const daemonSet = cluster.overlay.daemonSets.get({ namespace, name: metadata.name })
    if (daemonSet !== undefined && isBoundTo(daemonSet.metadata, name)) return readingOf(cluster, daemonSet)
  }
  return undefined
}

function isBoundTo({ annotations }: DaemonSet['metadata'], rollout: string): boolean {
  return annotations?.[daemonSetAnnotations.rollout] === rollout
}

function readingOf(cluster: WatchedCluster, daemonSet: DaemonSet): WorkloadReading {
  return { daemonSet, revisions: ownedRevisions(cluster, daemonSet), fleet: cluster.fleet.view(daemonSet) }
}

/** Tests the nodes of steps, too: under CRDs that lack them, the API server rejects the write instead of dropping them. */
function annotationsPatch(rollout: Rollout, annotations: Readonly<Record<string, string | null>>): readonly JsonPatchOperation[] {
  const { resourceVersion, annotations: before } = rollout.metadata
  const all = Object.entries({ ...before, ...annotations }).filter(([, value]) => value !== null)
  const steps = rollout.spec.strategy.canary?.steps ?? []
  return [
    { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion },
    ...steps.flatMap(({ nodes }, at) =>
      nodes === undefined ? [] : [{ op: 'test' as const, path: `/spec/strategy/canary/steps/${at}/nodes`, value: nodes }],
    ),
    { op: 'add', path: '/metadata/annotations', value: Object.fromEntries(all) },
  ]
}

/** F11: it has its finalizer from the beginning, which saves a request. */
function newRelease({ metadata }: Rollout, spec: BatchRelease['spec']) {
  const { name, namespace = '', uid } = metadata
  const owner = { apiVersion: ROLLOUTS_API_VERSION, kind: 'Rollout', name, uid, controller: true, blockOwnerDeletion: true }
  const created = { name, namespace, ownerReferences: [owner], finalizers: [BATCH_RELEASE_FINALIZER] }
  return { apiVersion: ROLLOUTS_API_VERSION, kind: 'BatchRelease', metadata: created, spec }
}

/** Arguments of a status update. */
interface StatusWrite {
  readonly rollout: Rollout
  readonly status: RolloutStatus
  readonly signal: AbortSignal
}

/**
 * Updates the status with strict field validation: under CRDs that lack our fields, the API server rejects it (400) instead of dropping
 * them. CRDs may change up to a second before our watches end. A Rollout in deletion has nothing to remember and is not validated.
 */
async function updateStatus({ client, schemas }: Pick<RolloutPortParts, 'client' | 'schemas'>, write: StatusWrite): Promise<Rollout> {
  const { rollout, status, signal } = write
  const remembers = (rollout.status !== undefined || selectsNodes(rollout)) && rollout.metadata.deletionTimestamp === undefined
  const options = { subresource: 'status', ...(remembers && { fieldValidation: 'Strict' as const }), signal }
  try {
    return await client.update<Rollout>(resourcePaths.rollouts, { ...rollout, status }, options)
  } catch (error) {
    if (isBadRequest(error)) schemas.suspect()
    throw error
  }
}

/** Whether the API server dropped a top-level field from a write. */
function isCut(sent: object, answered: object): boolean {
  return Object.entries(sent).some(([name, value]) => value !== undefined && !Object.hasOwn(answered, name))
}
