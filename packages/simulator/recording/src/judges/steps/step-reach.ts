import type { RecordedRollout } from '../../world/stops.ts'
import type { DaemonSetStory } from '../../world/daemon-set-story.ts'
import type { NodeStory } from '../../world/node-story.ts'
import { inNodes } from '../../world/resolve-limit.ts'
import type { RecordedNode } from '../../record/recorded-write.ts'
import { type RecordedSelector, selects } from '../../world/terms.ts'

/** Step as the user wrote it; a step without a size has all nodes that it selects. */
export interface Step {
  readonly replicas: number | string
  readonly pause?: { readonly duration?: number }
  /** Nodes that it adds to those of earlier steps; absent: all. */
  readonly nodes?: RecordedSelector
}

/** What the steps up to one may update. */
export interface StepReach {
  /** Its nodes: those that one of the selectors selects. Null: every node. */
  readonly within: readonly RecordedSelector[] | null
  /** Sizes of these steps, each of its own nodes; the largest counts. */
  readonly sizes: readonly { readonly replicas: number | string; readonly within: readonly RecordedSelector[] | null }[]
}

/** @returns the reach of each step */
export function reachesOf(steps: readonly Step[]): readonly StepReach[] {
  const selectors = steps.map(({ nodes = {} }) => nodes)
  const sizes = steps.map(({ replicas }, at) => ({ replicas, within: limiting(selectors.slice(0, at + 1)) }))
  return sizes.map(({ within }, at) => ({ within, sizes: sizes.slice(0, at + 1) }))
}

/** Whether the steps may update the node. */
export function isInReach({ within }: Pick<StepReach, 'within'>, node: RecordedNode | undefined): boolean {
  return within === null || (node !== undefined && within.some((selector) => selects(selector, node)))
}

/** Counts nodes of a reach. */
export type CountNodes = (reach: Pick<StepReach, 'within'>) => number

/**
 * @param count counts the nodes of which a percentage is taken
 * @param most counts the nodes that there are @default the same
 * @returns the number of nodes that may be updated. A step that selects nodes adds no more than it has; others may have more than there are
 */
export function sizeOf({ sizes }: StepReach, count: CountNodes, most = count): number {
  const sizeIn = ({ replicas, within }: StepReach['sizes'][number]): number =>
    Math.min(inNodes(replicas, count({ within })), within === null ? Number.POSITIVE_INFINITY : most({ within }))
  return Math.max(...sizes.map(sizeIn))
}

/** @returns the wanted nodes that the steps may update */
export function wantedIn(story: DaemonSetStory, reach: Pick<StepReach, 'within'>): readonly NodeStory[] {
  return [...story.nodes()].filter(({ wanted, node }) => wanted && isInReach(reach, node))
}

/** @returns {@link sizeOf} the steps by the wanted nodes */
export function sizeAmongWanted(story: DaemonSetStory, reach: StepReach): number {
  return sizeOf(reach, (within) => countWanted(story, within))
}

/** @returns number of wanted nodes in the reach */
export function countWanted(story: DaemonSetStory, reach: Pick<StepReach, 'within'>): number {
  return reach.within === null ? story.wanted : wantedIn(story, reach).length
}

/** Number of wanted nodes that the steps have left to update. */
export function leftIn(story: DaemonSetStory, reach: StepReach): number {
  const wanted = wantedIn(story, reach)
  const size = Math.min(wanted.length, sizeAmongWanted(story, reach))
  return Math.max(0, size - wanted.filter((node) => story.taken.has(node)).length)
}

/** Whether `other` has all that `reach` has: its nodes, and as many. */
export function isWithin(story: DaemonSetStory, reach: StepReach, other: StepReach): boolean {
  if (sizeAmongWanted(story, reach) > sizeAmongWanted(story, other)) return false
  return other.within === null || wantedIn(story, reach).every(({ node }) => isInReach(other, node))
}

/** Null where one of the selectors selects every node. */
function limiting(selectors: readonly RecordedSelector[]): readonly RecordedSelector[] | null {
  return selectors.some(({ matchLabels = {}, matchExpressions = [] }) => Object.keys(matchLabels).length + matchExpressions.length === 0)
    ? null
    : selectors
}

/** Steps of a Rollout; empty when it has none. */
export function stepsOf({ spec }: RecordedRollout): readonly Step[] {
  const { strategy } = spec as { readonly strategy?: { readonly canary?: { readonly steps?: readonly Partial<Step>[] } } }
  return (strategy?.canary?.steps ?? []).map((step) => ({ ...step, replicas: step.replicas ?? '100%' }))
}
