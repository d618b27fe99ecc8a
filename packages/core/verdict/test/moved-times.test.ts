import { movedTimes, withMovedTimes } from '@tranche/verdict'
import { describe, expect, it } from 'vitest'
import { at, judge } from './verdict-notation.ts'

const stoppedTime = { release: 'r1', startedAt: at(0), seconds: 5, since: at(10) }
const failure = { reason: 'ReleaseFailed', message: 'bad', nodes: ['a'], count: 1, stops: true, release: 'r1', recoveredSince: at(100) }
const none = new Map<string, string>()

describe.each([{ step: -240 }, { step: 240 }, { step: -86_400 }])('a clock that was set by $step s (F14)', ({ step }) => {
  const moved = movedTimes(none, { stoppedTime, failure }, step * 1000)

  it('moves only the start of a stop and of a time without failures', () => {
    expect(withMovedTimes({ stoppedTime, failure, phase: 'Progressing' }, moved)).toEqual({
      stoppedTime: { ...stoppedTime, since: at(10 + step) },
      failure: { ...failure, recoveredSince: at(100 + step) },
      phase: 'Progressing',
    })
  })

  it.each([
    ['not early', 159, true],
    ['not late', 160, false],
  ] as const)('ends autoResume %s', (_name, seconds, isStopped) => {
    const status = withMovedTimes({ failure }, moved)
    const { stops } = judge({ nodes: { a: {}, b: {} }, status, rules: { autoResume: '60s' }, at: seconds + step })
    expect(stops !== null).toBe(isStopped)
  })

  it('moves the same status only once, however often it is read', () => {
    expect(movedTimes(moved, { stoppedTime, failure }, 0)).toEqual(moved)
    const written = withMovedTimes({ stoppedTime, failure }, moved)
    const next = movedTimes(moved, written, 0)
    expect(withMovedTimes(written, next)).toEqual(written)
  })

  it('moves it by both when the clock was set twice', () => {
    const again = movedTimes(moved, { stoppedTime, failure }, 60_000)
    expect(withMovedTimes({ stoppedTime }, again).stoppedTime.since).toBe(at(10 + step + 60))
  })
})

it('movedTimes ignores absent and invalid times', () => {
  const unreadable = { stoppedTime: { ...stoppedTime, since: 'lately' } }
  expect(withMovedTimes(unreadable, movedTimes(none, unreadable, 60_000))).toEqual(unreadable)
  expect(withMovedTimes({}, movedTimes(none, undefined, 60_000))).toEqual({})
})
