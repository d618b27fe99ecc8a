import { defineBy } from '../scenarios/definitions.ts'
import { durationText } from './words.ts'
import type { World } from './world.ts'

/** Applies OpenKruise's definitions over ours, and ours again when the time is up. */
export async function swapDefinitions(world: World, forMs: number): Promise<void> {
  world.note(`OpenKruise's definitions are applied over ours for ${durationText(forMs)}`)
  const end = world.disturbances.begin()
  await defineBy(world.people, 'theirs')
  world.later(forMs, async () => {
    await defineBy(world.people, 'ours')
    end()
    world.note('our definitions are applied again')
  })
}
