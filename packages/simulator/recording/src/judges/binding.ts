import type { DaemonSetStory } from '../world/daemon-set-story.ts'
import type { RecordedRollout } from '../world/stops.ts'
import type { World } from '../world/world.ts'

const BOUND = 'tranche.dev/rollout'

/** Rollout in charge of an existing DaemonSet: the one that the DaemonSet names, else the only one that references it. */
export function bindingOf(world: World, story: DaemonSetStory): RecordedRollout | undefined {
  if (story.latest === undefined) return undefined
  const rollouts = world.rolloutsOf(story)
  const named = story.latest.annotations?.[BOUND]
  return named === undefined ? (rollouts.length === 1 ? rollouts[0] : undefined) : rollouts.find(({ metadata }) => metadata.name === named)
}
