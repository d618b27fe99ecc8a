import { createHash, randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type FakeClock, systemClock } from '@tranche/clock'
import { silentLogger } from '@tranche/telemetry'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { identityOf } from '../src/login/identity.ts'
import { createLogin, safeReturn } from '../src/login/login.ts'
import type { LoginOptions } from '../src/login/login-options.ts'
import { createSeal } from '../src/login/sealed.ts'
import { createSessions } from '../src/login/sessions.ts'
import { aSummary, type ApiStage, startTestApi, readsOf } from './fixtures.ts'

const EXTERNAL = 'https://tranche.example.com'

/** An OpenID provider on loopback that logs in every user at once. */
interface TestProvider {
  readonly issuer: string
  /** Nonce of the next ID token. */
  claims: Record<string, unknown>
  /** Claims of the next ID token that do not depend on the request. */
  nonce: string | undefined
  readonly server: Server
}

async function startProvider(): Promise<TestProvider> {
  const { publicKey, privateKey } = await generateKeyPair('RS256')
  const jwk = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'RS256', use: 'sig' }
  const codes = new Map<string, { readonly challenge: string; readonly nonce: string; readonly redirect: string }>()
  const server = createServer((request, response) => void answer(request, response))
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', provider.issuer)
    const json = (status: number, body: object): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    }
    if (url.pathname === '/.well-known/openid-configuration')
      return json(200, {
        issuer: provider.issuer,
        authorization_endpoint: `${provider.issuer}/authorize`,
        token_endpoint: `${provider.issuer}/token`,
        jwks_uri: `${provider.issuer}/keys`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
      })
    if (url.pathname === '/keys') return json(200, { keys: [jwk] })
    const query = url.searchParams
    if (url.pathname === '/authorize') {
      const code = randomBytes(8).toString('hex')
      const redirect = query.get('redirect_uri') ?? ''
      codes.set(code, { challenge: query.get('code_challenge') ?? '', nonce: query.get('nonce') ?? '', redirect })
      response.writeHead(302, { location: `${redirect}?code=${code}&state=${query.get('state')}` }).end()
      return
    }
    let text = ''
    for await (const chunk of request) text += String(chunk)
    const form = new URLSearchParams(text)
    const known = codes.get(form.get('code') ?? '')
    codes.delete(form.get('code') ?? '')
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    const isGood = known?.challenge === challenge && known.redirect === form.get('redirect_uri') && form.get('client_secret') === 'secret'
    if (known === undefined || !isGood) return json(400, { error: 'invalid_grant' })
    const token = new SignJWT({ nonce: provider.nonce ?? known.nonce, ...provider.claims }).setProtectedHeader({ alg: 'RS256', kid: 'one' })
    token.setIssuer(provider.issuer).setAudience('tranche').setSubject('1234').setIssuedAt().setExpirationTime('5m')
    json(200, { access_token: 'x', token_type: 'Bearer', id_token: await token.sign(privateKey) })
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider: TestProvider = { issuer, claims: { email: 'viewer' }, nonce: undefined, server }
  return provider
}

function optionsOf(issuer: string): LoginOptions {
  return {
    issuer,
    clientId: 'tranche',
    clientSecret: 'secret',
    usernameClaim: 'email',
    usernamePrefix: '',
    groupsClaim: 'groups',
    groupsPrefix: 'oidc:',
    externalUrl: EXTERNAL,
    sessionKeys: ['k'.repeat(32)],
  }
}

interface Answer {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly json: () => unknown
}

describe('a login with a browser', () => {
  let provider: TestProvider
  let stage: ApiStage
  let clock: FakeClock

  beforeAll(async () => {
    provider = await startProvider()
    stage = await startTestApi(readsOf([aSummary()]), {
      withParts: (parts) => ({ login: createLogin(optionsOf(provider.issuer), { clock: parts.clock, log: silentLogger }) }),
    })
    clock = stage.clock
    await stage.grant('viewer', 'demo', { verbs: ['get', 'list'] })
  })
  afterAll(async () => {
    await stage.end()
    provider.server.close()
  })

  const get = (url: string, cookie = ''): Promise<Answer> => stage.app.inject({ method: 'GET', url, headers: { cookie } })

  const cookieOf = ({ headers }: Answer): string =>
    [headers['set-cookie']]
      .flat()
      .map((text) => String(text).split(';', 1)[0])
      .join('; ')

  /** @returns callback URL from the provider, and the cookies of the login in progress */
  async function toProvider(path = '/login'): Promise<{ readonly back: string; readonly cookie: string }> {
    const begun = await get(path)
    expect(begun.statusCode).toBe(302)
    const answer = await fetch(String(begun.headers['location']), { redirect: 'manual' })
    return { back: (answer.headers.get('location') ?? '').slice(EXTERNAL.length), cookie: cookieOf(begun) }
  }

  async function logIn(): Promise<string> {
    const { back, cookie } = await toProvider()
    return cookieOf(await get(back, cookie))
  }

  const failed = { code: 'LOGIN_FAILED', status: 400, detail: 'the login failed. Start again at /login.' }

  it('creates a session in a cookie, and returns to the first page', async () => {
    const { back, cookie } = await toProvider('/login?return_to=/docs/static/index.html%3Fa=b')
    const answer = await get(back, cookie)
    expect(answer.statusCode).toBe(302)
    expect(answer.headers['location']).toBe(`${EXTERNAL}/docs/static/index.html?a=b`)
    const [session] = answer.headers['set-cookie'] as readonly string[]
    expect(session).toMatch(/^__Host-tranche-session=[\w.-]+; Max-Age=28800; Path=\/; HttpOnly; Secure; SameSite=Lax$/)
    const me = await get('/api/v1/me', cookieOf(answer))
    expect(me.json()).toEqual({ username: 'viewer', groups: [], csrfToken: expect.stringMatching(/^[\w-]{43}$/) as unknown })
    expect((await get('/api/v1/namespaces/demo/rollouts/agent', cookieOf(answer))).statusCode).toBe(200)
    expect((await get('/api/v1/namespaces/other/rollouts/agent', cookieOf(answer))).json()).toMatchObject({ code: 'ACCESS_DENIED' })
  })

  it('fails with another state', async () => {
    const { back, cookie } = await toProvider()
    expect((await get(back.replace(/state=.*/, 'state=guessed'), cookie)).json()).toMatchObject(failed)
  })

  it('fails in another browser', async () => {
    const [mine, others] = [await toProvider(), await toProvider()]
    expect((await get(mine.back)).json()).toMatchObject(failed)
    expect((await get(mine.back, others.cookie)).json()).toMatchObject(failed)
  })

  it('fails with another nonce', async () => {
    const { back, cookie } = await toProvider()
    provider.nonce = 'of another login'
    expect((await get(back, cookie)).json()).toMatchObject(failed)
    provider.nonce = undefined
  })

  it('fails with a used code', async () => {
    const { back, cookie } = await toProvider()
    expect((await get(back, cookie)).statusCode).toBe(302)
    expect((await get(back, cookie)).json()).toMatchObject(failed)
  })

  it('fails ten minutes after its start', async () => {
    const { back, cookie } = await toProvider()
    clock.advance(601_000)
    expect((await get(back, cookie)).json()).toMatchObject(failed)
  })

  it('fails for a user name that is reserved for the cluster', async () => {
    provider.claims = { email: 'system:admin' }
    const { back, cookie } = await toProvider()
    expect((await get(back, cookie)).json()).toMatchObject(failed)
    provider.claims = { email: 'viewer' }
  })

  it('ends after eight hours', async () => {
    const cookie = await logIn()
    clock.advance(8 * 3_600_000 - 1_000)
    expect((await get('/api/v1/me', cookie)).statusCode).toBe(200)
    clock.advance(1_000)
    expect((await get('/api/v1/me', cookie)).json()).toMatchObject({ code: 'TOKEN_INVALID', status: 401 })
  })

  it('is listed among the ways to log in', async () => {
    expect((await get('/api/v1/login-methods')).json()).toEqual({ methods: ['token', 'openIdConnect'] })
  })

  it('is not accepted from a forged cookie, nor from the cookie of a login in progress', async () => {
    const cookie = await logIn()
    const at = cookie.length - 40
    const forged = `${cookie.slice(0, at)}${cookie[at] === 'A' ? 'B' : 'A'}${cookie.slice(at + 1)}`
    const underWay = (await toProvider()).cookie.replace('tranche-login', 'tranche-session')
    for (const bad of [forged, underWay, '__Host-tranche-session=x', '__Host-tranche-session=a.b.c.d.e'])
      expect((await get('/api/v1/me', bad)).json()).toMatchObject({ code: 'TOKEN_INVALID' })
  })

  it('is never one of a system user, even with a stolen session key', async () => {
    const { sessionKeys } = optionsOf(provider.issuer)
    const sessions = createSessions(createSeal(sessionKeys, EXTERNAL, clock), () => EXTERNAL, clock)
    const meOf = async (username: string, groups: readonly string[]) => {
      const [cookie = ''] = (await sessions.begin({ username, groups })).split(';')
      return (await get('/api/v1/me', cookie)).json() as unknown
    }
    expect(await meOf('viewer', ['ops'])).toMatchObject({ username: 'viewer', groups: ['ops'] })
    for (const [username, group] of [
      ['viewer', 'system:masters'],
      ['system:admin', 'ops'],
    ] as const)
      expect(await meOf(username, [group])).toMatchObject({ code: 'TOKEN_INVALID' })
  })

  it('can write only from our own pages, with its CSRF token', async () => {
    const cookie = await logIn()
    const { csrfToken } = (await get('/api/v1/me', cookie)).json() as { csrfToken: string }
    const { csrfToken: others } = (await get('/api/v1/me', await logIn())).json() as { csrfToken: string }
    const post = async (headers: Readonly<Record<string, string>>): Promise<unknown> => {
      const answer = await stage.app.inject({ method: 'POST', url: '/logout', headers: { cookie, ...headers } })
      return answer.statusCode === 204 ? 204 : answer.json()
    }
    const refused = { code: 'CSRF_REFUSED', status: 403 }
    const ours = { 'sec-fetch-site': 'same-origin', origin: EXTERNAL }
    expect(await post(ours)).toMatchObject(refused)
    expect(await post({ ...ours, 'x-csrf-token': others })).toMatchObject(refused)
    expect(await post({ 'x-csrf-token': csrfToken })).toMatchObject(refused)
    for (const site of ['cross-site', 'same-site', 'none'])
      expect(await post({ 'x-csrf-token': csrfToken, 'sec-fetch-site': site })).toMatchObject(refused)
    expect(await post({ 'x-csrf-token': csrfToken, ...ours, origin: 'https://evil.example' })).toMatchObject(refused)
    expect(await post({ 'x-csrf-token': csrfToken, origin: 'null' })).toMatchObject(refused)
    expect(await post({ 'x-csrf-token': csrfToken, ...ours })).toBe(204)
  })

  it('ends with a logout, including copies of its cookie, and leaves other sessions', async () => {
    const [cookie, others] = [await logIn(), await logIn()]
    const { csrfToken } = (await get('/api/v1/me', cookie)).json() as { csrfToken: string }
    const headers = { cookie, origin: EXTERNAL, 'x-csrf-token': csrfToken }
    const answer = await stage.app.inject({ method: 'POST', url: '/logout', headers })
    expect([answer.statusCode, answer.headers['set-cookie']]).toEqual([204, expect.stringContaining('Max-Age=0') as unknown])
    expect((await get('/api/v1/me', cookie)).json()).toMatchObject({ code: 'TOKEN_INVALID', status: 401 })
    expect((await get('/api/v1/me', others)).statusCode).toBe(200)
    clock.advance(7 * 3_600_000)
    expect((await get('/api/v1/me', cookie)).statusCode).toBe(401)
  })

  it('fails with LOGIN_UNAVAILABLE while the provider does not answer', async () => {
    const login = createLogin(optionsOf('http://127.0.0.1:1'), { clock, log: silentLogger })
    await expect(login.begin('/')).rejects.toMatchObject({ code: 'LOGIN_UNAVAILABLE' })
  })
})

describe('an OpenID provider that redirects', () => {
  const servers: Server[] = []
  afterEach(async () => {
    for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve))
  })

  async function serve(answer: (request: IncomingMessage, response: ServerResponse) => unknown): Promise<string> {
    const server = createServer((request, response) => void answer(request, response))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    servers.push(server)
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  it.each(['/.well-known/openid-configuration', '/token', '/keys'])('redirect of %s is not followed', async (redirected) => {
    const followed: string[] = []
    const elsewhere = await serve(({ url }, response) => {
      followed.push(url ?? '')
      response.end('{}')
    })
    const { privateKey } = await generateKeyPair('RS256')
    let nonce = ''
    const issuer = await serve(async ({ url }, response) => {
      if (url === redirected) return response.writeHead(307, { location: `${elsewhere}${url}` }).end()
      response.setHeader('content-type', 'application/json')
      if (url === '/token') {
        const token = new SignJWT({ nonce, email: 'admin' }).setProtectedHeader({ alg: 'RS256' }).setIssuer(issuer).setAudience('tranche')
        const id_token = await token.setSubject('1').setIssuedAt().setExpirationTime('5m').sign(privateKey)
        return response.end(JSON.stringify({ access_token: 'x', token_type: 'Bearer', id_token }))
      }
      const [authorization_endpoint, token_endpoint, jwks_uri] = ['authorize', 'token', 'keys'].map((path) => `${issuer}/${path}`)
      return response.end(JSON.stringify({ issuer, authorization_endpoint, token_endpoint, jwks_uri }))
    })
    const login = createLogin(optionsOf(issuer), { clock: systemClock, log: silentLogger })
    const whole = async (): Promise<unknown> => {
      const { location, cookies } = await login.begin('/')
      const query = new URL(location).searchParams
      nonce = query.get('nonce') ?? ''
      const cookie = cookies.map((text) => text.split(';', 1)[0]).join('; ')
      return login.finish(`/login/callback?code=c&state=${query.get('state')}`, { cookie })
    }
    await expect(whole()).rejects.toMatchObject({ code: expect.stringMatching(/^LOGIN_(FAILED|UNAVAILABLE)$/) as string })
    expect(followed).toEqual([])
  })
})

it.each([
  ['/docs?a=b#c', `${EXTERNAL}/docs?a=b#c`],
  [undefined, `${EXTERNAL}/dashboard/`],
  ['//evil.example', `${EXTERNAL}/dashboard/`],
  ['/\\evil.example', `${EXTERNAL}/dashboard/`],
  ['/\t/evil.example', `${EXTERNAL}/dashboard/`],
  ['https://evil.example/', `${EXTERNAL}/dashboard/`],
  ['https://tranche.example.com.evil.example/', `${EXTERNAL}/dashboard/`],
  ['https://me@tranche.example.com/', `${EXTERNAL}/dashboard/`],
  ['javascript:alert(1)', `${EXTERNAL}/dashboard/`],
  [`blob:${EXTERNAL}/page`, `${EXTERNAL}/dashboard/`],
  ['http://', `${EXTERNAL}/dashboard/`],
  ['/.//evil.example', `${EXTERNAL}//evil.example`],
])('a login with return_to %s returns to our own origin', (wanted, want) => {
  expect(safeReturn(wanted, EXTERNAL)).toBe(want)
})

it('claims become user and groups with their prefixes, and never a system user', () => {
  const options = { ...optionsOf('https://issuer.example'), groupsPrefix: '' }
  const of = (claims: Record<string, unknown>): unknown => identityOf(claims, options)
  expect(of({ email: 'a@b', groups: ['x', 'y'] })).toEqual({ username: 'a@b', groups: ['x', 'y'] })
  expect(of({ email: 'a@b', groups: 'x' })).toEqual({ username: 'a@b', groups: ['x'] })
  for (const claims of [
    {},
    { email: 1 },
    { email: 'a@b', email_verified: false },
    { email: 'a@b', groups: [1] },
    { email: 'a', groups: ['system:masters'] },
  ])
    expect(() => of(claims)).toThrow()
})
