import { type OwnerReference, PRE_PULL_LABEL, PRE_PULL_PROGRAM, PRE_PULL_SEEN, ROLLOUTS_API_VERSION, sha256Hex } from '@tranche/kube-types'

/** An image of a template, and when the kubelet pulls it. */
export interface PulledImage {
  readonly image: string
  /** @see core/v1 Container, imagePullPolicy */
  readonly policy: 'Always' | 'IfNotPresent'
}

/** The parts of a pod template that decide how its images are pulled. @see core/v1 PodSpec */
interface PullingSpec {
  readonly containers?: readonly PullingContainer[] | null
  readonly initContainers?: readonly PullingContainer[] | null
  readonly imagePullSecrets?: readonly { readonly name?: string }[]
  readonly serviceAccountName?: string
  readonly runtimeClassName?: string
  readonly hostNetwork?: boolean
}

interface PullingContainer {
  readonly image?: string
  readonly imagePullPolicy?: string
}

/** Subject of a helper pod. */
export interface HelperTarget {
  readonly daemonSet: { readonly namespace: string; readonly name: string }
  /** Template whose images are pulled. */
  readonly template: { readonly spec?: unknown }
  /** `controller-revision-hash` of the template. */
  readonly revision: string
  /** BatchRelease that owns the pod: the garbage collector deletes the pod with it. */
  readonly release: { readonly name: string; readonly uid: string }
  /** Version of the BatchRelease in which its creator saw that the node needs it. */
  readonly seenAt: string
  readonly node: string
}

/** A helper pod as it is created. */
export interface HelperManifest {
  readonly apiVersion: 'v1'
  readonly kind: 'Pod'
  readonly metadata: {
    readonly namespace: string
    readonly name: string
    readonly labels: Readonly<Record<string, string>>
    readonly annotations: Readonly<Record<string, string>>
    readonly ownerReferences: readonly OwnerReference[]
  }
  readonly spec: Readonly<Record<string, unknown>>
}

/** Length of names that leaves room for the suffix: a name has at most 63 characters where it becomes a host name. */
const NAME_MAX = 45

/** Fits every node. It is stated for quotas that ask for it, and where a LimitRange would request something else. */
const NOTHING = {
  requests: { cpu: '0', memory: '0', 'ephemeral-storage': '0' },
  limits: { cpu: '0', memory: '0' },
}

/** Linux kubelets refuse to create these containers after they have pulled the image: user 0 is root. */
const NEVER_CREATED = {
  runAsNonRoot: true,
  runAsUser: 0,
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
}

/** @returns the images that a kubelet pulls for the template, each once; those that it never pulls are left out */
export function pulledImages(template: { readonly spec?: unknown }): readonly PulledImage[] {
  const { containers, initContainers } = (template.spec ?? {}) as PullingSpec
  const images = new Map<string, PulledImage['policy']>()
  for (const { image = '', imagePullPolicy } of [...(initContainers ?? []), ...(containers ?? [])]) {
    if (image === '' || imagePullPolicy === 'Never') continue
    const policy = imagePullPolicy === 'Always' || images.get(image) === 'Always' ? 'Always' : 'IfNotPresent'
    images.set(image, policy)
  }
  return [...images].map(([image, policy]) => ({ image, policy }))
}

/**
 * The helper pod for one node: bound to it without a scheduler, with a container for each image, as the pods of the template would pull it.
 * Nothing ever runs in it. The same target has the same name, so two executors cannot create two.
 *
 * @returns null if there is nothing to pull
 */
export function helperManifest(target: HelperTarget): HelperManifest | null {
  const { daemonSet, template, revision, release, seenAt, node } = target
  const images = pulledImages(template)
  if (images.length === 0) return null
  const spec = (template.spec ?? {}) as PullingSpec
  const id = sha256Hex(JSON.stringify([release.uid, revision, node, images])).slice(0, 10)
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace: daemonSet.namespace,
      name: `${daemonSet.name.slice(0, NAME_MAX).replace(/[-.]+$/, '')}-pull-${id}`,
      labels: { [PRE_PULL_LABEL]: revision, 'app.kubernetes.io/managed-by': 'tranche' },
      annotations: { [PRE_PULL_SEEN]: seenAt },
      ownerReferences: [ownerOf(release)],
    },
    spec: {
      nodeName: node,
      containers: images.map(toContainer),
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: 0,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      tolerations: [{ operator: 'Exists' }],
      securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
      ...(spec.serviceAccountName !== undefined && { serviceAccountName: spec.serviceAccountName }),
      ...(spec.imagePullSecrets !== undefined && { imagePullSecrets: spec.imagePullSecrets }),
      ...(spec.runtimeClassName !== undefined && { runtimeClassName: spec.runtimeClassName }),
      // Without the network of the node, a pod waits for the very agent that provides networks.
      ...(spec.hostNetwork === true && { hostNetwork: true }),
    },
  }
}

function ownerOf({ name, uid }: HelperTarget['release']): OwnerReference {
  return { apiVersion: ROLLOUTS_API_VERSION, kind: 'BatchRelease', name, uid, controller: true, blockOwnerDeletion: false }
}

function toContainer({ image, policy }: PulledImage, at: number): object {
  const name = `image-${at}`
  return {
    name,
    image,
    imagePullPolicy: policy,
    command: [PRE_PULL_PROGRAM],
    resources: NOTHING,
    securityContext: NEVER_CREATED,
  }
}
