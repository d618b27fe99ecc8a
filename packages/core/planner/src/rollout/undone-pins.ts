import { OFFERED_CONFIG_ANNOTATION, parsePins, type Pins, pinsOf } from '@tranche/config'
import type { HeldRevision } from '@tranche/api-schema'
import { hashOf } from '../release/view/discover-revisions.ts'
import { plainTemplate } from '../release/view/stable-template.ts'
import { templateDigest } from './held/held-revisions.ts'
import { templateToPutBack } from './held/plan-revert.ts'
import type { RolloutView } from './view/rollout-view.ts'

/**
 * Whether a template with copies of these objects was rolled back, and the stable template is there again, which has none. It stays then:
 * with pins, it would be a release that begins by itself, before the rollback has ended. That is so for all copies that were offered: those of the
 * present content may have been undone before others were rolled back. A template that was rolled back and is in no history any more may have had
 * copies.
 *
 * @param text value of the annotation that names copies
 */
export function arePinsUndone(view: RolloutView, text: string): boolean {
  const { daemonSet, rollout } = view
  const { heldRevisions = [], stableRevision, canaryStatus } = rollout.status ?? {}
  const pins = parsePins(text)
  if (daemonSet === undefined || pinsOf(daemonSet.spec.template).size > 0) return false
  if (!includes(parsePins(daemonSet.metadata.annotations?.[OFFERED_CONFIG_ANNOTATION]), pins)) return false
  if (!heldRevisions.some((held) => mayHaveNamed(view, held, pins))) return false
  const stable = templateToPutBack(view, stableRevision ?? canaryStatus?.stableRevision)
  return stable !== null && templateDigest(stable) === templateDigest(daemonSet.spec.template)
}

function mayHaveNamed({ revisions }: RolloutView, { revision, digest }: HeldRevision, pins: Pins): boolean {
  const template = revisions.filter((one) => hashOf(one) === revision).map(plainTemplate)[0]
  return template == null || templateDigest(template) !== digest || namesAll(pinsOf(template), pins)
}

/** Whether copies of all these objects are named, whichever they are. */
function namesAll(all: Pins, some: Pins): boolean {
  return [...some.keys()].every((key) => all.has(key))
}

function includes(all: Pins, some: Pins): boolean {
  return [...some].every(([key, copy]) => all.get(key) === copy)
}
