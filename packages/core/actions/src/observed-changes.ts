import { RECORDED_ACTIONS_MAX, type ObservedChange, observedChangeSchema } from '@tranche/api-schema'
import { type KubeObject, OBSERVED_CHANGES_ANNOTATION } from '@tranche/kube-types'
import { listedItems, listText, parsedList } from './parsed-list.ts'

/** The most bytes of UTF-8 that the annotation takes: more than sixteen with the longest reasons. */
const OBSERVED_CHANGES_MAX_BYTES = 32_768

/** Reads what was written past us and seen. @returns newest last; what somebody has spoilt is left out */
export function observedChangesOf(object: KubeObject): readonly ObservedChange[] {
  return parsedList(object.metadata.annotations?.[OBSERVED_CHANGES_ANNOTATION], observedChangeSchema)
}

/**
 * What was seen as text, with more that was: at most sixteen and 32 KiB, and the oldest go first. The names in it are as short as the API
 * server takes them. What another version has written of the others, and we do not know, stays (G7).
 */
export function withObservedChanges({ metadata }: Pick<KubeObject, 'metadata'>, more: readonly ObservedChange[]): string {
  const ids = new Set(more.map(({ id }) => id))
  const before = listedItems(metadata.annotations?.[OBSERVED_CHANGES_ANNOTATION])
  const items = [...before.filter(({ id }) => !ids.has(id)), ...more]
  return listText(items, { most: RECORDED_ACTIONS_MAX, mostBytes: OBSERVED_CHANGES_MAX_BYTES })
}
