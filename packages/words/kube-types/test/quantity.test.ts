import { formatQuantity, parseQuantity, quantityForm } from '@tranche/kube-types'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

describe('a quantity', () => {
  it.each<[text: string, nano: bigint | undefined, again: string]>([
    ['500m', 500_000_000n, '500m'],
    ['0.5', 500_000_000n, '500m'],
    ['2', 2_000_000_000n, '2'],
    ['1500m', 1_500_000_000n, '1500m'],
    ['1000m', 1_000_000_000n, '1'],
    ['1Gi', 1_073_741_824_000_000_000n, '1Gi'],
    ['1536Mi', 1_610_612_736_000_000_000n, '1536Mi'],
    ['2e3', 2_000_000_000_000n, '2k'],
    ['100n', 100n, '100n'],
    ['0.1n', 1n, '1n'],
    ['-1', -1_000_000_000n, '-1'],
    ['0', 0n, '0'],
    ['1e999999999', 10n ** 39n, '1000000000000E'],
    ['1e-999999999', 1n, '1n'],
    ['many', undefined, ''],
    ['0'.repeat(101), undefined, ''],
  ])('%s is read and written as the API server does', (text, nano, again) => {
    const read = parseQuantity(text)
    expect(read).toBe(nano)
    if (read !== undefined) expect(formatQuantity(read, quantityForm(text))).toBe(again)
  })

  it('round-trips through its text', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 27n }), fc.constantFrom('decimal' as const, 'binary' as const), (nano, form) => {
        expect(parseQuantity(formatQuantity(nano, form))).toBe(nano)
      }),
    )
  })
})
