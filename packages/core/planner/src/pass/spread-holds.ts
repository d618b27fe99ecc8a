import { changePermits } from '@tranche/flight'
import { executablePermits } from './executable-permits.ts'
import { nodesToTakeAgain } from './nodes-to-take-again.ts'
import { permitChange } from './permit-change.ts'
import { placesIn } from './places.ts'
import { type FlownPermit, readScene, type Scene } from './scene.ts'

/**
 * F7: where nothing may be executed, the permits that stand and wait for nodes of their own value, if without them something
 * could go on: they have places that others could use. Those in front of one that does not wait, else all of them.
 */
export function permitsHeldBySpread(scene: Scene): readonly FlownPermit[] {
  if (scene.scope.rules.spread.length === 0) return []
  const places = placesIn(scene)
  const held: FlownPermit[] = []
  let inFront: readonly FlownPermit[] = []
  for (const flown of scene.permits) {
    const waits = flown.state === 'standing' && !flown.isSent && !places.hasRoomFor(flown)
    if (waits) held.push(flown)
    else if (flown.state === 'standing') inFront = [...held]
    places.pass(flown)
  }
  if (inFront.length > 0 && wouldGoOn(scene, inFront)) return inFront
  return held.length > 0 && wouldGoOn(scene, held) ? held : []
}

/** Whether something could be executed without these permits, at once or after the next append. True where no spread rule makes it a question. */
export function wouldGoOn(scene: Scene, without: readonly FlownPermit[]): boolean {
  if (scene.scope.rules.spread.length === 0) return true
  const rest = changed(scene, { remove: without.map(({ permit }) => permit), append: [], restsOn: [] })
  if (executablePermits(rest).length > 0) return true
  const change = permitChange(rest, nodesToTakeAgain(rest))
  return change !== null && change.append.length > 0 && executablePermits(changed(rest, change)).length > 0
}

function changed({ view, record }: Scene, change: Parameters<typeof changePermits>[1]): Scene {
  return readScene(view, changePermits(record, change))
}
