import type { DaemonSetStory } from '../../world/daemon-set-story.ts'
import { countWanted, isWithin, leftIn, type StepReach, sizeAmongWanted, wantedIn } from './step-reach.ts'

/** Steps that users replaced, as far as they were open. */
export interface ReplacedSteps {
  /** Reaches of the open ones; at least one. */
  readonly open: readonly StepReach[]
  /** All that was open before, including steps that were replaced earlier. */
  readonly granted: readonly StepReach[]
}

/**
 * The step of the new plan, from 1, at which the release continues. It is the first one that has as many nodes as were open.
 *
 * Where the new steps select nodes, it is the one that has what the last open step had, if no step before it has anything else. Otherwise it
 * is the first that has anything which the open steps before the last one had not: only their pauses are over. An empty step that is not
 * before the last open one has its pause, too.
 */
export function continuedStep(story: DaemonSetStory, next: readonly StepReach[], { open, granted }: ReplacedSteps): number {
  const present = next[open.length - 1]
  const passed = open.slice(0, -1)
  if (next.every(({ within }) => within === null)) {
    if (open.some(({ within }) => within !== null)) return firstLargerThan(story, next, passed)
    const most = Math.max(0, ...granted.map((reach) => sizeAmongWanted(story, reach)))
    if (present !== undefined && sizeAmongWanted(story, present) === most) return open.length
    const first = next.findIndex((reach) => sizeAmongWanted(story, reach) >= most)
    return first === -1 ? Math.max(1, next.length) : first + 1
  }
  const isIn = (reach: StepReach, other: StepReach | undefined): boolean =>
    other !== undefined && isWithin(story, reach, other) && leftIn(story, reach) <= leftIn(story, other)
  const last = open.at(-1)
  const isPassed = (reach: StepReach): boolean => passed.some((one) => isIn(reach, one))
  const isSame = (reach: StepReach | undefined): boolean => reach !== undefined && isIn(reach, last) && isIn(last!, reach)
  const same = isSame(present) ? open.length - 1 : next.findIndex(isSame)
  if (same !== -1 && next.slice(0, same).every((reach) => isIn(reach, last) || isPassed(reach))) return same + 1
  const addsNone = (reach: StepReach, at: number): boolean =>
    at === 0 ? wantedIn(story, reach).length === 0 : isWithin(story, reach, next[at - 1]!)
  const first = next.findIndex((reach, at) => !isPassed(reach) || (at >= open.length - 1 && addsNone(reach, at)))
  return first === -1 ? next.length : first + 1
}

/** Steps that select no nodes replace others that did: the first with more nodes than those whose pauses are over. */
function firstLargerThan(story: DaemonSetStory, next: readonly StepReach[], passed: readonly StepReach[]): number {
  const most = Math.max(0, ...passed.map((reach) => Math.min(sizeAmongWanted(story, reach), countWanted(story, reach))))
  const first = next.findIndex((reach) => sizeAmongWanted(story, reach) > most)
  return first === -1 ? Math.max(1, next.length) : first + 1
}

/** Number of the last step, from 1, up to which as many nodes are updated as the steps have; 0: not those of the first. */
export function lastFilled(story: DaemonSetStory, steps: readonly StepReach[]): number {
  const unfilled = steps.findIndex((reach) => leftIn(story, reach) > 0)
  return unfilled === -1 ? steps.length : unfilled
}
