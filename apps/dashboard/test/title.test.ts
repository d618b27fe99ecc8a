import type { RolloutSummary } from '@tranche/api-schema'
import { describe, expect, it } from 'vitest'
import { type LiveState, textOfKey } from '../src/live/release-store.ts'
import type { Place } from '../src/ports/place.ts'
import { titleOf } from '../src/shell/title-of.ts'
import { summary } from './builders.ts'

const key = { namespace: 'demo', name: 'agent' }

function title(place: Place, rollouts: readonly RolloutSummary[] = [], live: LiveState = { kind: 'live' }): string {
  return titleOf(place, { rollouts: new Map(rollouts.map((one) => [textOfKey(one), one])), live })
}

describe('the title of the tab', () => {
  it.each<[string, Partial<RolloutSummary>]>([
    ['✕ agent failed · Tranche', { outcome: 'Failed' }],
    ['▶ agent running · Tranche', { outcome: 'Running' }],
    ['‖ agent paused · Tranche', { outcome: 'Waiting', paused: true }],
    ['↩ agent rolling back · Tranche', { outcome: 'Running', rollbackFrom: 'bad' }],
    ['✓ agent done · Tranche', {}],
  ])('is %s', (text, changes) => {
    expect(title({ view: 'rollout', key }, [summary(changes)])).toBe(text)
  })

  it('is that of the Rollout in the URL, and its name until it is known', () => {
    const other = summary({ namespace: 'other', outcome: 'Failed' })
    expect(title({ view: 'rollout', key }, [other])).toBe('agent · Tranche')
    expect(title({ view: 'rollout', key }, [other, summary()])).toBe('✓ agent done · Tranche')
  })

  it('counts the Rollouts of the fleet that need the user', () => {
    const waiting = ['a', 'b', 'c'].map((name) => summary({ name, outcome: 'Waiting' }))
    expect(title({ view: 'fleet' }, [...waiting, summary()])).toBe('(3) Tranche')
    expect(title({ view: 'fleet', query: { group: 'running' } }, waiting)).toBe('(3) Tranche')
    expect(title({ view: 'fleet' }, [summary()])).toBe('Tranche')
  })

  it.each<[string, Place]>([
    ['Record · Tranche', { view: 'record' }],
    ['Doctor · Tranche', { view: 'doctor' }],
    ['Plan of agent · Tranche', { view: 'plan', key }],
    ['Policy of agent · Tranche', { view: 'policy', key }],
    ['node-1 · agent · Tranche', { view: 'node', key, node: 'node-1' }],
    ['Not found · Tranche', { view: 'unknown', path: 'x' }],
  ])('of another page is %s', (text, place) => {
    expect(title(place, [summary({ outcome: 'Failed' })])).toBe(text)
  })

  it.each<[string, LiveState]>([
    ['✕ agent failed · not live · Tranche', { kind: 'reconnecting', staleSinceMs: 0, why: 'lost' }],
    ['✕ agent failed · not live · Tranche', { kind: 'ended', staleSinceMs: 0, why: 'refused' }],
    ['✕ agent failed · Tranche', { kind: 'connecting' }],
  ])('is %s while the stream is %o', (text, live) => {
    expect(title({ view: 'rollout', key }, [summary({ outcome: 'Failed' })], live)).toBe(text)
  })
})
