import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { FakeClock } from '@tranche/clock'
import { type KubeConfigOptions, kubeConfigNames, loadKubeConfig } from '@tranche/kube-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

let folder: string

beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'kubeconfig-'))))
afterAll(() => rmSync(folder, { recursive: true }))

const clock = new FakeClock()
const ca = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'

describe('loadKubeConfig', () => {
  it('reads server, authority, token and namespace of the current context', async () => {
    const path = write({ user: { token: 'secret' } })
    const cluster = await loadKubeConfig({ clock, path })
    expect(cluster).toMatchObject({ server: 'https://127.0.0.1:6443', context: 'first', namespace: 'agents', skipTlsVerify: false })
    expect(await cluster.credentials()).toEqual({ ca, cert: undefined, key: undefined, headers: { authorization: 'Bearer secret' } })
  })

  it('reads another context when it is named', async () => {
    const cluster = await loadKubeConfig({ clock, path: write({}), context: 'second' })
    expect(cluster).toMatchObject({ context: 'second', namespace: 'default' })
  })

  it('uses the given cluster, user and authority instead of those of the context', async () => {
    const authority = writeText('OTHER AUTHORITY')
    const path = write({ user: { token: 'secret' } })
    const choice = { cluster: 'there', user: 'other', certificateAuthority: authority }
    const cluster = await loadKubeConfig({ clock, path, ...choice })
    expect(cluster).toMatchObject({ server: 'https://there:6443', context: 'first', namespace: 'agents', skipTlsVerify: false })
    expect(await cluster.credentials()).toMatchObject({ ca: 'OTHER AUTHORITY', headers: { authorization: 'Bearer other' } })
    await expect(loadKubeConfig({ clock, path, skipTlsVerify: true })).resolves.toMatchObject({ skipTlsVerify: true })
  })

  it('sets the headers of the impersonated user, with one line for each group', async () => {
    const impersonate = { user: 'jane', groups: ['a', 'b'], uid: '7' }
    const cluster = await loadKubeConfig({ clock, path: write({ user: { token: 'secret', as: 'outsider' } }), impersonate })
    expect((await cluster.credentials()).headers).toEqual({
      authorization: 'Bearer secret',
      'impersonate-user': 'jane',
      'impersonate-group': ['a', 'b'],
      'impersonate-uid': '7',
    })
  })

  describe('a user of the kubeconfig that acts as another one', () => {
    const acting = {
      token: 't',
      as: 'jane',
      'as-groups': ['readers'],
      'as-uid': '7',
      'as-user-extra': { 'acme.com/scopes (all)': ['view', 'list'] },
    }
    const rest = { authorization: 'Bearer t', 'impersonate-extra-acme.com%2Fscopes%20%28all%29': ['view', 'list'] }

    it('has its groups, uid and extra facts', async () => {
      const cluster = await loadKubeConfig({ clock, path: write({ user: acting }) })
      expect((await cluster.credentials()).headers).toEqual({
        ...rest,
        'impersonate-user': 'jane',
        'impersonate-group': ['readers'],
        'impersonate-uid': '7',
      })
    })

    it('has those of the kubeconfig that are not given otherwise', async () => {
      const path = write({ user: acting })
      const cluster = await loadKubeConfig({ clock, path, impersonate: { user: 'joe', groups: ['writers'] } })
      const want = { ...rest, 'impersonate-user': 'joe', 'impersonate-group': ['writers'], 'impersonate-uid': '7' }
      expect((await cluster.credentials()).headers).toEqual(want)
    })

    it('is named', async () => {
      const { as: _, ...nameless } = acting
      const cluster = await loadKubeConfig({ clock, path: write({ user: nameless }) })
      expect((await cluster.credentials()).headers).toEqual({ authorization: 'Bearer t' })
    })

    it.each<[key: string, value: unknown, type: string]>([
      ['as-groups', 'readers', 'a list of texts'],
      ['as-uid', 7, 'a text'],
      ['as-user-extra', { scopes: 'view' }, 'a map of lists of texts'],
    ])('is rejected where %s is %j', async (key, value, type) => {
      const path = write({ user: { ...acting, [key]: value } })
      await expect(loadKubeConfig({ clock, path })).rejects.toMatchObject({
        code: 'KUBECONFIG_INVALID',
        message: `kubeconfig ${path}: ${key} of user me is not ${type}`,
      })
    })
  })

  it('reads a client certificate', async () => {
    const user = { 'client-certificate-data': base64('CERT'), 'client-key-data': base64('KEY') }
    const cluster = await loadKubeConfig({ clock, path: write({ user }) })
    expect(await cluster.credentials()).toMatchObject({ cert: 'CERT', key: 'KEY' })
  })

  it('asks an exec plugin for the token', async () => {
    const answer = JSON.stringify({ apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status: { token: 'from-exec' } })
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'echo', args: [answer], interactiveMode: 'Never' }
    const cluster = await loadKubeConfig({ clock, path: write({ user: { exec } }) })
    expect((await cluster.credentials()).headers).toEqual({ authorization: 'Bearer from-exec' })
  })

  it('rereads files after a while, so that a rotated certificate is used', async () => {
    const certificate = join(folder, 'rotated.pem')
    writeFileSync(certificate, 'OLD')
    const cluster = await loadKubeConfig({ clock, path: write({ user: { 'client-certificate': certificate } }) })
    writeFileSync(certificate, 'NEW')
    expect((await cluster.credentials()).cert).toBe('OLD')
    clock.advance(10_000)
    expect((await cluster.credentials()).cert).toBe('NEW')
  })

  it('merges the files of KUBECONFIG, the first one deciding', async () => {
    const first = write({ user: { token: 'secret' } })
    const second = writeText(
      'clusters: [{name: other, cluster: {server: "https://other:6443"}}]\nusers: []\ncontexts: []\ncurrent-context: none\n',
    )
    const env = { KUBECONFIG: [first, second].join(delimiter) }
    expect(await loadKubeConfig({ clock, env })).toMatchObject({ context: 'first', server: 'https://127.0.0.1:6443' })
    expect(await loadKubeConfig({ clock, env, cluster: 'other' })).toMatchObject({ context: 'first', server: 'https://other:6443' })
  })

  it('uses the current context of a later file if the first names none', async () => {
    const env = { KUBECONFIG: [writeText('contexts: []\nclusters: []\nusers: []\n'), write({ user: { token: 'secret' } })].join(delimiter) }
    expect(await loadKubeConfig({ clock, env })).toMatchObject({ context: 'first' })
  })

  it('finds the relative files and the relative plugin of a later file in its own folder', async () => {
    const env = { KUBECONFIG: [writeText('contexts: []\nclusters: []\nusers: []\n'), writeApart('later')].join(delimiter) }
    writePlugin(folder, 'of the first')
    writePlugin(join(folder, 'later'), 'of the later')
    const cluster = await loadKubeConfig({ clock, env })
    expect((await cluster.credentials()).headers).toEqual({ authorization: 'Bearer of the later' })
    expect((await cluster.credentials()).ca).toBe('of the later')
  })

  it('reads the file in the home folder if KUBECONFIG names none', async () => {
    const home = mkdtempSync(join(folder, 'home-'))
    mkdirSync(join(home, '.kube'))
    writeFileSync(join(home, '.kube', 'config'), readFileSync(write({ user: { token: 'secret' } })))
    expect(await loadKubeConfig({ clock, env: { HOME: home, KUBECONFIG: delimiter } })).toMatchObject({ context: 'first' })
  })

  it('lists the names that can be chosen', async () => {
    expect(await kubeConfigNames({ path: write({}) })).toEqual({
      contexts: ['first', 'second'],
      clusters: ['here', 'there'],
      users: ['me', 'other'],
    })
  })

  const refusals: Record<string, { options: () => Partial<KubeConfigOptions>; says: string; hint: string }> = {
    'a missing file': {
      options: () => ({ path: join(folder, 'absent') }),
      says: 'absent cannot be read: ENOENT',
      hint: 'Check that the file exists',
    },
    'a missing file in KUBECONFIG': {
      options: () => ({ env: { KUBECONFIG: join(folder, 'absent') } }),
      says: 'absent cannot be read: ENOENT',
      hint: 'Check that the file exists',
    },
    'a folder': { options: () => ({ path: folder }), says: 'cannot be read: EISDIR', hint: 'Check that the file exists' },
    'text that is not YAML': { options: () => ({ path: writeText('{: [') }), says: 'is not valid: ', hint: 'Fix it' },
    'YAML that is not a kubeconfig': {
      options: () => ({ path: writeText('hello') }),
      says: 'names no current context',
      hint: 'Add a context',
    },
    'an empty file': { options: () => ({ path: writeText('') }), says: 'is not valid: ', hint: 'Fix it' },
    'a missing context': {
      options: () => ({ path: write({}), context: 'third' }),
      says: 'has no context third',
      hint: 'Choose one of its contexts with --context: first, second.',
    },
    'a missing cluster': {
      options: () => ({ path: write({}), cluster: 'elsewhere' }),
      says: 'has no cluster elsewhere',
      hint: 'Choose one with --cluster: here, there.',
    },
    'a missing user': {
      options: () => ({ path: write({}), user: 'third' }),
      says: 'has no user third',
      hint: 'Choose one with --user: me, other.',
    },
    'files with different definitions of a cluster': {
      options: () => ({ env: { KUBECONFIG: [write({}), write({ server: 'https://elsewhere:6443' })].join(delimiter) } }),
      says: 'conflicts with the files before it',
      hint: 'Use different names for clusters, users and contexts in each file of KUBECONFIG.',
    },
    'a server that is not an address': {
      options: () => ({ path: write({ server: 'somewhere' }) }),
      says: 'has no usable server address',
      hint: 'Set clusters[]',
    },
    'a server over plain HTTP': {
      options: () => ({ path: write({ server: 'http://x:80' }) }),
      says: 'speaks plain HTTP',
      hint: 'Use its https address',
    },
    'a cluster behind a proxy': {
      options: () => ({ path: write({ proxy: 'http://proxy:3128' }) }),
      says: 'through the proxy http://proxy:3128',
      hint: 'Remove clusters[].cluster.proxy-url',
    },
    'a missing certificate file': {
      options: () => ({ path: write({ user: { 'client-certificate': '/nowhere/cert.pem' } }) }),
      says: 'the credentials cannot be read: ENOENT',
      hint: 'Check the certificate files',
    },
    'an exec plugin that fails': {
      options: () => ({ path: write({ user: { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: 'false' } } }) }),
      says: 'the credentials cannot be read: ',
      hint: 'by hand',
    },
    'a machine without a kubeconfig': {
      options: () => ({ env: { HOME: folder } }),
      says: 'there is no kubeconfig',
      hint: 'Name a kubeconfig with --kubeconfig PATH',
    },
  }
  it.each(Object.entries(refusals))('refuses %s, saying what to do', async (_name, { options, says, hint }) => {
    const error = await loadKubeConfig({ clock, ...options() }).then(
      () => expect.fail('it did not fail'),
      (reason: unknown) => reason,
    )
    expect(error).toMatchObject({ code: 'KUBECONFIG_INVALID', details: { path: expect.stringContaining(folder) as string } })
    expect((error as Error).message).toContain(says)
    expect((error as { hint: string }).hint).toContain(hint)
  })
})

let files = 0

function writeText(text: string): string {
  const path = join(folder, `config-${files++}`)
  writeFileSync(path, text)
  return path
}

/** A kubeconfig in a folder of its own, whose user has a plugin beside it. */
function writeApart(name: string): string {
  mkdirSync(join(folder, name))
  const path = join(folder, name, 'config')
  const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: './plugin', interactiveMode: 'Never' }
  const config = {
    clusters: [{ name: 'apart', cluster: { server: 'https://127.0.0.1:6443', 'certificate-authority': 'ca.pem' } }],
    users: [{ name: 'apart', user: { exec } }],
    contexts: [{ name: 'apart', context: { cluster: 'apart', user: 'apart' } }],
    'current-context': 'apart',
  }
  writeFileSync(path, JSON.stringify(config))
  return path
}

/** A plugin that returns a token, and an authority of the same text. */
function writePlugin(where: string, token: string): void {
  const credential = { apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status: { token } }
  writeFileSync(join(where, 'plugin'), `#!/bin/sh\necho '${JSON.stringify(credential)}'\n`, { mode: 0o755 })
  writeFileSync(join(where, 'ca.pem'), token)
}

/** A kubeconfig with two contexts. JSON is YAML. */
function write({
  user = {},
  server = 'https://127.0.0.1:6443',
  proxy,
}: {
  readonly user?: object
  readonly server?: string
  readonly proxy?: string
}): string {
  return writeText(
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [
        { name: 'here', cluster: { server, 'certificate-authority-data': base64(ca), 'proxy-url': proxy } },
        { name: 'there', cluster: { server: 'https://there:6443', 'certificate-authority-data': base64(ca) } },
      ],
      users: [
        { name: 'me', user },
        { name: 'other', user: { token: 'other' } },
      ],
      contexts: [
        { name: 'first', context: { cluster: 'here', user: 'me', namespace: 'agents' } },
        { name: 'second', context: { cluster: 'here', user: 'me' } },
      ],
      'current-context': 'first',
    }),
  )
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}
