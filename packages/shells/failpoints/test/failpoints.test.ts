import { createFailpoints, listFailpoints, noFailpoints, parseFailpoint } from '@tranche/failpoints'
import { describe, expect, it } from 'vitest'

class Port {
  readonly #calls: string[] = []
  readonly label = 'a port'

  get calls(): readonly string[] {
    return this.#calls
  }

  read(key: string): string {
    this.#calls.push(`read ${key}`)
    if (key === 'bad') throw new Error('no such key')
    return key.toUpperCase()
  }

  async write(key: string): Promise<string> {
    this.#calls.push(`write ${key}`)
    if (key === 'bad') throw new Error('refused')
    return `${key} written`
  }
}

function passing(): { readonly port: Port; readonly passed: string[] } {
  const passed: string[] = []
  const failpoints = createFailpoints((point) => void passed.push(point))
  return { port: failpoints.wrap('port', new Port()), passed }
}

describe('a wrapped port', () => {
  it('passes a failpoint before and after every call, and returns the same results', async () => {
    const { port, passed } = passing()
    expect([port.read('a'), await port.write('b'), port.label, port.calls]).toEqual(['A', 'b written', 'a port', ['read a', 'write b']])
    expect(passed).toEqual(['port.read.before', 'port.read.after', 'port.write.before', 'port.write.after'])
  })

  it('passes the point after a call that failed, too', async () => {
    const { port, passed } = passing()
    expect(() => port.read('bad')).toThrow('no such key')
    await expect(port.write('bad')).rejects.toThrow('refused')
    expect(passed).toEqual(['port.read.before', 'port.read.after', 'port.write.before', 'port.write.after'])
  })

  it('waits at a failpoint for the promise of its watcher, before and after', async () => {
    const gates = { before: Promise.withResolvers<void>(), after: Promise.withResolvers<void>() }
    const failpoints = createFailpoints((point) => (point.endsWith('.before') ? gates.before.promise : gates.after.promise))
    const port = failpoints.wrap('port', new Port())
    let answer: string | null = null
    const call = port.write('a').then((text) => (answer = text))
    await Promise.resolve()
    expect(port.calls).toEqual([])
    gates.before.resolve()
    await new Promise((resolve) => setImmediate(resolve))
    expect([port.calls, answer]).toEqual([['write a'], null])
    gates.after.resolve()
    await call
    expect(answer).toBe('a written')
  })

  it('is the port itself where there are no failpoints', () => {
    const port = new Port()
    expect(noFailpoints.wrap('port', port)).toBe(port)
  })
})

describe('TRANCHE_FAILPOINT', () => {
  const points = listFailpoints({ executor: { read: 'value', deletePod: 'promise', touchPod: 'promise' }, lease: { update: 'promise' } })

  it('parses a failpoint, its count, and its mode', () => {
    expect(parseFailpoint('executor.deletePod.after', points)).toEqual({ point: 'executor.deletePod.after', nth: 1, mode: 'kill' })
    expect(parseFailpoint('executor.deletePod.before#3:freeze', points)).toEqual({
      point: 'executor.deletePod.before',
      nth: 3,
      mode: 'freeze',
    })
    expect(parseFailpoint('lease.update.after:hang', points)).toEqual({ point: 'lease.update.after', nth: 1, mode: 'hang' })
  })

  it.each([
    ['executor.deletepod.after', 'The closest are executor.deletePod.after'],
    ['deletePod', 'The closest are executor.'],
    ['', 'The closest are '],
    ['executor.deletePod.after#0', 'Use a whole number from 1 after #'],
    ['executor.deletePod.after#x', 'The closest are executor.deletePod.after'],
    ['executor.deletePod.after:stop', 'Use freeze or hang after the colon'],
    ['executor.read.after:hang', 'executor.read.after returns at once and cannot hang'],
  ])('refuses %j, and says what to write', (text, hint) => {
    expect(() => parseFailpoint(text, points)).toThrow(
      expect.objectContaining({
        code: 'OPTION_INVALID',
        message: `TRANCHE_FAILPOINT does not take ${JSON.stringify(text)}`,
        hint: expect.stringContaining(hint) as string,
      }),
    )
  })
})
