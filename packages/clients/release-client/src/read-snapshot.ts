import type { BatchRelease, ClusterSnapshot, ReleasePolicy, Rollout } from '@tranche/api-schema'
import { AppError } from '@tranche/errors'
import { isForbidden, isNotFound, type KubeClient, type ListOptions, type ResourcePath, resourcePaths } from '@tranche/kube-client'
import {
  isOwnedBy,
  type ControllerRevision,
  type DaemonSet,
  type KubeObject,
  type Node,
  type ObjectKey,
  type Pod,
  type PodTemplate,
  rolloutAnnotations,
  withPlainNumbers,
} from '@tranche/kube-types'
import { getOrNone } from './read-action-facts.ts'
import { rolloutNotFound } from './rollout-not-found.ts'

/** Options of {@link readSnapshot}. */
export interface ReadSnapshotOptions {
  /** Current epoch milliseconds, by this process's clock. */
  readonly nowMs: number
  readonly signal?: AbortSignal
  /**
   * Maximum size of the objects read from the namespace, in characters of JSON, because its tenants decide how many there are. @default no
   * limit
   */
  readonly mostCharacters?: number
}

/**
 * Reads the input of a forecast: the Rollout and everything that decides its release. Other objects that the reader may not read, such as
 * quotas, are named in `unread`.
 *
 * @param key of the Rollout
 * @throws {AppError} ROLLOUT_NOT_FOUND; FORECAST_INVALID above `mostCharacters`; as KubeClient
 */
export async function readSnapshot(
  client: KubeClient,
  key: ObjectKey,
  { nowMs, signal, mostCharacters = Number.POSITIVE_INFINITY }: ReadSnapshotOptions,
): Promise<ClusterSnapshot> {
  const call = { signal }
  const ofNamespace = { ...call, namespace: key.namespace, onKept: createBudget(mostCharacters) }
  const { namespace } = key
  const rollout = await getOrNone<Rollout>(client, resourcePaths.rollouts, key, call)
  if (rollout === undefined) throw rolloutNotFound(key)
  const workload: ObjectKey = { namespace, name: rollout.spec.workloadRef.name }
  const daemonSet = await getOrNone<DaemonSet>(client, resourcePaths.daemonSets, workload, call)
  const policyName = rollout.metadata.annotations?.[rolloutAnnotations.releasePolicy]
  const owned = <T extends KubeObject>(object: KubeObject): T | null =>
    daemonSet !== undefined && isOwnedBy(object, daemonSet) ? (withoutManagedFields(object) as T) : null
  const [release, policy, nodes, pods, revisions, { others, unread }] = await Promise.all([
    getOrNone<BatchRelease>(client, resourcePaths.batchReleases, key, call),
    policyName === undefined
      ? undefined
      : getOrNone<ReleasePolicy>(client, resourcePaths.releasePolicies, { namespace, name: policyName }, call),
    client.list<Node>(resourcePaths.nodes, { ...call, transform: toNode }),
    client.list<Pod>(resourcePaths.pods, { ...ofNamespace, ...labelsOf(daemonSet), transform: owned<Pod> }),
    client.list<ControllerRevision>(resourcePaths.controllerRevisions, { ...ofNamespace, transform: owned<ControllerRevision> }),
    readOthers(client, daemonSet?.spec.template, ofNamespace),
  ])
  return {
    takenAtMs: nowMs,
    rollout,
    release,
    policy,
    daemonSet: withPlainNumbers(daemonSet),
    revisions: daemonSet === undefined ? [] : withPlainNumbers(revisions.items),
    nodes: nodes.items,
    pods: daemonSet === undefined ? [] : withPlainNumbers(pods.items),
    others,
    unread,
  }
}

/** @returns a function that spends characters of a budget. @throws {AppError} FORECAST_INVALID if nothing is left */
function createBudget(mostCharacters: number): (characters: number) => void {
  let left = mostCharacters
  return (characters) => {
    left -= characters
    if (left >= 0) return
    const most = Math.floor(mostCharacters / 1024 / 1024)
    throw new AppError('FORECAST_INVALID', `the pods, revisions, service accounts, quotas and limits of the namespace exceed ${most} MiB`, {
      hint: 'Run tranche plan, which has no such limit.',
    })
  }
}

/** Limits the read to the pods that are needed. */
function labelsOf(daemonSet: DaemonSet | undefined): { readonly labelSelector?: string } {
  const labels = Object.entries(daemonSet?.spec.selector?.matchLabels ?? {})
  return labels.length === 0 ? {} : { labelSelector: labels.map(([key, value]) => `${key}=${value}`).join(',') }
}

interface Others {
  readonly others: readonly KubeObject[]
  readonly unread: readonly string[]
}

/** Objects that decide whether the API server accepts a new pod. */
async function readOthers(client: KubeClient, template: PodTemplate | undefined, ofNamespace: ListOptions<KubeObject>): Promise<Others> {
  const { priorityClassName } = (template?.spec ?? {}) as { readonly priorityClassName?: string }
  const list = (resource: ResourcePath): Promise<readonly KubeObject[]> =>
    client.list<KubeObject>(resource, ofNamespace).then(({ items }) => items)
  const parts = await Promise.all([
    readOther({ kind: 'ServiceAccount', apiVersion: 'v1', what: 'service accounts' }, list(serviceAccounts)),
    readOther({ kind: 'ResourceQuota', apiVersion: 'v1', what: 'quotas' }, list(resourceQuotas)),
    readOther({ kind: 'LimitRange', apiVersion: 'v1', what: 'limit ranges' }, list(limitRanges)),
    ...(priorityClassName === undefined
      ? []
      : [
          readOther(
            { kind: 'PriorityClass', apiVersion: 'scheduling.k8s.io/v1', what: `priority class ${priorityClassName}` },
            client
              .get<KubeObject>(priorityClasses, { namespace: '', name: priorityClassName }, { signal: ofNamespace.signal })
              .then((one) => [one]),
          ),
        ]),
  ])
  return { others: parts.flatMap(({ others }) => others), unread: parts.flatMap(({ unread }) => unread) }
}

interface Other {
  readonly kind: string
  readonly apiVersion: string
  readonly what: string
}

/** Names objects that may not be read, or do not exist. */
async function readOther({ kind, apiVersion, what }: Other, read: Promise<readonly KubeObject[]>): Promise<Others> {
  try {
    return { others: (await read).map((object) => ({ ...withoutManagedFields(object), apiVersion, kind })), unread: [] }
  } catch (error) {
    if (!isForbidden(error) && !isNotFound(error)) throw error
    return { others: [], unread: [isForbidden(error) ? `${what}, which may not be read` : `${what}, which does not exist`] }
  }
}

const serviceAccounts: ResourcePath = { group: '', version: 'v1', plural: 'serviceaccounts', namespaced: true }
const resourceQuotas: ResourcePath = { group: '', version: 'v1', plural: 'resourcequotas', namespaced: true }
const limitRanges: ResourcePath = { group: '', version: 'v1', plural: 'limitranges', namespaced: true }
const priorityClasses: ResourcePath = { group: 'scheduling.k8s.io', version: 'v1', plural: 'priorityclasses', namespaced: false }

/** Drops the list of images, which is most of a node's size and irrelevant to a release. */
function toNode(object: KubeObject): Node {
  const { images: _, ...status } = ((object as Node).status ?? {}) as NonNullable<Node['status']> & { readonly images?: unknown }
  return { ...withoutManagedFields(object), status } as Node
}

function withoutManagedFields<T extends KubeObject>(object: T): T {
  const { managedFields: _, ...metadata } = object.metadata as T['metadata'] & { readonly managedFields?: unknown }
  return { ...object, metadata }
}
