import { configFields } from '../config-fields.ts'
import { PINNED_CONFIG_ANNOTATION, pinsOf } from './pinned-objects.ts'
import { pinKey } from './pins.ts'

/**
 * Finds config that a pod reads as it is now, although its annotation names a copy. The API server did not replace the name when the pod was
 * created. Ephemeral containers do not count, because a user adds them later.
 *
 * @returns the {@link pinKey} of the first such object; undefined without one
 */
export function liveConfigIn(pod: {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> }
  readonly spec?: unknown
}): string | undefined {
  if (pod.metadata.annotations?.[PINNED_CONFIG_ANNOTATION] === undefined) return undefined
  const pins = pinsOf(pod)
  const copies = new Set(pins.values())
  const live = configFields(pod.spec).find(
    (field) => !field.isForDriver && field.at[0] !== 'ephemeralContainers' && pins.has(pinKey(field)) && !copies.has(field.name),
  )
  return live && pinKey(live)
}
