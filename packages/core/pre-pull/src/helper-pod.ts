import { type ContainerStatus, type Pod, PRE_PULL_LABEL, PRE_PULL_SEEN, parseTime, clipText } from '@tranche/kube-types'

/** What the status of a helper pod says about its images. */
export type PullState =
  | { readonly kind: 'pulling' }
  /** All images are on the node. */
  | { readonly kind: 'pulled' }
  /** An image cannot be pulled, or the kubelet rejected the pod. */
  | { readonly kind: 'failed'; readonly message: string }

/** The kept part of a helper pod. */
export interface HelperPod {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly resourceVersion: string
  readonly node: string
  /** Revision whose images it pulls. */
  readonly revision: string
  /** BatchRelease that owns it. */
  readonly release: { readonly name: string; readonly uid: string }
  /** Version of the BatchRelease in which its creator saw that the node needs it; empty for a pod of an older version. */
  readonly seenAt: string
  /** Time of its creation by the clock of the API server, in epoch milliseconds. */
  readonly createdMs: number
  readonly state: PullState
}

/** Maximum length of what a kubelet says about a failed pull. */
const WORDS_MAX = 300

/** Waiting reasons of a container whose image could not be pulled. @see pkg/kubelet/images/types.go */
const FAILED: ReadonlySet<string> = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'ErrImageNeverPull',
  'ImageInspectError',
  'RegistryUnavailable',
  'SignatureValidationFailed',
])

/** Waiting reasons of a container whose image was pulled. @see pkg/kubelet/container/sync_result.go */
const AFTER_PULL: ReadonlySet<string> = new Set([
  'CreateContainerConfigError',
  'PreCreateHookError',
  'CreateContainerError',
  'PreStartHookError',
  'PostStartHookError',
  'RunContainerError',
  'CrashLoopBackOff',
])

/** Waiting reason of a kubelet between two attempts; its message may not name the cause. */
const BACK_OFF = 'ImagePullBackOff'

/**
 * @param previous the same pod as kept before
 * @returns null for a pod that is no helper pod, or is being deleted
 */
export function toHelperPod(pod: Pod, previous: HelperPod | undefined): HelperPod | null {
  const {
    namespace = '',
    name,
    uid,
    resourceVersion,
    labels,
    annotations,
    ownerReferences = [],
    creationTimestamp = '',
    deletionTimestamp,
  } = pod.metadata
  const revision = labels?.[PRE_PULL_LABEL]
  const owner = ownerReferences.find(({ controller, kind }) => controller === true && kind === 'BatchRelease')
  const node = pod.spec?.nodeName
  if (revision === undefined || owner === undefined || node === undefined || deletionTimestamp !== undefined) return null
  const release = { name: owner.name, uid: owner.uid }
  const seenAt = annotations?.[PRE_PULL_SEEN] ?? ''
  const createdMs = parseTime(creationTimestamp)
  if (createdMs === null) return null
  return { namespace, name, uid, resourceVersion, node, revision, release, seenAt, createdMs, state: stateOf(pod, previous?.state) }
}

function stateOf({ status, spec }: Pod, previous: PullState | undefined): PullState {
  const { phase, containerStatuses = [], reason = '', message = '' } = (status ?? {}) as NonNullable<Pod['status']> & PodWords
  const { containers = [] } = (spec ?? {}) as { readonly containers?: readonly { readonly name: string; readonly image?: string }[] }
  const imageOf = (name: string): string => containers.find((container) => container.name === name)?.image ?? ''
  const failed = containerStatuses.find(({ state }) => FAILED.has(state?.waiting?.reason ?? ''))
  if (failed !== undefined) return failure(failed, imageOf(failed.name), previous)
  if (containers.length > 0 && containerStatuses.length === containers.length && containerStatuses.every(isPulled))
    return { kind: 'pulled' }
  if (phase === 'Failed') return { kind: 'failed', message: clipText(`the node rejected the helper pod: ${reason} ${message}`, WORDS_MAX) }
  return { kind: 'pulling' }
}

interface PodWords {
  readonly reason?: string
  readonly message?: string
}

/** The cause that was reported first stays: the words do not change with each attempt of the kubelet. */
function failure({ state }: ContainerStatus, image: string, previous: PullState | undefined): PullState {
  const { reason = '', message = '' } = state?.waiting ?? {}
  if (previous?.kind === 'failed' && reason === BACK_OFF) return previous
  return { kind: 'failed', message: clipText(`cannot pull image "${image}": ${reason}${message === '' ? '' : `: ${message}`}`, WORDS_MAX) }
}

function isPulled(status: ContainerStatus & { readonly imageID?: string }): boolean {
  const { waiting, terminated, running } = (status.state ?? {}) as NonNullable<ContainerStatus['state']> & { readonly running?: object }
  if (AFTER_PULL.has(waiting?.reason ?? '') || terminated !== undefined || running !== undefined) return true
  return status.imageID !== undefined && status.imageID !== ''
}
