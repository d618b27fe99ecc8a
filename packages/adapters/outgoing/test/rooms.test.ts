import { describe, expect, it } from 'vitest'
import { readBounded } from '../src/read-bounded.ts'
import { createRooms } from '../src/rooms.ts'

const never = new AbortController().signal

describe('rooms', () => {
  it('let in as many as there are, then whoever has waited for the longest time', async () => {
    const rooms = createRooms(2)
    const entered: string[] = []
    const enter = async (name: string): Promise<() => void> => {
      const leave = await rooms.enter(never)
      entered.push(name)
      return leave
    }
    const [leaveA] = await Promise.all([enter('a'), enter('b')])
    const waiting = [enter('c'), enter('d')]
    await turns()
    expect(entered).toEqual(['a', 'b'])
    leaveA?.()
    await waiting[0]
    expect(entered).toEqual(['a', 'b', 'c'])
  })

  it('are not held by whoever has given up waiting', async () => {
    const rooms = createRooms(1)
    const leave = await rooms.enter(never)
    const given = new AbortController()
    const gone = rooms.enter(given.signal)
    given.abort(new Error('late'))
    await expect(gone).rejects.toThrow('late')
    leave()
    await expect(rooms.enter(never)).resolves.toBeTypeOf('function')
  })
})

describe('a long body', () => {
  it('waits for a room beyond what is free, and leaves it whatever becomes of it', async () => {
    const rooms = createRooms(1)
    const bounds = { maxBytes: 20, freeBytes: 10, rooms, signal: never }
    const leave = await rooms.enter(never)
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
