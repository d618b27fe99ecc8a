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

it('leaves places to others, however many service accounts a user creates in a namespace', async () => {
  const runInSlot = createSlot({ one: 'a forecast', many: 'forecasts' })
  const ends: (() => void)[] = []
  const take = (by: string): Promise<void> => runInSlot({ by, signal }, () => new Promise<void>((resolve) => ends.push(resolve)))
  const taken = [take('system:serviceaccount:demo:a'), take('system:serviceaccount:demo:b')]
  await expect(take('system:serviceaccount:demo:c')).rejects.toMatchObject({
    code: 'RATE_LIMITED',
    message: '2 forecasts for service accounts of namespace "demo" are already running or waiting',
  })
  taken.push(take('system:serviceaccount:other:a'), take('ann'), take('bob'))
  for (let ended = 0; ended < taken.length; ended++) {
    await expect.poll(() => ends.length).toBe(ended + 1)
    ends[ended]?.()
  }
  await Promise.all(taken)
  const again = take('system:serviceaccount:demo:c')
  await expect.poll(() => ends.length).toBe(6)
  ends[5]?.()
  await again
})
