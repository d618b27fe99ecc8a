import { describe, expect, it } from 'vitest'
import { toDrainOptions } from '../src/options/drain-options.ts'

describe('the options of drains', () => {
  it.each([
    [{}, { drainNamespaces: [], drainConditions: false }],
    [{ drainNamespace: ['gpu', '*'] }, { drainNamespaces: ['gpu', '*'], drainConditions: false }],
    [
      { drainNamespace: ['gpu'], drainConditions: true },
      { drainNamespaces: ['gpu'], drainConditions: true },
    ],
  ])('%j are read as %j', (values, options) => {
    expect(toDrainOptions(values)).toEqual(options)
  })

  it.each([
    [{ drainNamespace: ['a_b'] }, '--drain-namespace does not take "a_b"'],
    [{ drainConditions: true }, '--drain-conditions requires --drain-namespace'],
  ])('%j are rejected', (values, message) => {
    expect(() => toDrainOptions(values)).toThrow(message)
  })
})
