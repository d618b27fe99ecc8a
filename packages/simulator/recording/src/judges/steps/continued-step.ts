import type { DaemonSetStory } from '../../world/daemon-set-story.ts'
import type { NodeStory } from '../../world/node-story.ts'
import { mayBeTaken } from '../../world/terms.ts'
import { isInReach, reachesOf, type Step, type StepReach, sizeAmongWanted, wantedIn } from './step-reach.ts'

/** Steps that users replaced, as far as they were open. */
export interface ReplacedSteps {
  /** Reaches of the open ones; at least one. */
  readonly open: readonly StepReach[]
  /** All that was open before, including steps that were replaced earlier. */
  readonly granted: readonly StepReach[]
  /** Whether any of the replaced steps, open or not, selects nodes. */
  readonly selected: boolean
}

/**
 * The step of the new plan, from 1, at which the release continues. Where no step selects nodes, and none did, that is:
 *
 * - the present one, if it has as many nodes as were open, or no step has more than it and no more than those
 * - else the first one that has as many, or the last one that has no more, whichever comes first
 *
 * Where the new steps select nodes, it is the one that has what the last open step had, if no step before it has anything else. Otherwise it
 * is the first that has anything which the open steps before the last one had not: only their pauses are over. An empty step that is not
 * before the last open one has its pause, too. Nodes that the policy excludes do not count.
 */
export function continuedStep(story: DaemonSetStory, steps: readonly Step[], { open, granted, selected }: ReplacedSteps): number {
  const next = reachesOf(steps)
  const present = next[open.length - 1]
  const passed = open.slice(0, -1)
  const last = open.at(-1)
  const counted = countIncluded(story)
  const isIn = (reach: StepReach, other: StepReach | undefined): boolean => other !== undefined && counted.isIn(reach, other)
  const isSame = (reach: StepReach | undefined): boolean => reach !== undefined && isIn(reach, last) && isIn(last!, reach)
  if (!selectsNodes(steps)) {
    if (selected) return isSame(present) ? open.length : firstLargerThan(story, next, passed)
    const most = Math.max(0, ...granted.map((reach) => sizeAmongWanted(story, reach)))
    return continuedBySize(
      next.map((reach) => sizeAmongWanted(story, reach)),
      open.length,
      most,
    )
  }
  const isPassed = (reach: StepReach): boolean => passed.some((one) => isIn(reach, one))
  const same = isSame(present) ? open.length - 1 : next.findIndex(isSame)
  if (same !== -1 && next.slice(0, same).every((reach) => isIn(reach, last) || isPassed(reach))) return same + 1
  const addsNone = (reach: StepReach, at: number): boolean =>
    at === 0 ? counted.nodesIn(reach).length === 0 : counted.isWithin(reach, next[at - 1]!)
  const first = next.findIndex((reach, at) => !isPassed(reach) || (at >= open.length - 1 && addsNone(reach, at)))
  return first === -1 ? next.length : first + 1
}

/** Whether a step names the nodes that it adds. */
export function selectsNodes(steps: readonly Step[]): boolean {
  return steps.some(({ nodes }) => nodes !== undefined)
}

/** @param sizes of the new steps @param present number of the step, from 1 @param most nodes that were open */
function continuedBySize(sizes: readonly number[], present: number, most: number): number {
  const size = sizes[present - 1]
  if (size === most) return present
  if (size !== undefined && size < most) {
    const fitting = sizes.findLast((one) => one <= most) ?? 0
    return Math.max(present, sizes.indexOf(fitting) + 1)
  }
  const first = sizes.findIndex((one) => one >= most)
  return first === -1 ? Math.max(1, sizes.length) : first + 1
}

/** Steps that select no nodes replace others that did: the first with more nodes than those whose pauses are over. */
function firstLargerThan(story: DaemonSetStory, next: readonly StepReach[], passed: readonly StepReach[]): number {
  const sizeIn = (reach: StepReach): number => Math.min(sizeAmongWanted(story, reach), wantedIn(story, reach).length)
  const most = Math.max(0, ...passed.map(sizeIn))
  const first = next.findIndex((reach) => sizeAmongWanted(story, reach) > most)
  return first === -1 ? Math.max(1, next.length) : first + 1
}

/** Number of the last step, from 1, up to which as many nodes are updated as the steps have; 0: not those of the first. */
export function lastFilled(story: DaemonSetStory, steps: readonly StepReach[]): number {
  const counted = countIncluded(story)
  const unfilled = steps.findIndex((reach) => counted.leftIn(reach) > 0)
  return unfilled === -1 ? steps.length : unfilled
}

/** Counts of the wanted nodes that the policy does not exclude. */
interface IncludedCounts {
  nodesIn(reach: StepReach): readonly NodeStory[]
  /** Number of nodes that a reach has left to update. */
  leftIn(reach: StepReach): number
  /** Whether `other` has all that `reach` has: its nodes, and as many. */
  isWithin(reach: StepReach, other: StepReach): boolean
  /** Whether `other` has no fewer left besides. */
  isIn(reach: StepReach, other: StepReach): boolean
}

function countIncluded(story: DaemonSetStory): IncludedCounts {
  const { exclude = [] } = story.terms.latest?.nodes ?? {}
  const nodesIn = (reach: StepReach): readonly NodeStory[] =>
    wantedIn(story, reach).filter(({ node }) => node === undefined || mayBeTaken({ exclude }, node, undefined))
  const sizeIn = (reach: StepReach): number => Math.min(sizeAmongWanted(story, reach), nodesIn(reach).length)
  const leftIn = (reach: StepReach): number => Math.max(0, sizeIn(reach) - nodesIn(reach).filter((node) => story.taken.has(node)).length)
  const isWithin = (reach: StepReach, other: StepReach): boolean =>
    sizeIn(reach) <= sizeIn(other) && nodesIn(reach).every(({ node }) => isInReach(other, node))
  return { nodesIn, leftIn, isWithin, isIn: (reach, other) => isWithin(reach, other) && leftIn(reach) <= leftIn(other) }
}
