import { VirtualClock } from '@tranche/clock'
import type { Disturbance } from '@tranche/recording'
import { expect, it } from 'vitest'
import { createDisturbances, type Disturbances } from './disturbances.ts'
import { letPass } from './world.ts'

const TAKEOVER = 18

/** @returns the disturbances that `play` leaves, in milliseconds since the start, merged and in order */
async function merged(play: (all: Disturbances, pass: (ms: number) => Promise<void>) => Promise<void> | void): Promise<readonly string[]> {
  const clock = new VirtualClock()
  const startMs = clock.nowMs()
  const all = createDisturbances(clock, TAKEOVER)
  await play(all, (ms) => letPass(clock, ms))
  const spans: { fromMs: number; toMs: number }[] = []
  for (const one of all.list().toSorted((a: Disturbance, b: Disturbance) => a.fromMs - b.fromMs)) {
    const last = spans.at(-1)
    if (last === undefined || last.toMs < one.fromMs) spans.push({ ...one })
    else last.toMs = Math.max(last.toMs, one.toMs)
  }
  return spans.map(({ fromMs, toMs }) => `${fromMs - startMs} ${toMs - startMs}`)
}

it('a fault of the API lasts as long as it is said to', async () => {
  expect(await merged((all) => all.disturb(50))).toEqual(['0 50'])
})

it('a fault with an end lasts until then, and until another controller leads', async () => {
  const play = async (all: Disturbances, pass: (ms: number) => Promise<void>): Promise<void> => {
    const end = all.begin()
    await pass(100)
    end()
  }
  expect(await merged(play)).toEqual(['0 118'])
})

it('one controller without a program holds nothing up but the take-over, when it goes and when it comes back', async () => {
  expect(await merged((all) => all.disable('controller-a', 100))).toEqual(['0 18', '100 118'])
})

it('both controllers without a program hold everything up', async () => {
  const play = async (all: Disturbances, pass: (ms: number) => Promise<void>): Promise<void> => {
    all.disable('controller-a', Number.POSITIVE_INFINITY)
    await pass(50)
    all.disable('controller-b', 100)
    await pass(40)
    all.restore('controller-a')
  }
  expect(await merged(play)).toEqual(['0 18', '50 108', '150 168'])
})

it('executors hold nothing up', async () => {
  expect(await merged((all) => all.disable('executor-a', 100))).toEqual([])
})
