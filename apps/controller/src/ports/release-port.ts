import type { BatchRelease, Rollout } from '@tranche/api-schema'
import type { Clock } from '@tranche/clock'
import { ownedRevisions, touchPod, type WatchedCluster, writeRecord } from '@tranche/cluster'
import type { ReleasePort, ReleaseReading, TouchablePod } from '@tranche/controllers'
import { isAppError } from '@tranche/errors'
import { type FleetPod, isDesiredNode, toFleetPod, toFleetView } from '@tranche/fleet'
import { isConflict, isInvalid, isNotFound, type KubeClient, type ResourcePath, resourcePaths } from '@tranche/kube-client'
import {
  BATCH_RELEASE_FINALIZER,
  type DaemonSet,
  daemonSetAnnotations,
  isReleaseOf,
  type KubeObject,
  type Node,
  type ObjectKey,
  type Pod,
  rolloutOf,
} from '@tranche/kube-types'
import { controlledBy, isStopAsked, type PodLabels, type StrategyScope } from '@tranche/planner'
import { type CreateRefusals, type CreateRefusalsParts, createCreateRefusals } from './create-refusals.ts'
import { patchDaemonSet } from './patch-daemon-set.ts'
import { patchFinalizer } from './patch-finalizer.ts'
import { patchOrConflict } from './patch-or-conflict.ts'
import type { SchemaWatch } from '../schema/schema-watch.ts'
import { createCallLimiter } from './call-limiter.ts'
import { createGroupPort, type GroupReader, type GroupSettings } from './group-port.ts'

/** Dependencies of {@link createReleasePort}. */
export interface ReleasePortParts {
  readonly client: KubeClient
  readonly cluster: WatchedCluster
  readonly clock: Clock
  readonly strategyScope: StrategyScope
  readonly schemas: SchemaWatch
  /** Reason of an outage of the job queue; null while it works, and without a queue. */
  readonly queueOutage: () => string | null
  /** Where the Leases of groups are; undefined where the installation allows no groups. */
  readonly groups: GroupSettings | undefined
  /** Returns a text that is unique across all processes. */
  readonly uniqueValue: () => string
}

interface ReadingParts extends ReleasePortParts {
  readonly reader: GroupReader
  readonly refusals: CreateRefusals
}

/** Maximum number of concurrent pod touches of all releases. Together with {@link LABELS} less than the client's connections. */
const TOUCHES = 16
/** Maximum number of pods labelled concurrently. */
const LABELS = 12

/** Implements the port of the BatchRelease reconciler with the API server and the watches of this process. */
export function createReleasePort(given: ReleasePortParts): ReleasePort {
  const { client, cluster } = given
  const parts: ReadingParts = { ...given, reader: createGroupPort(given), refusals: createRefusals(given) }
  const touches = createCallLimiter(parts.clock, TOUCHES)
  const labels = createCallLimiter(parts.clock, LABELS)
  return {
    ...parts.reader,
    async read(key, signal) {
      const release = cluster.overlay.batchReleases.get(key)
      if (release === undefined || !isForDaemonSet(release)) return null
      return readingOf(parts, { release, daemonSet: cluster.overlay.daemonSets.get(workloadKey(release)), live: false }, signal)
    },
    async readLive(key, signal, known) {
      const release = known?.release ?? (await getOrUndefined<BatchRelease>(client, resourcePaths.batchReleases, key, signal))
      if (release === undefined || !isForDaemonSet(release)) return null
      const stopAsked = known?.withoutRollout !== true && (await isOwnerStopping(client, release, signal))
      const daemonSet =
        known?.daemonSet ?? (await getOrUndefined<DaemonSet>(client, resourcePaths.daemonSets, workloadKey(release), signal))
      return { ...(await readingOf(parts, { release, daemonSet, live: true }, signal)), stopAsked }
    },
    async setFinalizer(release, present, signal) {
      const written = await patchFinalizer(client, resourcePaths.batchReleases, release, {
        finalizer: BATCH_RELEASE_FINALIZER,
        present,
        signal,
      })
      if (written !== undefined) cluster.overlay.batchReleases.learn(written)
    },
    patchDaemonSet: (daemonSet, patch, signal) => patchDaemonSet({ client, overlay: cluster.overlay }, daemonSet, patch, signal),
    listPods: (daemonSet, signal) => listPods(parts, daemonSet, signal),
    async listDesiredNodes({ spec }, signal) {
      const placement = spec.template.spec ?? {}
      const transform = (node: KubeObject): string | null => (isDesiredNode(placement, node as Node) ? node.metadata.name : null)
      return (await client.list<string>(resourcePaths.nodes, { transform, signal })).items
    },
    async findPods(namespace, uids, signal) {
      const transform = ({ metadata: { name, uid, deletionTimestamp } }: KubeObject): TouchablePod | null =>
        uids.has(uid) ? { namespace, name, uid, terminating: deletionTimestamp !== undefined } : null
      return (await client.list<TouchablePod>(resourcePaths.pods, { namespace, transform, signal })).items
    },
    async writeRecord(release, record, signal, exact) {
      const written = await writeRecord(client, release, record, signal, exact).catch((error: unknown) => {
        if (isAppError(error) && error.code === 'CRD_OUTDATED') parts.schemas.suspect()
        throw error
      })
      if (written !== null) cluster.overlay.batchReleases.learn(written)
      return written !== null
    },
    async patchStatus(release, patch, signal) {
      const options = { subresource: 'status', signal }
      cluster.overlay.batchReleases.learn(await patchOrConflict<BatchRelease>(client, resourcePaths.batchReleases, release, patch, options))
    },
    async touchPod(pod, signal, patienceMs) {
      const answer = await touches.take(pod.namespace, () => touchPod(client, pod, parts.uniqueValue(), signal), patienceMs)
      return answer ?? { kind: 'unclear', why: 'it waits for the touches of other pods' }
    },
    labelPod: async (pod, signal) =>
      (await labels.take(pod.namespace, () => labelPod(client, pod, signal), Number.POSITIVE_INFINITY)) === true,
  }
}

function createRefusals({ client, clock, cluster }: ReleasePortParts): CreateRefusals {
  const exists: CreateRefusalsParts['exists'] = ({ namespace = '', name, uid }) =>
    cluster.overlay.daemonSets.get({ namespace, name })?.metadata.uid === uid
  return createCreateRefusals({ client, clock, exists })
}

/** @returns false if the pod has changed in the meantime; true if it is labelled or gone */
async function labelPod(client: KubeClient, pod: PodLabels, signal: AbortSignal): Promise<boolean> {
  const { namespace, name, uid, labels, resourceVersion } = pod
  const metadata = { uid, labels, ...(resourceVersion !== null && { resourceVersion }) }
  try {
    await client.patch(resourcePaths.pods, { namespace, name }, { type: 'merge', body: { metadata } }, { signal })
    return true
  } catch (error) {
    if (isConflict(error)) return false
    // 422: another pod has taken the name.
    if (!isNotFound(error) && !isInvalid(error)) throw error
    return true
  }
}

async function readingOf(
  parts: ReadingParts,
  { release, daemonSet, live }: Pick<ReleaseReading, 'release' | 'daemonSet'> & { readonly live: boolean },
  signal: AbortSignal,
): Promise<ReleaseReading> {
  const { cluster, strategyScope } = parts
  const schemaGap = parts.schemas.gap()
  const group = await parts.reader.group(release, live, signal)
  if (daemonSet === undefined) {
    const kruise = cluster.kruise.activity()
    return {
      release,
      daemonSet,
      revisions: [],
      fleet: toFleetView([]),
      podsSeen: '',
      otherControl: 'none',
      strategyScope,
      kruise,
      schemaGap,
      group,
    }
  }
  const fleet = cluster.fleet.view(daemonSet)
  const podsSeen = cluster.pods.positionOf(daemonSet.metadata.namespace ?? '')
  const createRefused = await parts.refusals.of(daemonSet, fleet, signal)
  return {
    release,
    daemonSet,
    revisions: ownedRevisions(cluster, daemonSet),
    fleet,
    podsSeen,
    ...(createRefused !== undefined && { createRefused }),
    otherControl: await otherControl(parts.client, { release, daemonSet }, signal),
    strategyScope,
    kruise: cluster.kruise.activity(),
    schemaGap,
    queueOutage: parts.queueOutage(),
    group,
  }
}

/** Whether another BatchRelease is or was in control. Reads live, because a cache cannot distinguish deleted from not yet seen. */
async function otherControl(
  client: KubeClient,
  { release, daemonSet }: { readonly release: BatchRelease; readonly daemonSet: DaemonSet },
  signal: AbortSignal,
): Promise<ReleaseReading['otherControl']> {
  const control = controlledBy(daemonSet)
  // An unreadable control-info names no existing BatchRelease, but a record may have been lost with it (F11).
  if (control === undefined && daemonSetAnnotations.controlInfo in (daemonSet.metadata.annotations ?? {})) return 'vanished'
  if (control === undefined || control.uid === release.metadata.uid) return 'none'
  const key = { namespace: daemonSet.metadata.namespace ?? '', name: control.name }
  const other = await getOrUndefined<BatchRelease>(client, resourcePaths.batchReleases, key, signal)
  return other?.metadata.uid === control.uid ? 'exists' : 'vanished'
}

/** Lists live all pods of the namespace that the DaemonSet controls, regardless of their labels. */
async function listPods({ client, clock }: ReleasePortParts, daemonSet: DaemonSet, signal: AbortSignal): Promise<readonly FleetPod[]> {
  const { uid, namespace = '' } = daemonSet.metadata
  const transform = (object: KubeObject): FleetPod | null => {
    const pod = toFleetPod(object as Pod, undefined, { nowMs: clock.nowMs(), monotonicMs: clock.monotonicMs() })
    return pod?.ownerUid === uid ? pod : null
  }
  return (await client.list<FleetPod>(resourcePaths.pods, { namespace, transform, signal })).items
}

/** Whether the Rollout asks to stop, or is gone; false for a hand-written BatchRelease, which has no Rollout. */
async function isOwnerStopping(client: KubeClient, release: BatchRelease, signal: AbortSignal): Promise<boolean> {
  const owner = rolloutOf(release)
  if (owner === undefined) return false
  const key = { namespace: release.metadata.namespace ?? '', name: owner.name }
  const rollout = await getOrUndefined<Rollout>(client, resourcePaths.rollouts, key, signal)
  return rollout === undefined || !isReleaseOf(release, rollout) || isStopAsked(rollout, release)
}

async function getOrUndefined<T>(client: KubeClient, resource: ResourcePath, key: ObjectKey, signal: AbortSignal): Promise<T | undefined> {
  try {
    return await client.get<T>(resource, key, { signal })
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

function workloadKey(release: BatchRelease): ObjectKey {
  return { namespace: release.metadata.namespace ?? '', name: release.spec.workloadRef?.name ?? '' }
}

function isForDaemonSet({ spec }: BatchRelease): boolean {
  return spec.workloadRef?.kind === 'DaemonSet' && spec.workloadRef.apiVersion.startsWith('apps/')
}
