import { expect, it } from 'vitest'
import { createSlot } from '../src/threads/slot.ts'

const { signal } = new AbortController()

it('runs one piece of work at a time, in order, and refuses the sixth client until one has ended', async () => {
  const runInSlot = createSlot({ one: 'a forecast', many: 'forecasts' })
  const started: string[] = []
  const ends = new Map<string, () => void>()
  const take = (by: string, aborted = signal): Promise<string> =>
    runInSlot({ by, signal: aborted }, async () => {
      started.push(by)
      await new Promise<void>((resolve) => ends.set(by, resolve))
      return by
    })
  const leaving = new AbortController()
  const [ann, , cid] = [take('ann'), take('bob', leaving.signal).catch(() => 'gone'), take('cid'), take('dan'), take('eve')]
  await expect(take('fay')).rejects.toMatchObject({ code: 'NOT_READY', message: '5 forecasts are already running or waiting' })
  expect(started).toEqual(['ann'])
  ends.get('ann')?.()
  expect(await ann).toBe('ann')
  expect(started).toEqual(['ann', 'bob'])

  // Its place is free at once, the slot only when its work has ended.
  leaving.abort(new Error('gone'))
  const fay = take('fay')
  await Promise.resolve()
  expect(started).toEqual(['ann', 'bob'])
  for (const by of ['bob', 'cid', 'dan', 'eve']) {
    await expect.poll(() => started.at(-1)).toBe(by)
    ends.get(by)?.()
  }
  expect(await cid).toBe('cid')
  await expect.poll(() => started.at(-1)).toBe('fay')
  ends.get('fay')?.()
  expect(await fay).toBe('fay')
})
