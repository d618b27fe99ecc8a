import { lookOf } from '../format/outcome-text.ts'
import { type FleetSnapshot, textOfKey } from '../live/release-store.ts'
import type { Place } from '../ports/place.ts'
import { groupOf } from '../pages/fleet/fleet-filter.ts'

/** Title of a tab without state, as in index.html. */
export const PRODUCT = 'Tranche'

/**
 * Title of the tab: it says the state of a Rollout, or how many need the user, also while the tab is in the background. Data that are not
 * live are marked.
 */
export function titleOf(place: Place, { rollouts, live }: Pick<FleetSnapshot, 'rollouts' | 'live'>): string {
  const isStale = live.kind === 'reconnecting' || live.kind === 'ended'
  const parts = [partOf(place, rollouts), isStale ? 'not live' : null, PRODUCT].filter((part) => part !== null)
  const needy = place.view === 'fleet' ? [...rollouts.values()].filter((rollout) => groupOf(rollout) === 'needsYou').length : 0
  return `${needy === 0 ? '' : `(${needy}) `}${parts.join(' · ')}`
}

function partOf(place: Place, rollouts: FleetSnapshot['rollouts']): string | null {
  switch (place.view) {
    case 'fleet':
      return null
    case 'record':
      return 'Record'
    case 'doctor':
      return 'Doctor'
    case 'unknown':
      return 'Not found'
    case 'plan':
      return `Plan of ${place.key.name}`
    case 'policy':
      return `Policy of ${place.key.name}`
    case 'node':
      return `${place.node} · ${place.key.name}`
    case 'rollout': {
      const rollout = rollouts.get(textOfKey(place.key))
      if (rollout === undefined) return place.key.name
      const { glyph, word } = lookOf(rollout)
      return `${glyph} ${rollout.name} ${word.toLowerCase()}`
    }
  }
}
