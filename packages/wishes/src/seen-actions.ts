import { RECORDED_ACTIONS_MAX, type SeenAction, seenActionSchema } from '@tranche/api-schema'
import { type KubeObject, SEEN_ACTIONS_ANNOTATION } from '@tranche/kube-types'
import { listedItems, parsedList } from './parsed-list.ts'

/** Reads what was written past us and seen. @returns newest last; what somebody has spoilt is left out */
export function seenActionsOf(object: KubeObject): readonly SeenAction[] {
  return parsedList(object.metadata.annotations?.[SEEN_ACTIONS_ANNOTATION], seenActionSchema)
}

/**
 * What was seen as text, with more that was: at most sixteen, and the oldest go first. The names in it are as short as the API server
 * takes them. What another version has written of the others, and we do not know, stays (G7).
 */
export function withSeen({ metadata }: Pick<KubeObject, 'metadata'>, more: readonly SeenAction[]): string {
  const ids = new Set(more.map(({ id }) => id))
  const before = listedItems(metadata.annotations?.[SEEN_ACTIONS_ANNOTATION])
  return JSON.stringify([...before.filter(({ id }) => !ids.has(id)), ...more].slice(-RECORDED_ACTIONS_MAX))
}
