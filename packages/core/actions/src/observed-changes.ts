import { RECORDED_ACTIONS_MAX, type ObservedChange, observedChangeSchema } from '@tranche/api-schema'
import { FORMER_OBSERVED_CHANGES_ANNOTATION, type KubeObject, OBSERVED_CHANGES_ANNOTATION } from '@tranche/kube-types'
import { listedItems, listText, parsedList } from './parsed-list.ts'

/** Maximum bytes of UTF-8 in the annotation: room for more than sixteen changes with the longest reasons. */
const OBSERVED_CHANGES_MAX_BYTES = 32_768

/** Reads the observed changes of other clients. @returns newest last, without invalid items; at most sixteen of each annotation */
export function observedChangesOf(object: KubeObject): readonly ObservedChange[] {
  const texts = [formerText(object), object.metadata.annotations?.[OBSERVED_CHANGES_ANNOTATION]]
  return texts.flatMap((text) => parsedList(text, observedChangeSchema, RECORDED_ACTIONS_MAX))
}

/**
 * Adds observed changes and returns the annotation as text: at most sixteen changes and 32 KiB, the oldest dropped first. The API
 * server limits the length of the names in it. Unknown members that another version wrote stay (G7).
 */
export function withObservedChanges({ metadata }: Pick<KubeObject, 'metadata'>, more: readonly ObservedChange[]): string {
  const ids = new Set(more.map(({ id }) => id))
  const before = [formerText({ metadata }), metadata.annotations?.[OBSERVED_CHANGES_ANNOTATION]].flatMap(listedItems)
  const items = [...before.filter(({ id }) => !ids.has(id)), ...more]
  return listText(items, { most: RECORDED_ACTIONS_MAX, mostBytes: OBSERVED_CHANGES_MAX_BYTES })
}

/** Changes that the previous version observed; the next write of this one moves them to the present annotation. */
function formerText({ metadata }: Pick<KubeObject, 'metadata'>): string | undefined {
  return metadata.annotations?.[FORMER_OBSERVED_CHANGES_ANNOTATION]
}
