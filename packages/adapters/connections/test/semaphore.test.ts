import { createSemaphore } from '@tranche/connections'
import { describe, expect, it } from 'vitest'

const never = new AbortController().signal

describe('semaphore', () => {
  it('admits up to its number of slots, then the request that has waited longest', async () => {
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

  it('gives no slot to a request that has aborted', async () => {
    const semaphore = createSemaphore(1)
    const leave = await semaphore.acquire(never)
    const given = new AbortController()
    const gone = semaphore.acquire(given.signal)
    given.abort(new Error('late'))
    await expect(gone).rejects.toThrow('late')
    leave()
    await expect(semaphore.acquire(never)).resolves.toBeTypeOf('function')
  })

  it('lets callers take turns, also one that comes while another has much waiting', async () => {
    const semaphore = createSemaphore(1)
    const ended: string[] = []
    const run = (caller: string): Promise<void> =>
      semaphore.run(never, caller, async () => {
        await turns()
        ended.push(caller)
      })
    const early = [run('a'), run('a'), run('a'), run('b'), run('b')]
    await early[0]
    await Promise.all([...early, run('c')])
    expect(ended).toEqual(['a', 'b', 'a', 'c', 'b', 'a'])
  })

  it('puts a caller behind those that came during its work', async () => {
    const semaphore = createSemaphore(1)
    const order: string[] = []
    const first = await semaphore.acquire(never, 'a')
    const waiting = ['a', 'b'].map(async (caller) => {
      const leave = await semaphore.acquire(never, caller)
      order.push(caller)
      leave()
    })
    first()
    await Promise.all(waiting)
    expect(order).toEqual(['b', 'a'])
  })

  it('gives two free slots to two callers', async () => {
    const semaphore = createSemaphore(2)
    const held = [await semaphore.acquire(never, 'a'), await semaphore.acquire(never, 'a')]
    const order: string[] = []
    const waiting = ['b', 'b', 'c'].map((caller) => semaphore.acquire(never, caller).then(() => order.push(caller)))
    for (const release of held) release()
    await Promise.all([waiting[0], waiting[2]])
    expect(order).toEqual(['b', 'c'])
  })

  it('releases the slot of failed work, and does not start work after an abort', async () => {
    const semaphore = createSemaphore(1)
    await expect(semaphore.run(never, 'a', () => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
    const given = new AbortController()
    let hasStarted = false
    const late = semaphore.run(given.signal, 'a', async () => void (hasStarted = true))
    given.abort(new Error('late'))
    await expect(late).rejects.toThrow('late')
    expect(hasStarted).toBe(false)
    await expect(semaphore.run(never, 'a', async () => 'done')).resolves.toBe('done')
  })
})

async function turns(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve()
}
