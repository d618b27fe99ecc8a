import { describe, expect, it } from 'vitest'
import { toAccessOptions, toOutputOptions } from '../src/options/access-options.ts'
import { parseDurationOption } from '../src/options/duration-option.ts'

describe('the options that select a server', () => {
  it('uses the cluster of the kubeconfig by default', () => {
    expect(toAccessOptions({}, {})).toEqual({
      source: { kind: 'cluster', skipTlsVerify: false },
      namespace: undefined,
      allNamespaces: false,
      selector: undefined,
      requestTimeoutMs: 15_000,
    })
  })

  it('uses a named cluster, even if the environment names a REST API', () => {
    const env = { TRANCHE_SERVER: 'https://tranche.example' }
    expect(toAccessOptions({}, env)).toMatchObject({ source: { kind: 'server' } })
    for (const values of [{ context: 'a' }, { cluster: 'a' }, { user: 'a' }, { as: 'a' }, { insecureSkipTlsVerify: true }])
      expect(toAccessOptions(values, env)).toMatchObject({ source: { kind: 'cluster' } })
  })

  it.each(['6', '=6'])('reads the level of -v as kubectl does: %s', (v) => {
    expect(toAccessOptions({ v }, {})).toMatchObject({ source: { kind: 'cluster', verbosity: 6 } })
  })

  it('searches all namespaces if both -A and -n are given, as kubectl does', () => {
    expect(toAccessOptions({ namespace: 'demo', allNamespaces: true }, {})).toMatchObject({ namespace: undefined, allNamespaces: true })
  })

  const refused: Record<string, { values: Record<string, unknown>; env?: Record<string, string>; says: string }> = {
    'an invalid namespace': { values: { namespace: 'Demo_1' }, says: '--namespace does not take "Demo_1"' },
    'a certificate authority with verification off': {
      values: { certificateAuthority: 'ca.pem', insecureSkipTlsVerify: true },
      says: '--insecure-skip-tls-verify cannot be combined with --certificate-authority',
    },
    'an empty name': { values: { cluster: '' }, says: '--cluster does not take ""' },
    'invalid labels': { values: { selector: ' ' }, says: '--selector does not take " "' },
    'a token that others can read on the network': {
      values: { server: 'http://tranche.example' },
      env: { TRANCHE_TOKEN: 'secret' },
      says: '--server is plain HTTP to tranche.example, so anyone on the network path can read your token',
    },
    'a token that others can read in the process list': {
      values: { server: 'https://tranche.example', token: 'secret' },
      says: '--token shows the token to every user of this machine in the process list',
    },
    'a token file over plain HTTP': {
      values: { server: 'http://10.0.0.1:8080', tokenFile: 'token' },
      says: '--server is plain HTTP to 10.0.0.1',
    },
    'a host whose name only begins like this machine': {
      values: { server: 'http://127.0.0.1.example' },
      env: { TRANCHE_TOKEN: 'secret' },
      says: '--server is plain HTTP to 127.0.0.1.example',
    },
    'an empty path': { values: { kubeconfig: '' }, says: '--kubeconfig does not take ""' },
    'a level that is not a number': { values: { v: 'debug' }, says: '--v does not take "debug"' },
    'an invalid time without a unit': { values: { requestTimeout: 'soon' }, says: '--request-timeout does not take "soon"' },
  }

  it.each(Object.entries(refused))('refuses %s', (_what, { values, env = {}, says }) => {
    expect(() => toAccessOptions(values, env)).toThrow(says)
  })

  it.each([
    [{ server: 'https://tranche.example' }, 'secret'],
    [{ server: 'http://tranche.example' }, ''],
    [{ server: 'http://tranche.example', allowHttp: true }, 'secret'],
    [{ server: 'http://127.0.0.1:8080' }, 'secret'],
    [{ server: 'http://localhost:8080' }, 'secret'],
    [{ server: 'http://[::1]:8080', tokenFile: 'token' }, ''],
  ] as const)('sends a token only over a private connection, or if the user allows it: %o', (values, token) => {
    expect(toAccessOptions(values, { TRANCHE_TOKEN: token })).toMatchObject({ source: { kind: 'server', url: values.server } })
  })

  it('reads tokens and the plain HTTP setting from the environment', () => {
    const env = { TRANCHE_SERVER: 'http://tranche.tranche-system.svc', TRANCHE_TOKEN: 'secret' }
    expect(() => toAccessOptions({}, env)).toThrow('--server is plain HTTP to tranche.tranche-system.svc')
    expect(toAccessOptions({}, { ...env, TRANCHE_ALLOW_HTTP: 'true' })).toMatchObject({ source: { kind: 'server' } })
  })

  it('refuses a format that the command does not support', () => {
    expect(() => toOutputOptions({ output: 'wide' }, ['json', 'yaml'])).toThrow('--output does not take "wide"')
    expect(() => toOutputOptions({ output: 'xml' }, ['json', 'yaml'])).toThrow('--output does not take "xml"')
  })
})

describe('parseDuration', () => {
  it.each([
    ['0', 0],
    ['90', 90_000],
    ['90s', 90_000],
    ['1h30m', 5_400_000],
    ['1.5m', 90_000],
    ['250ms', 250],
  ])('reads %s', (text, ms) => {
    expect(parseDurationOption('--timeout', text)).toBe(ms)
  })

  it.each(['', '-1', '10 m', 'm', '1x', '1m-', '400d', 'Infinity'])('refuses %j', (text) => {
    expect(() => parseDurationOption('--timeout', text)).toThrow('--timeout does not take')
  })
})
