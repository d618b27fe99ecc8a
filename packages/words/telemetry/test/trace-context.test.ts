import { formatTraceContext, noTracer, parseTraceContext } from '@tranche/telemetry'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

const place = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331', isSampled: true, hops: 0 }
const text = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

describe('a trace context', () => {
  it('is a traceparent and the number of passes that propagated it', () => {
    expect(formatTraceContext(place)).toBe(text)
    expect(formatTraceContext({ ...place, isSampled: false, hops: 7 })).toBe(`${text.slice(0, -1)}0;7`)
  })

  it.each([
    '',
    'x',
    text.toUpperCase(),
    ` ${text}`,
    `${text}\n`,
    `${text};`,
    `${text};1000`,
    text.replace(/^00/, 'ff'),
    text.replace(place.traceId, '0'.repeat(32)),
    text.replace(place.spanId, '0'.repeat(16)),
    undefined,
    null,
    7,
    {},
  ])('is not read out of %j', (garbage) => {
    expect(parseTraceContext(garbage)).toBeNull()
  })

  it('round-trips through its text, and parsing never throws', () => {
    const hex = (length: number): fc.Arbitrary<string> =>
      fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: length, maxLength: length }).filter((id) => /[^0]/.test(id))
    const places = fc.record({ traceId: hex(32), spanId: hex(16), isSampled: fc.boolean(), hops: fc.nat(999) })
    fc.assert(
      fc.property(places, (one) => {
        expect(parseTraceContext(formatTraceContext(one))).toEqual(one)
      }),
    )
    fc.assert(
      fc.property(fc.string(), (garbage) => {
        parseTraceContext(garbage)
      }),
    )
  })
})

it('a tracer that records nothing runs the function and returns its promise unchanged', () => {
  const promise = Promise.resolve(1)
  expect(noTracer.begin('pass', {}, () => promise)).toBe(promise)
  expect(noTracer.inside('write', {}, () => promise)).toBe(promise)
  expect(noTracer.after(text, () => promise)).toBe(promise)
  expect([noTracer.current(), noTracer.traceId()]).toEqual([undefined, undefined])
})
