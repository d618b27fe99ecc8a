import { configFields } from '../config-fields.ts'
import { isWrittenByTheCluster } from '../config-references.ts'
import { hasContentHash } from '../has-content-hash.ts'
import type { ConfigObject } from '../judge-config.ts'
import { parsePins, type Pins, pinKey } from './pins.ts'

/** Annotation of a template, and of the pods that inherit it: the copies that they read. */
export const PINNED_CONFIG_ANNOTATION = 'tranche.dev/pinned-config'
/** Annotation on a DaemonSet: the copies that a release has offered last. A rollback leaves it as it is. */
export const OFFERED_CONFIG_ANNOTATION = 'tranche.dev/offered-config'

/**
 * Objects that pods of a template read as copies, each once. An object whose name carries a hash is versioned already, and a CSI driver gets
 * the Secret that the user names. A template is searched once: it may have a megabyte, and each change of config asks about it.
 */
export function pinnedObjects(template: unknown): readonly ConfigObject[] {
  return [...pinnedByKey(template).values()]
}

/** Whether the object is one of the {@link pinnedObjects} of a template. */
export function isPinnedObject(template: unknown, object: ConfigObject): boolean {
  return pinnedByKey(template).has(pinKey(object))
}

const searched = new WeakMap<object, ReadonlyMap<string, ConfigObject>>()

function pinnedByKey(template: unknown): ReadonlyMap<string, ConfigObject> {
  if (typeof template !== 'object' || template === null) return new Map()
  const known = searched.get(template) ?? search(template)
  searched.set(template, known)
  return known
}

function search({ spec }: { readonly spec?: unknown }): ReadonlyMap<string, ConfigObject> {
  const found = configFields(spec).filter((one) => !one.isForDriver && !hasContentHash(one.name) && !isWrittenByTheCluster(one))
  return new Map(found.map(({ kind, name }) => [pinKey({ kind, name }), { kind, name }]))
}

/** @returns the pins in the annotation of a template or pod; none without it */
export function pinsOf(object: unknown): Pins {
  const { metadata } = (object ?? {}) as { readonly metadata?: { readonly annotations?: Readonly<Record<string, unknown>> } }
  const text = metadata?.annotations?.[PINNED_CONFIG_ANNOTATION]
  return parsePins(typeof text === 'string' ? text : undefined)
}
