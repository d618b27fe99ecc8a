import { silentLogger } from '@tranche/log'
import { describe, expect, it } from 'vitest'

describe('silentLogger', () => {
  it('takes every line and every child without a word', () => {
    for (const level of ['debug', 'info', 'warn', 'error'] as const) expect(silentLogger[level]({ key: 'a' }, 'said')).toBeUndefined()
    expect(silentLogger.child({ controller: 'test' })).toBe(silentLogger)
  })
})
