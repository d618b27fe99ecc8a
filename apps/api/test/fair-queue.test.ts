import { FakeClock } from '@tranche/clock'
import { beforeEach, expect, it } from 'vitest'
import { createFairQueue, type FairQueue, type FairQueueClient } from '../src/limits/fair-queue.ts'

let clock: FakeClock
let queue: FairQueue
/** Started work with functions to end it. */
let begun: { readonly label: string; readonly end: (result: boolean) => void }[]
let refused: string[]

beforeEach(() => {
  clock = new FakeClock()
  queue = createFairQueue({ clock, atOnce: 2, slotsPerAddress: 4, slots: 6, failuresPerSecond: 3 })
  begun = []
  refused = []
})

/** @param label starts with the address: `a1` comes from `a` */
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

/** Waits for an iteration of the event loop; the fake clock does not advance. */
async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
}

const names = (): readonly string[] => begun.map(({ label }) => label)

it('serves a few clients at a time, round-robin by address, and in order within an address', async () => {
  for (const label of ['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'b2']) come(label)
  expect(names()).toEqual(['a1', 'a2'])
  for (const label of ['a1', 'a2', 'a3', 'b1', 'c1', 'a4']) await end(label)
  expect(names()).toEqual(['a1', 'a2', 'a3', 'b1', 'c1', 'a4', 'b2'])
})

it('delays only an address that has used up its failures per second', async () => {
  for (const label of ['a1', 'a2', 'a3', 'a4']) come(label)
  for (const label of ['a1', 'a2', 'a3', 'a4']) await end(label, false)
  come('a5')
  come('b1')
  expect(names()).toEqual(['a1', 'a2', 'a3', 'a4', 'b1'])
  clock.advance(1_000)
  expect(names().at(-1)).toBe('a5')
})

it('limits the waiting clients of an address, and allows one request per connection', async () => {
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

it('refuses the last client of the longest line when full, never one of a short line', async () => {
  for (const label of ['a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'b1', 'c1', 'd1', 'e1', 'f1', 'g1', 'h1']) come(label)
  await settled()
  expect(refused.map((text) => text.slice(0, 2)).sort()).toEqual(['a4', 'a5', 'a6', 'g1', 'h1'])
  for (const label of ['a1', 'a2', 'a3', 'b1', 'c1', 'd1']) await end(label)
  expect(names()).toEqual(['a1', 'a2', 'a3', 'b1', 'c1', 'd1', 'e1', 'f1'])
})

it('frees the slot of a client that disconnects while it waits', async () => {
  const leaving = new AbortController()
  for (const label of ['a1', 'a2']) come(label)
  come('a3', { signal: leaving.signal })
  come('a4')
  leaving.abort(new Error('gone'))
  await end('a1')
  expect([names(), refused]).toEqual([['a1', 'a2', 'a4'], ['a3: gone']])
})
