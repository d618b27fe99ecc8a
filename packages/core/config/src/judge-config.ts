import type { ConfigKind } from './config-fields.ts'
import { type ConfigReference, configReferences } from './config-references.ts'
import { hasContentHash } from './has-content-hash.ts'

/** Config of a template that may change without a release. */
export interface UnversionedConfig {
  /** Objects with neither a hash in their names nor `immutable: true`; at least one. */
  readonly references: readonly ConfigReference[]
  /**
   * Whether the template carries the checksum of its config in an annotation `checksum/…`. A change of config is then a release, but pods of
   * the old revision take the new content as well.
   */
  readonly hasChecksum: boolean
}

/** Identity of a ConfigMap or Secret within its namespace. */
export interface ConfigObject {
  readonly kind: ConfigKind
  readonly name: string
}

/**
 * Finds the config of a template that is not part of its version. Judges by names, and by `immutable: true` where that is known: the
 * content of such an object never changes.
 *
 * @param isImmutable whether an object is known to be immutable. @default no object
 * @returns null where every object that the template reads is part of its version
 */
export function judgeConfig(template: unknown, isImmutable: (object: ConfigObject) => boolean = () => false): UnversionedConfig | null {
  const references = configReferences(template).filter((one) => !hasContentHash(one.name) && !isImmutable(one))
  return references.length === 0 ? null : { references, hasChecksum: hasChecksum(template) }
}

/** Prefix of the annotations in which Helm charts keep checksums of config. */
const CHECKSUM = 'checksum/'

function hasChecksum(template: unknown): boolean {
  const { annotations } = (template as { readonly metadata?: { readonly annotations?: unknown } | null } | null)?.metadata ?? {}
  if (typeof annotations !== 'object' || annotations === null) return false
  return Object.entries(annotations).some(([key, value]) => key.startsWith(CHECKSUM) && typeof value === 'string' && value !== '')
}
