import type { RecordedWrite } from '@tranche/recording'
import { describe, expect, it } from 'vitest'
import { findUnlisted } from './judge-transitions.ts'

/** A status of a Rollout, written by an actor. */
function write(actor: string, phase: string, changes: Partial<RecordedWrite> = {}): RecordedWrite {
  return { t: 1_000, type: 'MODIFIED', kind: 'Rollout', rv: 1, uid: 'r', actor, o: { status: { phase } }, ...changes }
}

const found = (...writes: readonly RecordedWrite[]): readonly string[] =>
  findUnlisted(writes, (actor) => actor.startsWith('controller-')).map(({ guarantee, text }) => `${guarantee}: ${text}`)
const jump = ['states: controller-1 wrote a transition that no list has: Rollout phase: Disabled to Initial']

describe('the judge of transitions', () => {
  it('accepts a listed transition, and a write that changes no state', () => {
    expect(found(write('controller-1', 'Healthy'), write('controller-1', 'Progressing'), write('controller-1', 'Progressing'))).toEqual([])
  })

  it('finds an unlisted transition once, however often it is written', () => {
    const [a, b] = [write('controller-1', 'Disabled'), write('controller-1', 'Initial')]
    expect(found(a, b, a, b)).toEqual(expect.arrayContaining(jump))
    expect(found(a, b, a, b).filter((text) => text === jump[0])).toHaveLength(1)
  })

  it('compares with what people wrote before, and does not judge people', () => {
    expect(found(write('controller-1', 'Disabled'), write('people', 'Initial'))).toEqual([])
    expect(found(write('people', 'Disabled'), write('controller-1', 'Initial'))).toEqual(jump)
  })

  it('begins again with an object that was created again', () => {
    const gone = write('people', 'Disabled', { type: 'DELETED' })
    expect(found(write('controller-1', 'Disabled'), gone, write('controller-1', 'Initial', { type: 'ADDED' }))).toEqual([])
  })
})
