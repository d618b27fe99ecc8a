import { type ContainerStatus, type Pod, REVISION_HASH_LABEL } from '@tranche/kube-types'

/** UID of the DaemonSet that owns every built pod, unless a test sets another. */
export const DAEMON_SET_UID = 'daemonset-uid'

/** DaemonSet of that UID, for fleet views; it wants every node without a taint. */
export const FLEET_OWNER = { metadata: { namespace: 'demo', uid: DAEMON_SET_UID }, spec: { template: {} } }

/** Fields of a pod that a test sets. Default: bound to `node`, Running and Ready since the epoch, on revision `old`. */
export interface PodFields {
  readonly node: string
  readonly name?: string
  readonly uid?: string
  readonly resourceVersion?: string
  readonly ownerUid?: string
  /** Null omits the label. */
  readonly hash?: string | null
  /** RFC 3339. */
  readonly createdAt?: string
  readonly terminating?: boolean
  /** Finalizers that alone keep a terminating pod. */
  readonly keptBy?: readonly string[]
  /** Pinned to its node and not yet bound by the scheduler. */
  readonly unscheduled?: boolean
  readonly phase?: string
  readonly ready?: boolean
  /** `lastTransitionTime` of the Ready condition, RFC 3339. */
  readonly readyStamp?: string
  /** Statuses of its containers. */
  readonly containers?: readonly ContainerStatus[]
}

/** Builds a pod that a DaemonSet controls, as the API server serves it. The node's name determines its name and uid. */
export function aPod(fields: PodFields): Pod {
  const name = fields.name ?? `pod-${fields.node}`
  const labels = fields.hash === null ? {} : { [REVISION_HASH_LABEL]: fields.hash ?? 'old' }
  const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', uid: fields.ownerUid ?? DAEMON_SET_UID, controller: true }
  return {
    metadata: {
      namespace: 'demo',
      name,
      uid: fields.uid ?? `uid-${name}`,
      resourceVersion: fields.resourceVersion ?? '10',
      creationTimestamp: fields.createdAt ?? '2026-01-01T00:00:00Z',
      labels,
      ownerReferences: [owner],
      ...(fields.terminating === true && { deletionTimestamp: '2026-01-02T00:00:00Z' }),
      ...(fields.keptBy !== undefined && { deletionGracePeriodSeconds: 0, finalizers: [...fields.keptBy] }),
    },
    spec: fields.unscheduled === true ? { affinity: pinnedTo(fields.node) } : { nodeName: fields.node },
    status: statusOf(fields),
  }
}

/** @returns node that the pod is bound to, or pinned to while it waits for the scheduler */
export function nodeOfPod({ spec }: Pod): string {
  const terms = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []
  return spec?.nodeName ?? terms[0]?.matchFields?.[0]?.values?.[0] ?? ''
}

function pinnedTo(node: string): NonNullable<NonNullable<Pod['spec']>['affinity']> {
  const pin = { key: 'metadata.name', operator: 'In' as const, values: [node] }
  return { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields: [pin] }] } } }
}

function statusOf({ phase = 'Running', ready = true, readyStamp = '1970-01-01T00:00:00Z', containers }: PodFields): Pod['status'] & object {
  return {
    phase,
    conditions: [{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: readyStamp }],
    ...(containers !== undefined && { containerStatuses: containers }),
  }
}
