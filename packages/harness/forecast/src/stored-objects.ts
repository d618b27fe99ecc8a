import type { BatchRelease, ClusterSnapshot, ReleasePolicy, ReleasePolicySpec, Rollout } from '@tranche/api-schema'
import { canonicalJson, type DaemonSet, type KubeObject, type Node, type Pod } from '@tranche/kube-types'
import type { ApiObject } from '@tranche/sim-api'
import { DEAD_ANNOTATION, UNFIT_ANNOTATION } from '@tranche/sim-nodes'

/**
 * Objects of a snapshot as an API server stores them, without the DaemonSet and its revisions. Omits what a copy of the cluster must not
 * use or never reads: notification receivers, metric providers, images and managed fields.
 */
export function storedObjects(snapshot: ClusterSnapshot, refused: ReadonlySet<string>): readonly ApiObject[] {
  const { rollout, release, policy, nodes, pods, others } = snapshot
  const namespace = rollout.metadata.namespace ?? 'default'
  return [
    named('v1', 'Namespace', namespaceObject(namespace)),
    ...serviceAccounts(snapshot, namespace).map((account) => named('v1', 'ServiceAccount', account)),
    ...nodes.map((node) => named('v1', 'Node', toStoredNode(node))),
    ...pods.map((pod) => named('v1', 'Pod', toStoredPod(pod))),
    ...(policy === undefined ? [] : [named('tranche.dev/v1alpha1', 'ReleasePolicy', toStoredPolicy(policy, refused))]),
    named('rollouts.kruise.io/v1beta1', 'Rollout', toStoredRollout(rollout)),
    ...(release === undefined ? [] : [named('rollouts.kruise.io/v1beta1', 'BatchRelease', toStoredRelease(release, refused))]),
    ...others.map((object) => bare(object) as unknown as ApiObject),
  ]
}

/** DaemonSet of a snapshot as an API server stores it. */
export function storedDaemonSet(daemonSet: DaemonSet): ApiObject {
  return named('apps/v1', 'DaemonSet', { ...daemonSet, spec: withoutNulls(daemonSet.spec) } as KubeObject)
}

/**
 * Revisions, once the DaemonSet is stored. The revision of the current template gets the template with the server's defaults: without them
 * it would be another revision.
 */
export function storedRevisions({ revisions, daemonSet }: ClusterSnapshot, stored: ApiObject): readonly ApiObject[] {
  const live = canonicalJson(withoutNulls(daemonSet?.spec.template))
  const { template } = (stored as unknown as DaemonSet).spec
  return revisions.map((revision) => {
    const { $patch, ...held } = templateOf(withoutNulls(revision.data))
    const data = canonicalJson(held) === live ? { spec: { template: { $patch, ...template } } } : withoutNulls(revision.data)
    return named('apps/v1', 'ControllerRevision', { ...revision, data } as KubeObject)
  })
}

function templateOf(data: unknown): Readonly<Record<string, unknown>> {
  return (data as { readonly spec?: { readonly template?: Readonly<Record<string, unknown>> } } | undefined)?.spec?.template ?? {}
}

/** Whether a pod is starting: neither Ready nor failing. */
export function isStarting({ metadata, status }: Pod): boolean {
  if (metadata.deletionTimestamp !== undefined || (status?.phase !== 'Pending' && status?.phase !== 'Running')) return false
  if (status.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True')) return false
  return !(status.containerStatuses ?? []).some(
    ({ restartCount = 0, state }) =>
      restartCount > 0 || !['ContainerCreating', 'PodInitializing', undefined].includes(state?.waiting?.reason),
  )
}

function named(apiVersion: string, kind: string, object: KubeObject): ApiObject {
  return bare({ ...object, apiVersion, kind }) as unknown as ApiObject
}

function bare(object: KubeObject): KubeObject {
  const { managedFields: _, ...metadata } = object.metadata as KubeObject['metadata'] & { readonly managedFields?: unknown }
  return { ...object, metadata }
}

function namespaceObject(name: string): KubeObject {
  return { ...invented(name), spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } } as KubeObject
}

/** Pod admission requires that the service account exists; an unread account is assumed to exist. */
function serviceAccounts({ daemonSet, others }: ClusterSnapshot, namespace: string): readonly KubeObject[] {
  const { serviceAccountName = 'default' } = (daemonSet?.spec.template.spec ?? {}) as { readonly serviceAccountName?: string }
  if (others.some(({ kind }) => kind === 'ServiceAccount')) return []
  return [...new Set(['default', serviceAccountName])].map((name) => {
    const { metadata } = invented(name)
    return { metadata: { ...metadata, namespace } }
  })
}

function invented(name: string): KubeObject {
  return { metadata: { name, uid: `forecast-${name}`, resourceVersion: '1', creationTimestamp: '2000-01-01T00:00:00Z' } }
}

/** A silent kubelet stays silent, and a kubelet that reports its node as not Ready continues to do so. */
function toStoredNode(node: Node): KubeObject {
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready')?.status
  const { images: _, ...status } = (node.status ?? {}) as Node['status'] & { readonly images?: unknown }
  const said = ready === 'True' ? {} : { [ready === 'False' ? UNFIT_ANNOTATION : DEAD_ANNOTATION]: 'true' }
  const metadata = { ...node.metadata, annotations: { ...node.metadata.annotations, ...said } }
  return { ...node, metadata, status } as KubeObject
}

/** Parts of the pod spec that matter for a release. The rest belongs to the kubelet, and a server might reject it from another writer. */
const specFields = [
  'nodeName',
  'hostNetwork',
  'affinity',
  'tolerations',
  'priority',
  'preemptionPolicy',
  'restartPolicy',
  'schedulerName',
  'serviceAccountName',
  'terminationGracePeriodSeconds',
] as const

/** A starting pod starts from the beginning; the life cycle decides for how much longer. */
function toStoredPod(pod: Pod): KubeObject {
  const whole = (pod.spec ?? {}) as Readonly<Record<string, unknown>>
  const spec = {
    ...Object.fromEntries(specFields.flatMap((field) => (whole[field] == null ? [] : [[field, whole[field]]]))),
    ...Object.fromEntries(
      (['containers', 'initContainers'] as const).flatMap((field) =>
        Array.isArray(whole[field]) ? [[field, whole[field].map(toStoredContainer)]] : [],
      ),
    ),
  }
  if (!isStarting(pod)) return { ...pod, spec } as KubeObject
  const conditions = (pod.status?.conditions ?? []).filter(({ type }) => type === 'PodScheduled')
  return { ...pod, spec, status: { phase: 'Pending', conditions } } as KubeObject
}

function toStoredContainer({ name, image, resources, ports }: Readonly<Record<string, unknown>>): object {
  return { name, image, ...(resources != null && { resources }), ...(ports != null && { ports }) }
}

/** Null counts as absent: revisions are compared as text, and only some servers write nulls. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).flatMap(([key, one]) => (one === null ? [] : [[key, withoutNulls(one)]])))
}

/** What a policy asks for in vain stays: nodes keep their pods then. */
function toStoredPolicy(policy: ReleasePolicy, refused: ReadonlySet<string>): KubeObject {
  const { analysis: _analysis, notify: _notify, config: _config, drain, downtime, ...spec } = policy.spec
  return { ...policy, spec: { ...spec, ...nodeRules({ drain, downtime }, refused) } } as KubeObject
}

function toStoredRollout(rollout: Rollout): KubeObject {
  if (rollout.status === undefined) return rollout
  const { notifications: _, ...status } = rollout.status
  return { ...rollout, status } as KubeObject
}

function toStoredRelease(release: BatchRelease, refused: ReadonlySet<string>): KubeObject {
  const { analysis: _analysis, drain, downtime, ...others } = release.spec.tranche ?? {}
  const tranche = { ...others, ...nodeRules({ drain, downtime }, refused) }
  return { ...release, spec: { ...release.spec, ...(release.spec.tranche && { tranche }) } } as KubeObject
}

type NodeRules = Pick<ReleasePolicySpec, 'drain' | 'downtime'>

/** No other program takes nodes down in a forecast, and it knows nothing of the day before. */
function nodeRules({ drain, downtime }: NodeRules, refused: ReadonlySet<string>): NodeRules {
  const { nodeLock, perDay, ...others } = downtime ?? {}
  const kept = {
    ...others,
    ...(nodeLock !== undefined && refused.has('NodeLockNotAllowed') && { nodeLock }),
    ...(perDay !== undefined && refused.has('DowntimeNotAllowed') && { perDay }),
  }
  return {
    ...(drain !== undefined && refused.has('DrainNotAllowed') && { drain }),
    ...(downtime !== undefined && { downtime: kept }),
  }
}
