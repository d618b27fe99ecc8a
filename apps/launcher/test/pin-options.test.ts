import { describe, expect, it } from 'vitest'
import { toPinOptions } from '../src/options/pin-options.ts'

describe('the options of pinned config', () => {
  it.each([
    [{}, { pinConfig: false, pinSecretNamespaces: [], podPolicy: undefined }],
    [{ pinConfig: true }, { pinConfig: true, pinSecretNamespaces: [], podPolicy: undefined }],
    [
      { pinConfig: true, pinSecretNamespace: ['gpu', '*'] },
      { pinConfig: true, pinSecretNamespaces: ['gpu', '*'], podPolicy: undefined },
    ],
    [
      { pinConfig: true, podPolicy: 'agents-pods' },
      { pinConfig: true, pinSecretNamespaces: [], podPolicy: 'agents-pods' },
    ],
  ])('%j are read as %j', (values, options) => {
    expect(toPinOptions(values)).toEqual(options)
  })

  it.each([
    [{ pinConfig: true, pinSecretNamespace: ['a_b'] }, '--pin-secret-namespace does not take "a_b"'],
    [{ pinSecretNamespace: ['gpu'] }, '--pin-secret-namespace requires --pin-config'],
    [{ pinConfig: true, podPolicy: 'Pods/' }, '--pod-policy does not take "Pods/"'],
    [{ podPolicy: 'tranche-pods' }, '--pod-policy requires --pin-config'],
  ])('%j are rejected', (values, message) => {
    expect(() => toPinOptions(values)).toThrow(message)
  })
})
