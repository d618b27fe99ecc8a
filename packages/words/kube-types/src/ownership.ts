import { parseLabelSelector } from './label-selector.ts'
import { ROLLOUTS_API_VERSION } from './keys.ts'
import { controllerOf } from './object-key.ts'
import type { ControllerRevision, DaemonSet, KubeObject, LabelSelector, OwnerReference } from './objects.ts'

/** As much of a DaemonSet as tells which objects are its own. */
export interface OwnerOfObjects {
  readonly metadata: { readonly namespace?: string | undefined; readonly uid: string }
  readonly spec: { readonly selector?: LabelSelector | undefined }
}

/**
 * Key of the objects that an owner controls: `namespace/uid`. Rule F15: an owner has its objects in its own namespace. Everyone who
 * may write in another one can name its uid there.
 */
export function ownerKeyOf({ metadata: { namespace = '', uid } }: Pick<OwnerOfObjects, 'metadata'>): string {
  return `${namespace}/${uid}`
}

/** @returns the {@link ownerKeyOf} of the controller of the object, looked for in the object's own namespace; undefined without one */
export function controllerKeyOf(object: KubeObject): string | undefined {
  const owner = controllerOf(object)
  return owner === undefined ? undefined : ownerKeyOf({ metadata: { namespace: object.metadata.namespace, uid: owner.uid } })
}

/** Rule F15: whether labels are those of an object of the owner. The API server stores no selector that cannot be read. */
export function isSelectedBy({ spec: { selector } }: Pick<OwnerOfObjects, 'spec'>, labels: Readonly<Record<string, string>>): boolean {
  return selector === undefined || parseLabelSelector(selector)?.(labels) === true
}

/** Rule F15: whether the DaemonSet controls the object: same namespace, its uid, `controller: true`, and its selector's labels. */
export function isOwnedBy(object: KubeObject, owner: OwnerOfObjects): boolean {
  const isControlled = controllerOf(object)?.kind === 'DaemonSet' && controllerKeyOf(object) === ownerKeyOf(owner)
  return isControlled && isSelectedBy(owner, object.metadata.labels ?? {})
}

/** Rule F15: the revisions of a DaemonSet among these; one that is being deleted is none of its history any more. */
export function revisionsOf(
  daemonSet: Pick<DaemonSet, 'metadata' | 'spec'>,
  revisions: readonly ControllerRevision[],
): readonly ControllerRevision[] {
  return revisions.filter((one) => one.metadata.deletionTimestamp === undefined && isOwnedBy(one, daemonSet))
}

/**
 * Rule F15: the Rollout that a BatchRelease belongs to, in the namespace of the BatchRelease: its controller, of our API group, under
 * the name that both have. Whether the Rollout of that name still has the uid is for {@link isReleaseOf}.
 *
 * @returns undefined for a BatchRelease that was written by hand
 */
export function rolloutOf(release: KubeObject): OwnerReference | undefined {
  const owner = controllerOf(release)
  const isRollout = owner?.kind === 'Rollout' && groupOf(owner.apiVersion) === groupOf(ROLLOUTS_API_VERSION)
  return isRollout && owner.name === release.metadata.name ? owner : undefined
}

/** Rule F15: whether a BatchRelease is the one of the Rollout: same namespace and name, and its uid. */
export function isReleaseOf(release: KubeObject, { metadata }: KubeObject): boolean {
  const owner = rolloutOf(release)
  return owner?.uid === metadata.uid && owner.name === metadata.name && release.metadata.namespace === metadata.namespace
}

function groupOf(apiVersion: string): string {
  return apiVersion.slice(0, apiVersion.indexOf('/') + 1)
}
