import { problemSchema } from '@tranche/api-schema'
import { silentLogger } from '@tranche/telemetry'
import { createSimulator } from '@tranche/sim'
import { systemClock } from '@tranche/clock'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createLinkLogin, type LinkLogin } from '../src/login/link-login.ts'
import { startApi } from '../src/start-api.ts'
import { type ApiStage, aSummary, readsOf, startTestApi } from './fixtures.ts'

const ORIGIN = 'http://127.0.0.1:43210'
const HINT = 'Run tranche <again> & open the link that it prints.'

let stage: ApiStage
let login: LinkLogin

beforeAll(async () => {
  stage = await startTestApi(readsOf([aSummary()]), {
    withParts({ clock }) {
      const caller = { username: 'viewer', groups: ['people', 'system:masters'] }
      login = createLinkLogin({ caller, hint: HINT }, { clock, origin: () => ORIGIN })
      return { link: login }
    },
  })
})
afterAll(() => stage.end())

interface Answer {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: string
  readonly json: () => unknown
}

function ask(url: string, headers: Readonly<Record<string, string>> = {}, method: 'GET' | 'HEAD' | 'POST' = 'GET'): Promise<Answer> {
  return stage.app.inject({ method, url: url.replace(ORIGIN, ''), headers })
}

async function follow(link = login.newLink()): Promise<string> {
  const { headers } = await ask(link)
  return String(headers['set-cookie']).split(';', 1)[0] ?? ''
}

describe('a link with a one-time code', () => {
  it('gives the browser a session of its user, and leads to the dashboard without the code', async () => {
    const answer = await ask(login.newLink())
    expect([answer.statusCode, answer.headers['location']]).toEqual([302, `${ORIGIN}/dashboard/`])
    expect(answer.headers).toMatchObject({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' })
    const cookie = String(answer.headers['set-cookie'])
    expect(cookie).toMatch(/^tranche-session-43210=[\w.-]+; Max-Age=28800; Path=\/; HttpOnly; SameSite=Lax$/)
    const me = await ask('/api/v1/me', { cookie: cookie.split(';', 1)[0] ?? '' })
    expect(me.json()).toEqual({
      username: 'viewer',
      groups: ['people', 'system:masters'],
      csrfToken: expect.stringMatching(/^[\w-]{43}$/) as unknown,
    })
  })

  it('has a code of 192 random bits', () => {
    const codes = Array.from({ length: 50 }, () => new URL(login.newLink()).searchParams.get('code') ?? '')
    expect(codes.filter((code) => Buffer.from(code, 'base64url').byteLength !== 24)).toEqual([])
    expect(new Set(codes).size).toBe(50)
  })

  it('works once', async () => {
    const link = login.newLink()
    expect((await ask(link)).statusCode).toBe(302)
    const again = await ask(link)
    expect([again.statusCode, again.headers['set-cookie']]).toEqual([400, undefined])
    expect(problemSchema.parse(again.json())).toMatchObject({
      code: 'LOGIN_FAILED',
      detail: `the link was used, has expired, or is incomplete: it works once, for ten minutes. ${HINT}`,
    })
  })

  it('leads to the dashboard again in the same browser, without a new session', async () => {
    const link = login.newLink()
    const cookie = await follow(link)
    const again = await ask(link, { cookie })
    expect([again.statusCode, again.headers['location'], again.headers['set-cookie']]).toEqual([302, `${ORIGIN}/dashboard/`, undefined])
  })

  it('works for ten minutes', async () => {
    const [first, second] = [login.newLink(), login.newLink()]
    stage.clock.advance(599_999)
    expect((await ask(first)).statusCode).toBe(302)
    stage.clock.advance(1)
    expect((await ask(second)).json()).toMatchObject({ code: 'LOGIN_FAILED' })
  })

  it.each(['', '?code=', '?code=guessed', `?code=${'A'.repeat(32)}`, '?code=a&code=b', `?code=${'A'.repeat(300)}`])(
    'cannot be guessed, and a guess uses up no code: /login/link%s',
    async (query) => {
      const link = login.newLink()
      const answer = await ask(`/login/link${query}`)
      expect([answer.statusCode, answer.headers['set-cookie']]).toEqual([400, undefined])
      expect((await ask(link)).statusCode).toBe(302)
    },
  )

  it('is not used up by a HEAD request', async () => {
    const link = login.newLink()
    expect((await ask(link, {}, 'HEAD')).statusCode).toBe(405)
    expect((await ask(link, {}, 'POST')).statusCode).toBe(405)
    expect((await ask(link)).statusCode).toBe(302)
  })

  it('is forgotten after sixteen newer ones', async () => {
    const [oldest, next] = Array.from({ length: 17 }, () => login.newLink())
    expect((await ask(oldest ?? '')).statusCode).toBe(400)
    expect((await ask(next ?? '')).statusCode).toBe(302)
  })

  it('shows a page that says how to get a new one, if it does not work', async () => {
    const answer = await ask('/login/link?code=guessed', { accept: 'text/html,application/xhtml+xml' })
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([400, 'text/html; charset=utf-8'])
    expect(answer.body).toContain('<p>Run tranche &#60;again&#62; &#38; open the link that it prints.</p>')
    expect(answer.headers).toMatchObject({
      'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      'x-frame-options': 'DENY',
    })
  })
})

describe('the session of a link', () => {
  const refused = { code: 'CSRF_REFUSED', status: 403 }

  async function logOut(headers: Readonly<Record<string, string>>): Promise<unknown> {
    const answer = await ask('/logout', headers, 'POST')
    return answer.statusCode === 204 ? 204 : answer.json()
  }

  it('can write only from our own page, with its CSRF token', async () => {
    const cookie = await follow()
    const { csrfToken } = (await ask('/api/v1/me', { cookie })).json() as { csrfToken: string }
    const ours = { cookie, origin: ORIGIN, 'sec-fetch-site': 'same-origin' }
    expect(await logOut(ours)).toMatchObject(refused)
    expect(
      await logOut({ ...ours, 'x-csrf-token': csrfToken, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }),
    ).toMatchObject(refused)
    // Another server of this machine has the same host, so browsers send it the cookie, and call its requests same-site.
    expect(
      await logOut({ ...ours, 'x-csrf-token': csrfToken, origin: 'http://127.0.0.1:9999', 'sec-fetch-site': 'same-site' }),
    ).toMatchObject(refused)
    expect(await logOut({ ...ours, 'x-csrf-token': csrfToken })).toBe(204)
    expect((await ask('/api/v1/me', { cookie })).statusCode).toBe(401)
  })

  it('ends after eight hours', async () => {
    const cookie = await follow()
    stage.clock.advance(8 * 3_600_000)
    expect((await ask('/api/v1/me', { cookie })).json()).toMatchObject({ code: 'TOKEN_INVALID', status: 401 })
  })

  it('does not outlive its process', async () => {
    const other = createLinkLogin({ caller: { username: 'viewer', groups: [] }, hint: HINT }, { clock: stage.clock, origin: () => ORIGIN })
    const cookie = await follow()
    expect(await login.sessions.of({ cookie })).not.toBeNull()
    expect(await other.sessions.of({ cookie })).toBeNull()
  })
})

it('login without a provider says how to get a link', async () => {
  expect((await ask('/login')).json()).toMatchObject({ code: 'NOT_FOUND', detail: `browser login is off. ${HINT}` })
})

describe('an API that listens', () => {
  const exchange = createSimulator({ clock: systemClock, nodes: 0 }).exchangeFor('tranche-api')
  const common = { exchange, clock: systemClock, log: silentLogger, port: 0 }
  const link = { caller: { username: 'dev', groups: [] }, hint: HINT }

  it('makes links for its own port', async () => {
    const api = await startApi({ ...common, link })
    try {
      expect(api.newLink()).toMatch(new RegExp(`^${api.url}/login/link\\?code=[\\w-]{32}$`))
      const answer = await fetch(api.newLink() ?? '', { redirect: 'manual' })
      expect([answer.status, answer.headers.get('location')]).toEqual([302, `${api.url}/dashboard/`])
    } finally {
      await api.stop()
    }
  })

  it('makes no link unless asked, and none on an address that other machines reach', async () => {
    const api = await startApi(common)
    await api.stop()
    expect(api.newLink()).toBeUndefined()
    await expect(startApi({ ...common, host: '0.0.0.0', link })).rejects.toThrow('links with codes are only for 127.0.0.1')
  })
})

describe('the ways to log in', () => {
  it('are listed without a token, as far as the server has them', async () => {
    expect((await ask('/api/v1/login-methods')).json()).toEqual({ methods: ['token', 'link'] })
  })

  it('do not list a token where the API accepts none', async () => {
    const own = await startTestApi(readsOf([aSummary()]), {
      withParts: ({ clock }) => ({
        acceptsTokens: false,
        link: createLinkLogin({ caller: { username: 'viewer', groups: [] }, hint: HINT }, { clock, origin: () => ORIGIN }),
      }),
    })
    const answer = await own.app.inject({ method: 'GET', url: '/api/v1/login-methods' })
    expect(answer.json()).toEqual({ methods: ['link'] })
    await own.end()
  })
})
