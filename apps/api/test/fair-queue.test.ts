import { FakeClock } from '@tranche/clock'
import { beforeEach, expect, it } from 'vitest'
import { createFairQueue, type FairQueue, type FairQueueClient } from '../src/http/fair-queue.ts'

let clock: FakeClock
let queue: FairQueue
/** Whose turns have begun, and how they end. */
let begun: { readonly label: string; readonly end: (result: boolean) => void }[]
let refused: string[]

beforeEach(() => {
  clock = new FakeClock()
  queue = createFairQueue({ clock, atOnce: 2, slotsPerAddress: 4, slots: 6, failuresPerSecond: 3 })
  begun = []
  refused = []
})

/** @param who begins with its address: `a1` comes from `a` */
function come(label: string, client: Partial<FairQueueClient> = {}): void {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const work = (): Promise<boolean> => {
    begun.push({ label, end: resolve })
    return promise
  }
  const whole = { address: label.charAt(0), connection: {}, signal: new AbortController().signal, ...client }
  queue.run(whole, work, (isGood) => !isGood).catch((error: Error) => refused.push(`${label}: ${error.message}`))
}

async function end(label: string, isGood = true): Promise<void> {
  begun.find((one) => one.label === label)?.end(isGood)
  await settled()
}

/** Turns of the loop are not time. */
async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
}

const names = (): readonly string[] => begun.map(({ label }) => label)

it('gives a few turns at a time, address by address, and those of one address in their order', async () => {
  for (const label of ['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'b2']) come(label)
  expect(names()).toEqual(['a1', 'a2'])
  for (const label of ['a1', 'a2', 'a3', 'b1', 'c1', 'a4']) await end(label)
  expect(names()).toEqual(['a1', 'a2', 'a3', 'b1', 'c1', 'a4', 'b2'])
})

it('lets an address wait that has failed as often as it may in a second, and no other', async () => {
  for (const label of ['a1', 'a2', 'a3', 'a4']) come(label)
  for (const label of ['a1', 'a2', 'a3', 'a4']) await end(label, false)
  come('a5')
  come('b1')
  expect(names()).toEqual(['a1', 'a2', 'a3', 'a4', 'b1'])
  clock.advance(1_000)
  expect(names().at(-1)).toBe('a5')
})

it('has so many places for one address, and one for a connection', async () => {
  for (const label of ['a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'a7']) come(label)
  const connection = {}
  come('b1', { connection })
  come('b2', { connection })
  await settled()
  expect(refused).toEqual([
    'a7: too many requests from unauthenticated clients: 4 such requests from this address are waiting',
    'b2: too many requests from unauthenticated clients: a connection can have only one such request at a time',
  ])
})

it('turns away the last of the longest line when all places are taken, and never somebody whose line is short', async () => {
  for (const label of ['a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'b1', 'c1', 'd1', 'e1', 'f1', 'g1', 'h1']) come(label)
  await settled()
  expect(refused.map((text) => text.slice(0, 2)).sort()).toEqual(['a4', 'a5', 'a6', 'g1', 'h1'])
  for (const label of ['a1', 'a2', 'a3', 'b1', 'c1', 'd1']) await end(label)
  expect(names()).toEqual(['a1', 'a2', 'a3', 'b1', 'c1', 'd1', 'e1', 'f1'])
})

it('forgets who goes away while they wait, and gives their place to others', async () => {
  const leaving = new AbortController()
  for (const label of ['a1', 'a2']) come(label)
  come('a3', { signal: leaving.signal })
  come('a4')
  leaving.abort(new Error('gone'))
  await end('a1')
  expect([names(), refused]).toEqual([['a1', 'a2', 'a4'], ['a3: gone']])
})
