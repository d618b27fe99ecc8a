import { createSharedQuota } from '@tranche/connections'
import { describe, expect, it } from 'vitest'

describe('a shared quota', () => {
  it('refuses a caller that would have more than its part, and gives the part back once', () => {
    const quota = createSharedQuota({ each: 10, total: 100 })
    const leave = taken(quota.take('a', 8))
    expect([quota.take('a', 3), typeof quota.take('a', 2)]).toEqual(['caller', 'function'])
    leave()
    leave()
    expect([typeof quota.take('a', 8), quota.take('a', 1)]).toEqual(['function', 'caller'])
  })

  it('leaves the last quarter to callers without any, however much each of the others may have', () => {
    const quota = createSharedQuota({ each: 50, total: 100 })
    for (const caller of ['a', 'b', 'c']) taken(quota.take(caller, 25))
    expect(['a', 'b', 'c'].map((caller) => quota.take(caller, 1))).toEqual(['total', 'total', 'total'])
    expect([typeof quota.take('d', 24), quota.take('d', 1), typeof quota.take('e', 1), quota.take('f', 1)]).toEqual([
      'function',
      'total',
      'function',
      'total',
    ])
  })

  it('counts a caller that has returned everything as one without any', () => {
    const quota = createSharedQuota({ each: 50, total: 100 })
    const leave = taken(quota.take('a', 40))
    taken(quota.take('b', 40))
    expect(quota.take('a', 1)).toBe('total')
    leave()
    taken(quota.take('c', 40))
    expect(typeof quota.take('a', 20)).toBe('function')
  })
})

function taken(answer: (() => void) | 'caller' | 'total'): () => void {
  if (typeof answer === 'string') throw new Error(`it was refused: ${answer}`)
  return answer
}
