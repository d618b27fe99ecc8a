import { canonicalJson, isSameJson, type OwnerReference, sha256Hex } from '@tranche/kube-types'
import type { ConfigKind } from '../config-fields.ts'

/** Parts of a ConfigMap or Secret that a copy takes over. */
export interface ConfigContent {
  /** Only of Secrets. */
  readonly type?: string
  readonly data?: Readonly<Record<string, string>>
  readonly binaryData?: Readonly<Record<string, string>>
}

/** A ConfigMap or Secret as the API server has it. */
export interface ConfigSource extends ConfigContent {
  readonly kind: ConfigKind
  readonly name: string
  readonly uid: string
  readonly resourceVersion: string
}

/** Identity of the DaemonSet whose pods read a copy. */
export interface CopyOwner {
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

/** An immutable copy, as it is created. */
export interface ConfigCopy extends ConfigContent {
  readonly apiVersion: 'v1'
  readonly kind: ConfigKind
  readonly metadata: {
    readonly namespace: string
    readonly name: string
    readonly labels: Readonly<Record<string, string>>
    readonly annotations: Readonly<Record<string, string>>
    readonly ownerReferences: readonly OwnerReference[]
  }
  readonly immutable: true
}

/** Label on a copy: uid of the DaemonSet whose pods read it. */
export const COPY_LABEL = 'tranche.dev/config-of'
/** Annotation on a copy: name of the object that was copied. */
export const SOURCE_ANNOTATION = 'tranche.dev/copy-of'
/** Annotation on a copy whose first name belonged to another object: the text that its name includes in its place. */
export const SALT_ANNOTATION = 'tranche.dev/copy-salt'

/**
 * @param salt see {@link copyName}
 * @returns the copy of a source for a DaemonSet. It is deleted with the DaemonSet
 */
export function toCopy(source: ConfigSource, owner: CopyOwner, salt?: string): ConfigCopy {
  return {
    apiVersion: 'v1',
    kind: source.kind,
    metadata: {
      namespace: owner.namespace,
      name: copyName(source, owner, salt),
      labels: { [COPY_LABEL]: owner.uid },
      annotations: { [SOURCE_ANNOTATION]: source.name, ...(salt !== undefined && { [SALT_ANNOTATION]: salt }) },
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: owner.name, uid: owner.uid }],
    },
    immutable: true,
    ...contentOf(source),
  }
}

/** Maximum length of the name of an object. */
const LONGEST_NAME = 253
const DIGEST_LENGTH = 16

/**
 * Name of a copy: that of the source, cut if it is long, and a digest. The digest of a ConfigMap comes from its content. That of a Secret
 * comes from its uid and resourceVersion, because every user who sees pods reads the name, and could try contents until one fits.
 *
 * @param salt text that no other client can foresee; gives another name where the first one belongs to another object
 */
export function copyName(source: ConfigSource, { uid }: Pick<CopyOwner, 'uid'>, salt?: string): string {
  const version = source.kind === 'Secret' ? [source.uid, source.resourceVersion] : [contentOf(source)]
  const salted = salt === undefined ? version : [...version, salt]
  const digest = sha256Hex(canonicalJson([uid, source.kind, source.name, ...salted])).slice(0, DIGEST_LENGTH)
  const cut = source.name.slice(0, LONGEST_NAME - DIGEST_LENGTH - 1).replace(/[^a-z0-9]+$/, '')
  return `${cut}-${digest}`
}

/** Name of a new copy. */
export interface FreeName {
  readonly name: string
  /** See {@link copyName}. */
  readonly salt: string | undefined
}

/**
 * @param taken salts for names that belong to other objects, by `ConfigMap/name`
 * @returns the first name of a copy that belongs to no other object
 */
export function freeName(source: ConfigSource, owner: Pick<CopyOwner, 'uid'>, taken: ReadonlyMap<string, string>): FreeName {
  let free: FreeName = { name: copyName(source, owner), salt: undefined }
  for (let salt = taken.get(`${source.kind}/${free.name}`); salt !== undefined; salt = taken.get(`${source.kind}/${free.name}`))
    free = { name: copyName(source, owner, salt), salt }
  return free
}

/** Whether two objects hold the same; an absent member is an empty one. */
export function isSameContent(one: ConfigContent, other: ConfigContent): boolean {
  return isSameJson(contentOf(one), contentOf(other))
}

/** @returns the content alone, without empty members */
export function contentOf({ type, data = {}, binaryData = {} }: ConfigContent): ConfigContent {
  return {
    ...(type !== undefined && { type }),
    ...(Object.keys(data).length > 0 && { data }),
    ...(Object.keys(binaryData).length > 0 && { binaryData }),
  }
}
