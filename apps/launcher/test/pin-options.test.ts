import { describe, expect, it } from 'vitest'
import { toPinOptions } from '../src/options/pin-options.ts'

describe('the options of pinned config', () => {
  it.each([
    [{}, { pinConfig: false, pinSecretNamespaces: [] }],
    [{ pinConfig: true }, { pinConfig: true, pinSecretNamespaces: [] }],
    [
      { pinConfig: true, pinSecretNamespace: ['gpu', '*'] },
      { pinConfig: true, pinSecretNamespaces: ['gpu', '*'] },
    ],
  ])('%j are read as %j', (values, options) => {
    expect(toPinOptions(values)).toEqual(options)
  })

  it.each([
    [{ pinConfig: true, pinSecretNamespace: ['a_b'] }, '--pin-secret-namespace does not take "a_b"'],
    [{ pinSecretNamespace: ['gpu'] }, '--pin-secret-namespace requires --pin-config'],
  ])('%j are rejected', (values, message) => {
    expect(() => toPinOptions(values)).toThrow(message)
  })
})
