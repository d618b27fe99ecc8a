import { FakeClock } from '@tranche/clock'
import { beforeEach, describe, expect, it } from 'vitest'
import { type AskedDeletions, createAskedDeletions } from '../src/asked-deletions.ts'

const LIMIT_MS = 60_000
const first = { podUid: 'p1', podResourceVersion: '7' }
const changed = { podUid: 'p1', podResourceVersion: '8' }

let clock: FakeClock
let asked: AskedDeletions

beforeEach(() => {
  clock = new FakeClock()
  asked = createAskedDeletions(clock)
})

type Question = readonly [afterMs: number, permit?: typeof first, node?: string]

function ask(...times: readonly Question[]): readonly boolean[] {
  return times.map(([ms, permit = first, node = 'a']) => {
    clock.advance(ms)
    return asked.isTooLong(node, permit, LIMIT_MS)
  })
}

describe('a deletion', () => {
  it.each<[sentence: string, times: readonly Question[], answers: readonly boolean[]]>([
    ['takes too long from its limit on', [[0], [LIMIT_MS - 1], [1]], [false, false, true]],
    ['has its whole time again after that answer', [[0], [LIMIT_MS], [0], [LIMIT_MS - 1], [1]], [false, true, false, false, true]],
    ['has its whole time again after ten minutes without a question', [[0], [600_001], [LIMIT_MS]], [false, false, true]],
    ['has its whole time again with another permit', [[0], [LIMIT_MS, changed], [LIMIT_MS, changed]], [false, false, true]],
    ['of another node has its own time', [[0], [LIMIT_MS - 1, first, 'b'], [1], [0, first, 'b']], [false, false, true, false]],
  ])('%s', (_sentence, times, answers) => {
    expect(ask(...times)).toEqual(answers)
  })

  it('has its whole time again once its node is forgotten', () => {
    ask([0], [LIMIT_MS - 1])
    asked.forget('a')
    expect(ask([1], [LIMIT_MS])).toEqual([false, true])
  })

  it('does not depend on the wall clock', () => {
    ask([0])
    clock.stepWall(LIMIT_MS)
    expect(ask([0])).toEqual([false])
  })
})
