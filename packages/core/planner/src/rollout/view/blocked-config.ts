import { type ConfigObject, OFFERED_CONFIG_ANNOTATION, parsePins, pinKey, pinsOf } from '@tranche/config'
import { hashOf } from '../../release/view/discover-revisions.ts'
import { plainTemplate } from '../../release/view/stable-template.ts'
import type { RolloutView } from './rollout-view.ts'

/**
 * The blocked revision with the content of these objects that was offered last: it was rolled back, and only a retry releases it again.
 *
 * @returns undefined if that content is not blocked, or if its revision is not in the history any more
 */
export function blockedConfigRevision(
  { rollout, daemonSet, revisions }: Pick<RolloutView, 'rollout' | 'daemonSet' | 'revisions'>,
  objects: readonly ConfigObject[],
): string | undefined {
  const offered = parsePins(daemonSet?.metadata.annotations?.[OFFERED_CONFIG_ANNOTATION])
  const held = new Set(rollout.status?.heldRevisions?.map(({ revision }) => revision))
  const found = revisions.find((one) => {
    if (!held.has(hashOf(one))) return false
    const pins = pinsOf(plainTemplate(one) ?? {})
    return objects.every((object) => offered.has(pinKey(object)) && pins.get(pinKey(object)) === offered.get(pinKey(object)))
  })
  return found && hashOf(found)
}
