import {
  type ConfigContent,
  type ConfigKind,
  type ConfigObject,
  contentOf,
  COPY_LABEL,
  copyName,
  type CopyOwner,
  type ExistingCopy,
  isSameContent,
  SALT_ANNOTATION,
  SOURCE_ANNOTATION,
} from '@tranche/config'
import type { KubeObject, ObjectMeta } from '@tranche/kube-types'

/** Annotation on a copy that nothing names: its value is `true`. */
export const UNUSED_ANNOTATION = 'tranche.dev/unused'

/** A ConfigMap or Secret as the API server answers. */
export interface ConfigObjectOnWire extends KubeObject, ConfigContent {
  readonly immutable?: boolean
}

/** A copy with its content. */
export type ReadCopy = ExistingCopy & { readonly content: ConfigContent }

/**
 * @param owner uid of the DaemonSet
 * @returns the copy; null for an object that is no copy of the DaemonSet, can be changed, or is being deleted
 */
export function toReadCopy(kind: ConfigKind, object: ConfigObjectOnWire, owner: string): ReadCopy | null {
  const copy = object.immutable === true ? toListedCopy(kind, object.metadata, owner) : null
  return copy === null ? null : { ...copy, content: contentOf(object) }
}

/** @returns what the metadata say of a copy; null for an object that is no copy of the DaemonSet, or is being deleted */
export function toListedCopy(kind: ConfigKind, metadata: ObjectMeta, owner: string): ExistingCopy | null {
  const { name, uid, resourceVersion, annotations = {}, labels = {}, ownerReferences = [], deletionTimestamp } = metadata
  const source = annotations[SOURCE_ANNOTATION]
  const isOwned = labels[COPY_LABEL] === owner && ownerReferences.some((one) => one.uid === owner)
  if (!isOwned || source === undefined || deletionTimestamp !== undefined) return null
  const salt = annotations[SALT_ANNOTATION]
  return { kind, name, uid, resourceVersion, source, salt, isUnused: annotations[UNUSED_ANNOTATION] === 'true' }
}

/** What a copy should hold. */
export interface Expected {
  readonly object: ConfigObject
  readonly owner: Pick<CopyOwner, 'uid'>
  /** Content that was read from the object; undefined where that is gone, or where the template keeps an earlier copy. */
  readonly content: ConfigContent | undefined
}

/**
 * Whether no other client can have put its own content into the copy. The name of a copy of a ConfigMap is a digest of its content. That of a
 * Secret says nothing about the content, so it has to be the content of the Secret.
 */
export function isGenuine(copy: ReadCopy, { object, owner, content }: Expected): boolean {
  if (copy.source !== object.name) return false
  if (object.kind === 'Secret') return content !== undefined && isSameContent(copy.content, content)
  const source = { kind: object.kind, name: object.name, uid: '', resourceVersion: '', ...copy.content }
  return copyName(source, owner, copy.salt) === copy.name
}
