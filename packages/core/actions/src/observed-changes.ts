import { RECORDED_ACTIONS_MAX, type ObservedChange, observedChangeSchema } from '@tranche/api-schema'
import { type KubeObject, OBSERVED_CHANGES_ANNOTATION } from '@tranche/kube-types'
import { listedItems, listText, parsedList } from './parsed-list.ts'

/** Maximum bytes of UTF-8 in the annotation: room for more than sixteen changes with the longest reasons. */
const OBSERVED_CHANGES_MAX_BYTES = 32_768

/** Reads the observed changes of other clients. @returns newest last, without invalid items */
export function observedChangesOf(object: KubeObject): readonly ObservedChange[] {
  return parsedList(object.metadata.annotations?.[OBSERVED_CHANGES_ANNOTATION], observedChangeSchema)
}

/**
 * Adds observed changes and returns the annotation as text: at most sixteen changes and 32 KiB, the oldest dropped first. The API
 * server limits the length of the names in it. Unknown members that another version wrote stay (G7).
 */
export function withObservedChanges({ metadata }: Pick<KubeObject, 'metadata'>, more: readonly ObservedChange[]): string {
  const ids = new Set(more.map(({ id }) => id))
  const before = listedItems(metadata.annotations?.[OBSERVED_CHANGES_ANNOTATION])
  const items = [...before.filter(({ id }) => !ids.has(id)), ...more]
  return listText(items, { most: RECORDED_ACTIONS_MAX, mostBytes: OBSERVED_CHANGES_MAX_BYTES })
}
