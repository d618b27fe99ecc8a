import { createSemaphore } from '@tranche/connections'
import { describe, expect, it } from 'vitest'

const never = new AbortController().signal

describe('semaphore slots', () => {
  it('admit up to their number, then the caller that has waited longest', async () => {
    const semaphore = createSemaphore(2)
    const entered: string[] = []
    const acquire = async (name: string): Promise<() => void> => {
      const leave = await semaphore.acquire(never)
      entered.push(name)
      return leave
    }
    const [leaveA] = await Promise.all([acquire('a'), acquire('b')])
    const waiting = [acquire('c'), acquire('d')]
    await turns()
    expect(entered).toEqual(['a', 'b'])
    leaveA?.()
    await waiting[0]
    expect(entered).toEqual(['a', 'b', 'c'])
  })

  it('are not taken by a caller that has aborted', async () => {
    const semaphore = createSemaphore(1)
    const leave = await semaphore.acquire(never)
    const given = new AbortController()
    const gone = semaphore.acquire(given.signal)
    given.abort(new Error('late'))
    await expect(gone).rejects.toThrow('late')
    leave()
    await expect(semaphore.acquire(never)).resolves.toBeTypeOf('function')
  })
})

async function turns(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve()
}
