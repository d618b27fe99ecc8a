import { createSemaphore } from '@tranche/connections'
import { describe, expect, it } from 'vitest'
import { readBounded } from '../src/read-bounded.ts'

const never = new AbortController().signal

describe('a long body', () => {
  it('waits for a slot beyond the free bytes, and always releases it', async () => {
    const semaphore = createSemaphore(1)
    const bounds = { maxBytes: 20, freeBytes: 10, semaphore, signal: never }
    const leave = await semaphore.acquire(never)
    expect(await readBounded(bodyOf(10), bounds)).toHaveLength(10)
    const long = readBounded(bodyOf(15), bounds)
    let isRead = false
    void long.then(() => (isRead = true))
    await turns()
    expect(isRead).toBe(false)
    leave()
    expect(await long).toHaveLength(15)
    expect(await readBounded(bodyOf(25), bounds)).toBeNull()
    expect(await readBounded(bodyOf(15), bounds)).toHaveLength(15)
  })
})

async function* bodyOf(bytes: number): AsyncGenerator<Uint8Array, void, undefined> {
  for (let left = bytes; left > 0; left -= 5) yield new Uint8Array(5).fill(97)
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve()
}
