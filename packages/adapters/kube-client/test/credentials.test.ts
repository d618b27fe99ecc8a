import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { delimiter, join, relative } from 'node:path'
import { FakeClock, systemClock } from '@tranche/clock'
import { createKubeClient, createUndiciExchange, type KubeClient, loadKubeConfig, resourcePaths } from '@tranche/kube-client'
import { silentLogger } from '@tranche/telemetry'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type HttpsServer, startHttpsServer } from './https-server.ts'

// Plugins are real processes, providers and API servers real servers on loopback.

let folder: string
const closing: (() => Promise<void>)[] = []

beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'credentials-'))))
afterAll(() => rmSync(folder, { recursive: true }))
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const V1 = 'client.authentication.k8s.io/v1'

describe('an exec plugin', () => {
  it('learns from KUBERNETES_EXEC_INFO that it is not interactive, and about the cluster only if it asks', async () => {
    const cluster = await loadKubeConfig({ clock: new FakeClock(), path: writeConfig({ user: { exec: echoOf('$KUBERNETES_EXEC_INFO') } }) })
    expect(await tokenOf(cluster)).toEqual({ apiVersion: V1, kind: 'ExecCredential', spec: { interactive: false } })
  })

  it('receives the cluster if it asks, with the authority from its file', async () => {
    const authority = write('authority.pem', 'PEM')
    const user = { exec: { ...echoOf('$KUBERNETES_EXEC_INFO'), provideClusterInfo: true } }
    const path = writeConfig({ user, cluster: { 'certificate-authority': authority, 'tls-server-name': 'api' } })
    expect(await tokenOf(await loadKubeConfig({ clock: new FakeClock(), path }))).toMatchObject({
      spec: { cluster: { server: SERVER, 'tls-server-name': 'api', 'certificate-authority-data': base64('PEM') } },
    })
  })

  it('is found beside the kubeconfig when its path is relative', async () => {
    write('plugin.sh', `#!/bin/sh\necho '${credentialOf('beside')}'\n`, 0o755)
    const exec = { apiVersion: V1, command: './plugin.sh', interactiveMode: 'Never' }
    const cluster = await loadKubeConfig({ clock: new FakeClock(), path: writeConfig({ user: { exec } }) })
    expect((await cluster.credentials()).headers).toEqual({ authorization: 'Bearer beside' })
  })

  it('is rejected if it requires a terminal', async () => {
    const exec = { apiVersion: V1, command: 'login', interactiveMode: 'Always' }
    await expect(loadKubeConfig({ clock: new FakeClock(), path: writeConfig({ user: { exec } }) })).rejects.toMatchObject({
      code: 'KUBECONFIG_INVALID',
      message: expect.stringContaining('the plugin login needs a terminal (interactiveMode: Always)') as string,
    })
  })

  it.each([
    [
      'a folder that is relative to the current one',
      false,
      'of PATH, which is relative to the current folder; set exec.command to its absolute path',
    ],
    ['a folder that every user can write to', true, 'every user of this machine can write to '],
  ])('is not run from %s in PATH', async (_what, isAbsolutePath, why) => {
    const open = join(folder, 'open')
    mkdirSync(open, { recursive: true })
    chmodSync(open, 0o1777)
    write('open/planted', `#!/bin/sh\ntouch ${folder}/has-run\necho '${credentialOf('planted')}'\n`, 0o755)
    const before = process.env['PATH']
    const exec = { apiVersion: V1, command: 'planted', interactiveMode: 'Never' }
    process.env['PATH'] = [isAbsolutePath ? open : relative(process.cwd(), open), before].join(delimiter)
    try {
      await expect(loadKubeConfig({ clock: new FakeClock(), path: writeConfig({ user: { exec } }) })).rejects.toMatchObject({
        code: 'KUBECONFIG_INVALID',
        message: expect.stringContaining(why) as string,
      })
      expect(existsSync(join(folder, 'has-run'))).toBe(false)
    } finally {
      process.env['PATH'] = before
    }
  })

  it('may provide an install hint', async () => {
    const exec = { apiVersion: V1, command: 'no-such-plugin', installHint: 'Install it with the package manager.' }
    await expect(loadKubeConfig({ clock: new FakeClock(), path: writeConfig({ user: { exec } }) })).rejects.toMatchObject({
      message: expect.stringContaining('the plugin no-such-plugin failed: no such program in the folders of PATH') as string,
      hint: 'Install it with the package manager.',
    })
  })

  it('may return a certificate with its key, and no token', async () => {
    const status = { clientCertificateData: ' CERT\n', clientKeyData: 'KEY' }
    const plugin = printing(JSON.stringify({ apiVersion: V1, kind: 'ExecCredential', status }))
    const cluster = await loadKubeConfig({ clock: new FakeClock(), path: writeConfig({ user: { exec: plugin.exec } }) })
    expect(await cluster.credentials()).toMatchObject({ cert: 'CERT', key: 'KEY', headers: {} })
  })

  it('runs again as soon as its credentials expire, and not before', async () => {
    const clock = new FakeClock()
    const plugin = printing(credentialOf('a', clock.nowMs() + 20_000))
    const cluster = await loadKubeConfig({ clock, path: writeConfig({ user: { exec: plugin.exec } }) })
    plugin.print(credentialOf('b'))
    clock.advance(10_000)
    expect((await cluster.credentials()).headers).toEqual({ authorization: 'Bearer a' })
    clock.advance(10_000)
    expect((await cluster.credentials()).headers).toEqual({ authorization: 'Bearer b' })
  })

  it.each([
    ['what it complains of', 'echo "  no login  " >&2; exit 3', 'failed: exit code 3: no login'],
    ['nothing more where it complains of nothing', 'exit 3', 'failed: exit code 3'],
  ])('that fails is named with its exit code and %s', async (_what, script, says) => {
    const exec = { apiVersion: V1, command: 'sh', args: ['-c', script], interactiveMode: 'Never' }
    await expect(loadKubeConfig({ clock: new FakeClock(), path: writeConfig({ user: { exec } }) })).rejects.toMatchObject({
      message: expect.stringMatching(new RegExp(`${says}$`)) as string,
      hint: 'Run its exec plugin by hand to see the error.',
    })
  })

  it('is rejected if its expiry is not a time', async () => {
    const plugin = printing(JSON.stringify({ apiVersion: V1, kind: 'ExecCredential', status: { token: 't', expirationTimestamp: 'soon' } }))
    await expect(loadKubeConfig({ clock: new FakeClock(), path: writeConfig({ user: { exec: plugin.exec } }) })).rejects.toMatchObject({
      message: expect.stringContaining('its status.expirationTimestamp is not a time') as string,
    })
  })

  it('is killed after a minute, because it may be waiting for a person', async () => {
    const clock = new FakeClock()
    const exec = { apiVersion: V1, command: 'cat', interactiveMode: 'IfAvailable' }
    const loading = loadKubeConfig({ clock, path: writeConfig({ user: { exec } }) })
    const refused = expect(loading).rejects.toMatchObject({ message: expect.stringContaining('cat did not end within 60 s') as string })
    while (clock.pendingTimers === 0) await new Promise((resolve) => setImmediate(resolve))
    clock.advance(60_000)
    await refused
  })
})

describe('a misbehaving exec plugin', () => {
  const junk = ['null', '{}', '[]', '{"status":{}}', '{"status":{"token":" "}}', '{"status":{"clientCertificateData":"c"}}', 's3cr3t']

  it.each(junk)('is rejected at the start when it prints %s, without quoting it', async (output) => {
    const loading = loadKubeConfig({ clock: new FakeClock(), path: writeConfig({ user: { exec: printing(output).exec } }) })
    const error = await loading.catch((refusal: unknown) => refusal)
    expect(error).toMatchObject({ code: 'KUBECONFIG_INVALID', message: expect.stringContaining('it printed ') as string })
    expect(JSON.stringify([error, String(error)])).not.toContain('s3cr3t')
  })

  it.each(junk)('prints %s later: causes a temporary error, and runs again', async (output) => {
    const clock = new FakeClock()
    const plugin = printing(credentialOf('a', clock.nowMs() + 1_000))
    const cluster = await loadKubeConfig({ clock, path: writeConfig({ user: { exec: plugin.exec } }) })
    clock.advance(11_000)
    plugin.print(output)
    await expect(cluster.credentials()).rejects.toMatchObject({ code: 'CREDENTIALS_UNAVAILABLE', remedy: 'retry' })
    plugin.print(credentialOf('b'))
    expect((await cluster.credentials()).headers).toEqual({ authorization: 'Bearer b' })
  })

  it('hangs later: runs once for all callers, and is killed', async () => {
    const clock = new FakeClock()
    const plugin = printing(credentialOf('a', clock.nowMs() + 1_000))
    const cluster = await loadKubeConfig({ clock, path: writeConfig({ user: { exec: plugin.exec } }) })
    const ids = plugin.hang()
    const asked: Promise<unknown>[] = []
    for (let ask = 0; ask < 5; ask++) {
      clock.advance(11_000)
      asked.push(expect(cluster.credentials()).rejects.toMatchObject({ message: expect.stringContaining('did not end') as string }))
      while (!isWritten(ids)) await new Promise((resolve) => setImmediate(resolve))
    }
    clock.advance(60_000)
    await Promise.all(asked)
    expect(readFileSync(ids, 'utf8').trim().split('\n')).toHaveLength(1)
    while (isRunning(Number(readFileSync(ids, 'utf8')))) await new Promise((resolve) => setImmediate(resolve))
  })
})

describe('a user of an OpenID Connect provider', () => {
  it('sends the ID token while it is valid', async () => {
    const clock = new FakeClock()
    const token = idToken(clock, 3600)
    const cluster = await loadKubeConfig({ clock, path: writeConfig({ user: oidcUser({ 'id-token': token }) }) })
    expect((await cluster.credentials()).headers).toEqual({ authorization: `Bearer ${token}` })
  })

  it('gets the next token with the refresh token and the client secret, once per validity', async () => {
    const provider = await startProvider()
    const settings = { ...provider.settings, 'id-token': idToken(systemClock, -10), 'refresh-token': 'r1', 'client-secret': 's3cret' }
    const clock = new FakeClock(Date.now())
    const cluster = await loadKubeConfig({ clock, path: writeConfig({ user: oidcUser(settings) }) })
    expect((await cluster.credentials()).headers).toEqual({ authorization: `Bearer ${provider.tokens[0]}` })
    clock.advance(60_000)
    expect((await cluster.credentials()).headers).toEqual({ authorization: `Bearer ${provider.tokens[0]}` })
    clock.advance(3_600_000)
    expect((await cluster.credentials()).headers).toEqual({ authorization: `Bearer ${provider.tokens[1]}` })
    expect(provider.asked).toEqual([
      { authorization: `Basic ${base64('tranche:s3cret')}`, refreshToken: 'r1' },
      { authorization: `Basic ${base64('tranche:s3cret')}`, refreshToken: 'r2' },
    ])
  })

  it('gets the next token 30 s before the current one expires', async () => {
    const provider = await startProvider()
    const clock = new FakeClock(Date.now())
    const token = idToken(clock, 130)
    const settings = { ...provider.settings, 'id-token': token, 'refresh-token': 'r1' }
    const cluster = await loadKubeConfig({ clock, path: writeConfig({ user: oidcUser(settings) }) })
    clock.advance(95_000)
    expect((await cluster.credentials()).headers).toEqual({ authorization: `Bearer ${token}` })
    clock.advance(10_000)
    expect((await cluster.credentials()).headers).toEqual({ authorization: `Bearer ${provider.tokens[0]}` })
    expect(provider.asked).toEqual([{ authorization: undefined, refreshToken: 'r1' }])
  })

  it('gets the next token if the server rejects a valid one', async () => {
    const provider = await startProvider()
    const clock = new FakeClock(Date.now())
    const settings = { ...provider.settings, 'id-token': idToken(clock, 3600), 'refresh-token': 'r1' }
    const cluster = await loadKubeConfig({ clock, path: writeConfig({ user: oidcUser(settings) }) })
    const renewed = await cluster.renew?.(await cluster.credentials())
    expect(renewed?.headers).toEqual({ authorization: `Bearer ${provider.tokens[0]}` })
  })

  it.each([
    {
      given: { 'id-token': 'x.y.z', 'client-id': 'tranche' },
      says: 'the ID token has expired, and there is no refresh-token, no idp-issuer-url to refresh it with',
    },
    { given: {}, says: 'the ID token is missing, and there is no refresh-token, no idp-issuer-url, no client-id to refresh it with' },
    {
      given: { 'refresh-token': 'r', 'idp-issuer-url': 'https://127.0.0.1:1' },
      says: 'the ID token is missing, and there is no client-id to refresh it with',
    },
  ])('is rejected: $says', async ({ given, says }) => {
    await expect(loadKubeConfig({ clock: systemClock, path: writeConfig({ user: oidcUser(given) }) })).rejects.toMatchObject({
      code: 'KUBECONFIG_INVALID',
      message: expect.stringContaining(says) as string,
      hint: expect.stringContaining('Log in again') as string,
    })
  })
})

describe('an OpenID Connect provider that is away', () => {
  it('is named, with the reason', async () => {
    const provider = await startHttpsServer(() => {})
    await provider.close()
    const settings = { 'refresh-token': 'r', 'client-id': 'tranche', 'idp-issuer-url': provider.url }
    await expect(loadKubeConfig({ clock: systemClock, path: writeConfig({ user: oidcUser(settings) }) })).rejects.toMatchObject({
      message: expect.stringContaining(`${provider.url} gave no new ID token: connect ECONNREFUSED`) as string,
    })
  })
})

describe('credentials that the server no longer accepts', () => {
  it('are reread from a changed kubeconfig, and the request is sent again', async () => {
    const { client, path, seen } = await connected({ accepts: 'new', config: { token: 'old' } })
    writeConfig({ ...path.config, user: { token: 'new' } }, path.name)
    await client.get(resourcePaths.nodes, { namespace: '', name: 'a' })
    expect(seen).toEqual(['GET old', 'GET new'])
  })

  it('are requested from the plugin again before their stated expiry', async () => {
    const counter = join(folder, `count-${files++}`)
    const script = `#!/bin/sh\necho x >> ${counter}\nn=$(wc -l < ${counter})\necho '{"apiVersion":"${V1}","kind":"ExecCredential","status":{"token":"t'$n'"}}'\n`
    const exec = { apiVersion: V1, command: write('counting.sh', script, 0o755), interactiveMode: 'Never' }
    const { client, seen } = await connected({ accepts: 't2', config: { exec } })
    await client.get(resourcePaths.nodes, { namespace: '', name: 'a' })
    expect(seen).toEqual(['GET t1', 'GET t2'])
  })

  it('are not requested too often if there are no newer ones', async () => {
    const { client, seen } = await connected({ accepts: 'nothing', config: { token: 'old' } })
    for (let i = 0; i < 3; i++)
      await expect(client.get(resourcePaths.nodes, { namespace: '', name: 'a' })).rejects.toMatchObject({ status: 401 })
    expect(seen).toEqual(['GET old', 'GET old', 'GET old'])
  })

  it('are not used to repeat a deletion, only for the next one (F1)', async () => {
    const { client, path, seen } = await connected({ accepts: 'new', config: { token: 'old' } })
    writeConfig({ ...path.config, user: { token: 'new' } }, path.name)
    await expect(client.delete(resourcePaths.pods, { namespace: 'x', name: 'a' })).rejects.toMatchObject({ status: 401 })
    await client.delete(resourcePaths.pods, { namespace: 'x', name: 'a' })
    expect(seen).toEqual(['DELETE old', 'DELETE new'])
  })
})

describe('an authority that no longer vouches for the server', () => {
  it('is reread from its file, and the call continues', async () => {
    const old = await startServer(() => {})
    const server = await startServer((_request, response) => json(response, 200, {}))
    const authority = write('ca.pem', old.ca)
    const path = writeConfig({ user: { token: 't' }, cluster: { server: server.url, 'certificate-authority': authority } })
    const client = await clientOf(path)
    write('ca.pem', server.ca)
    await client.get(resourcePaths.nodes, { namespace: '', name: 'a' })
  })
})

const SERVER = 'https://127.0.0.1:6443'
let files = 0

interface ConfigParts {
  readonly user?: object
  readonly cluster?: object
}

/** @returns the path of a kubeconfig. JSON is YAML. */
function writeConfig({ user = {}, cluster = {} }: ConfigParts, name = `config-${files++}`): string {
  return write(
    name,
    JSON.stringify({
      clusters: [{ name: 'here', cluster: { server: SERVER, ...cluster } }],
      users: [{ name: 'me', user }],
      contexts: [{ name: 'first', context: { cluster: 'here', user: 'me' } }],
      'current-context': 'first',
    }),
  )
}

function write(name: string, text: string, mode = 0o600): string {
  const path = join(folder, name)
  writeFileSync(path, text, { mode })
  return path
}

/** A plugin whose token is `text`, its variables replaced by the shell, as base64. */
function echoOf(text: string): object {
  const script = `token=$(printf %s "${text}" | base64 -w0); printf '{"apiVersion":"${V1}","kind":"ExecCredential","status":{"token":"%s"}}' "$token"`
  return { apiVersion: V1, command: 'sh', args: ['-c', script], interactiveMode: 'Never' }
}

function credentialOf(token: string, endsAtMs?: number): string {
  const ends = endsAtMs === undefined ? {} : { expirationTimestamp: new Date(endsAtMs).toISOString() }
  return JSON.stringify({ apiVersion: V1, kind: 'ExecCredential', status: { token, ...ends } })
}

/** Plugin that prints `output`, until changed. */
function printing(output: string) {
  const name = `plugin-${files++}`
  const print = (text: string): string => write(name, `#!/bin/sh\nprintf '%s' '${text}'\n`, 0o755)
  const exec = { apiVersion: V1, command: print(output), interactiveMode: 'Never' }
  /** @returns the file that gets the process id of each run */
  const hang = (): string => {
    const ids = join(folder, `${name}.pids`)
    write(name, `#!/bin/sh\necho $$ >> ${ids}\nexec sleep 1000\n`, 0o755)
    return ids
  }
  return { exec, print, hang }
}

async function tokenOf(cluster: Awaited<ReturnType<typeof loadKubeConfig>>): Promise<unknown> {
  const { authorization } = (await cluster.credentials()).headers
  return JSON.parse(Buffer.from(String(authorization).slice('Bearer '.length), 'base64').toString('utf8'))
}

/** @returns whether a shell has written its line: it makes the file before that */
function isWritten(path: string): boolean {
  return existsSync(path) && readFileSync(path, 'utf8').endsWith('\n')
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

function oidcUser(config: Readonly<Record<string, string>>): object {
  return { 'auth-provider': { name: 'oidc', config } }
}

function idToken(clock: { nowMs(): number }, forSeconds: number, claims: object = {}): string {
  const atS = Math.floor(clock.nowMs() / 1000)
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  return [part({ alg: 'RS256' }), part({ iat: atS, exp: atS + forSeconds, ...claims }), 'c2ln'].join('.')
}

interface Provider {
  readonly settings: Readonly<Record<string, string>>
  /** ID tokens given out. */
  readonly tokens: readonly string[]
  readonly asked: readonly { readonly authorization: string | undefined; readonly refreshToken: string | null }[]
}

/** A provider whose authority only the kubeconfig knows. */
async function startProvider(): Promise<Provider> {
  const tokens: string[] = []
  const asked: { authorization: string | undefined; refreshToken: string | null }[] = []
  const server = await startServer(async (request, response) => {
    if (request.url === '/.well-known/openid-configuration')
      return json(response, 200, { issuer: server.url, token_endpoint: `${server.url}/token` })
    asked.push({
      authorization: request.headers.authorization,
      refreshToken: new URLSearchParams(await textOf(request)).get('refresh_token'),
    })
    tokens.push(idToken(systemClock, 3600, { iss: server.url, aud: 'tranche', sub: 'me', nonce: tokens.length }))
    json(response, 200, { token_type: 'bearer', access_token: 'a', id_token: tokens.at(-1), refresh_token: `r${asked.length + 1}` })
  })
  const settings = {
    'idp-issuer-url': server.url,
    'client-id': 'tranche',
    'idp-certificate-authority-data': base64(server.ca),
  }
  return { settings, tokens, asked }
}

interface Connection {
  readonly client: KubeClient
  readonly path: { readonly name: string; readonly config: ConfigParts }
  /** `GET token` of each request. */
  readonly seen: readonly string[]
}

/** A client of a server that accepts one token. */
async function connected({ accepts, config }: { readonly accepts: string; readonly config: object }): Promise<Connection> {
  const seen: string[] = []
  const server = await startServer((request, response) => {
    const token = request.headers.authorization?.slice('Bearer '.length)
    seen.push(`${request.method} ${token}`)
    json(response, token === accepts ? 200 : 401, {})
  })
  const parts = { cluster: { server: server.url, 'certificate-authority-data': base64(server.ca) } }
  const name = `config-${files++}`
  return { client: await clientOf(writeConfig({ ...parts, user: config }, name)), path: { name, config: parts }, seen }
}

async function clientOf(path: string): Promise<KubeClient> {
  const transport = createUndiciExchange(await loadKubeConfig({ clock: systemClock, path }))
  closing.push(() => transport.close())
  return createKubeClient({ exchange: transport.exchange, clock: systemClock, userAgent: 'tranche-test/1', log: silentLogger })
}

async function startServer(handle: (request: IncomingMessage, response: ServerResponse) => unknown): Promise<HttpsServer> {
  const server = await startHttpsServer((request, response) => void handle(request, response))
  closing.push(() => server.close())
  return server
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk
  return text
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}
