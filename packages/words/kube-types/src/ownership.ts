import { parseLabelSelector } from './label-selector.ts'
import { PRE_PULL_LABEL, ROLLOUTS_API_VERSION } from './keys.ts'
import { controllerOf } from './object-key.ts'
import type { ControllerRevision, DaemonSet, KubeObject, LabelSelector, OwnerReference } from './objects.ts'

/** The fields of a DaemonSet that decide which objects it owns. */
export interface OwnerOfObjects {
  readonly metadata: { readonly namespace?: string | undefined; readonly uid: string }
  readonly spec: { readonly selector?: LabelSelector | undefined }
}

/**
 * Key of the objects that an owner controls: `namespace/uid`. Rule F15: an owner's objects are in its own namespace. Any user with write
 * access to another namespace can put the owner's uid on objects there.
 */
export function ownerKeyOf({ metadata: { namespace = '', uid } }: Pick<OwnerOfObjects, 'metadata'>): string {
  return `${namespace}/${uid}`
}

/** @returns the {@link ownerKeyOf} of the object's controller, in the object's own namespace; undefined if it has none */
export function controllerKeyOf(object: KubeObject): string | undefined {
  const owner = controllerOf(object)
  return owner === undefined ? undefined : ownerKeyOf({ metadata: { namespace: object.metadata.namespace, uid: owner.uid } })
}

/** Rule F15: whether labels match the owner's selector. The API server stores no invalid selector. */
export function isSelectedBy({ spec: { selector } }: Pick<OwnerOfObjects, 'spec'>, labels: Readonly<Record<string, string>>): boolean {
  return selector === undefined || parseLabelSelector(selector)?.(labels) === true
}

/** Rule F15: whether the DaemonSet controls the object: same namespace, its uid, `controller: true`, and labels that match its selector. */
export function isOwnedBy(object: KubeObject, owner: OwnerOfObjects): boolean {
  const isControlled = controllerOf(object)?.kind === 'DaemonSet' && controllerKeyOf(object) === ownerKeyOf(owner)
  return isControlled && isSelectedBy(owner, object.metadata.labels ?? {})
}

/** Whether a pod is one that pulls images for a release (`prePull`): a BatchRelease controls it, and it has their label. */
export function isHelperPod(pod: KubeObject): boolean {
  return pod.metadata.labels?.[PRE_PULL_LABEL] !== undefined && controllerOf(pod)?.kind === 'BatchRelease'
}

/** Rule F15: the DaemonSet's revisions among these. A revision that is being deleted is no longer part of its history. */
export function revisionsOf(
  daemonSet: Pick<DaemonSet, 'metadata' | 'spec'>,
  revisions: readonly ControllerRevision[],
): readonly ControllerRevision[] {
  return revisions.filter((one) => one.metadata.deletionTimestamp === undefined && isOwnedBy(one, daemonSet))
}

/**
 * Rule F15: the Rollout that a BatchRelease belongs to: its controller, of Tranche's API group, with the namespace and name of the
 * BatchRelease. {@link isReleaseOf} checks that the Rollout of that name still has the uid.
 *
 * @returns undefined for a BatchRelease that a user created directly
 */
export function rolloutOf(release: KubeObject): OwnerReference | undefined {
  const owner = controllerOf(release)
  const isRollout = owner?.kind === 'Rollout' && groupOf(owner.apiVersion) === groupOf(ROLLOUTS_API_VERSION)
  return isRollout && owner.name === release.metadata.name ? owner : undefined
}

/** Rule F15: whether a BatchRelease belongs to the Rollout: same namespace and name, and its uid. */
export function isReleaseOf(release: KubeObject, { metadata }: KubeObject): boolean {
  const owner = rolloutOf(release)
  return owner?.uid === metadata.uid && owner.name === metadata.name && release.metadata.namespace === metadata.namespace
}

function groupOf(apiVersion: string): string {
  return apiVersion.slice(0, apiVersion.indexOf('/') + 1)
}
