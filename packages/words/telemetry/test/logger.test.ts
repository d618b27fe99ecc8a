import { silentLogger } from '@tranche/telemetry'
import { describe, expect, it } from 'vitest'

describe('silentLogger', () => {
  it('accepts every line and every child, and writes nothing', () => {
    for (const level of ['debug', 'info', 'warn', 'error'] as const) expect(silentLogger[level]({ key: 'a' }, 'said')).toBeUndefined()
    expect(silentLogger.child({ controller: 'test' })).toBe(silentLogger)
  })
})
