import type { DaemonSetStory } from '../world/daemon-set-story.ts'
import type { RecordedRollout } from '../world/stops.ts'
import type { World } from '../world/world.ts'

const BOUND = 'tranche.dev/rollout'

/** The Rollout that is in charge of a DaemonSet that there is: the one that it names, else the only one there is. */
export function bindingOf(world: World, story: DaemonSetStory): RecordedRollout | undefined {
  if (story.latest === undefined) return undefined
  const rollouts = world.rolloutsOf(story)
  const named = story.latest.annotations?.[BOUND]
  return named === undefined ? (rollouts.length === 1 ? rollouts[0] : undefined) : rollouts.find(({ metadata }) => metadata.name === named)
}
