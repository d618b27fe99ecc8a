import { readFileSync } from 'node:fs'
import { problemSchema, rolloutSummarySchema } from '@tranche/api-schema'
import { FakeClock } from '@tranche/clock'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import type { GuardedRoute } from '../src/http/guard.ts'
import { type ApiServer, createServer } from '../src/http/create-server.ts'
import { defaultLimits } from '../src/limits/limits.ts'
import { aSummary, type ApiStage, startTestApi, readsOf } from './fixtures.ts'

let stage: ApiStage

beforeAll(async () => {
  stage = await startTestApi(readsOf([aSummary(), aSummary({ namespace: 'other' }), aSummary({ name: 'logs' })]))
})
afterEach(() => stage.breakReviews(null))
afterAll(() => stage.end())

/** All routes that need no token; the code states the reason of each. */
const open = [
  '/api/v1/login-methods',
  '/login',
  '/login/callback',
  '/login/link',
  '/healthz',
  '/readyz',
  '/errors/:code',
  '/openapi.json',
  '/',
  '/dashboard',
  '/dashboard/*',
]

interface Answer {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly json: () => unknown
}

function ask({ method, url }: Pick<GuardedRoute, 'method' | 'url'>, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  const values: Readonly<Record<string, string>> = { namespace: 'demo', name: 'agent', node: 'node-1', code: 'NOT_FOUND' }
  const path = url.replace(/:(\w+)/g, (_all, name: string) => values[name] ?? 'x')
  const body = method === 'GET' || method === 'HEAD' ? {} : { payload: {} }
  return stage.app.inject({ method: method as 'GET', url: path, headers, ...body })
}

function bareServer(): Promise<ApiServer> {
  const parts = {
    clock: new FakeClock(),
    limits: defaultLimits,
    corsOrigins: [],
    trustProxies: [],
    checkAnswers: true,
    isSynced: () => true,
  }
  return createServer({ ...parts, reviews: null as never, log: null as never }, {})
}

function guarded(): readonly GuardedRoute[] {
  return stage.app.guardedRoutes.filter(({ access }) => access.kind !== 'public' && access.kind !== 'signed')
}

it('starts on a machine that takes a minute to load a plugin', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const app = await bareServer()
    await app.register(async () => void (await vi.advanceTimersByTimeAsync(60_000)))
    await expect(app.ready()).resolves.toBe(app)
  } finally {
    vi.useRealTimers()
  }
})

describe('every route', () => {
  it('has an access rule, and only a few are public', () => {
    const found = stage.app.guardedRoutes.filter(({ access }) => access.kind === 'public').map(({ url }) => url)
    expect([...new Set(found)].filter((url) => !url.startsWith('/docs')).sort()).toEqual([...open].sort())
    expect(guarded().length).toBeGreaterThan(5)
  })

  it('cannot be registered without an access rule', async () => {
    const app = await bareServer()
    expect(() => app.get('/forgotten', async () => 'hello')).toThrow('GET /forgotten has no access rule')
  })

  it.each([
    ['without a token', {}],
    ['with an unknown token', { authorization: 'Bearer guessed' }],
    ['with other credentials', { authorization: 'Basic YWRtaW46YWRtaW4=' }],
    ['with a token longer than any header', { authorization: `Bearer ${'x'.repeat(20_000)}` }],
  ] as const)('refuses a request %s', async (_name, headers) => {
    for (const route of guarded()) {
      const answer = await ask(route, headers)
      expect([route.method, route.url, answer.statusCode]).toEqual([route.method, route.url, 401])
      if (route.method !== 'HEAD') expect(problemSchema.parse(answer.json())).toMatchObject({ code: 'TOKEN_INVALID', status: 401 })
      expect(answer.headers['www-authenticate']).toBe('Bearer')
    }
  })

  it('refuses a caller without rights, or returns an empty list', async () => {
    for (const route of guarded()) {
      const answer = await ask(route, stage.as('outsider'))
      const { kind } = route.access
      if (kind === 'resource' || kind === 'path')
        expect([route.method, route.url, answer.statusCode]).toEqual([route.method, route.url, 403])
      else expect([route.url, answer.statusCode >= 401 && answer.statusCode <= 403]).toEqual([route.url, false])
      if (kind === 'filtered' && answer.statusCode === 200 && route.method === 'GET' && route.url.endsWith('rollouts'))
        expect(answer.json()).toEqual({ items: [], total: 0 })
    }
  })

  it('for signed messages refuses unsigned ones, regardless of the sender', async () => {
    const signed = stage.app.guardedRoutes.filter(({ access }) => access.kind === 'signed')
    expect(signed.map(({ url }) => url)).toEqual(['/api/v1/namespaces/:namespace/hooks/:hook'])
    const forged = `t=${Math.floor(stage.clock.nowMs() / 1000)},v1=${'0'.repeat(64)}`
    for (const route of signed)
      for (const headers of [{}, stage.as('admin'), { 'x-tranche-signature': 'v1=' }, { 'x-tranche-signature': forged }]) {
        const answer = await ask(route, headers)
        expect(answer.statusCode).toBe(401)
        expect(problemSchema.parse(answer.json())).toMatchObject({ code: 'HOOK_REFUSED', status: 401 })
      }
  })

  it.each(['gone', 'failing'] as const)('refuses every caller while the API server is %s', async (how) => {
    stage.clock.advance(60_000)
    stage.breakReviews(how)
    for (const route of guarded()) {
      const answer = await ask(route, stage.as('admin'))
      expect([route.url, answer.statusCode]).toEqual([route.url, 503])
      if (route.method !== 'HEAD') expect(answer.json()).toMatchObject({ code: 'REVIEW_UNAVAILABLE' })
    }
  })
})

describe('docs/guides/rest.md', () => {
  const page = readFileSync(new URL('../../../docs/guides/rest.md', import.meta.url), 'utf8')
  const reported = [...page.matchAll(/^\| (`(?:GET|POST) .*) \| (.*) \|$/gm)].flatMap(([, routes = '', needs = '']) =>
    [...routes.matchAll(/`(GET|POST) ([^`]+)`/g)].map(([, method = '', path = '']) => ({ route: `${method} ${templateOf(path)}`, needs })),
  )

  it('lists exactly the existing routes, and so does openapi.json except for itself and the pages', () => {
    const registered = stage.app.guardedRoutes.filter(({ method, url }) => method !== 'HEAD' && !url.startsWith('/docs/'))
    const names = registered.map(({ method, url }) => `${method} ${url.replace(/:\w+/g, '{}')}`).sort()
    expect(reported.map(({ route }) => route).sort()).toEqual(names)
    const { paths } = JSON.parse(readFileSync(new URL('../openapi.json', import.meta.url), 'utf8')) as {
      readonly paths: Record<string, object>
    }
    const described = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace(/\{\w+\}/g, '{}')}`),
    )
    expect([...described, ...undescribed].sort()).toEqual(names)
  })

  it('states the access rule of each route', () => {
    const wrong = stage.app.guardedRoutes.filter(({ method, url, access }) => {
      const line = reported.find(({ route }) => route === `${method} ${url.replace(/:\w+/g, '{}')}`)
      return line !== undefined && !line.needs.startsWith(needsOf(access))
    })
    expect(wrong).toEqual([])
  })
})

/** Routes of pages, and of the description itself. */
const undescribed = ['GET /', 'GET /dashboard', 'GET /dashboard/*', 'GET /docs', 'GET /openapi.json']

/** `…/rollouts/NAME` is `/api/v1/namespaces/{}/rollouts/{}`. */
function templateOf(path: string): string {
  return path.replace('…', '/api/v1/namespaces/NS').replace(/\b[A-Z]+\b/g, '{}')
}

function needsOf(access: GuardedRoute['access']): string {
  switch (access.kind) {
    case 'public':
      return 'nothing'
    case 'signed':
      return 'a signature'
    case 'authenticated':
    case 'filtered':
      return 'a valid token'
    case 'resource':
      return `\`${access.verb}\` ${access.resource}`
    case 'path':
      return `\`${access.verb}\` on the path \`${access.path}\``
  }
}

describe('visibility for a caller', () => {
  it('covers the namespaces in which the caller may list', async () => {
    await stage.grant('viewer', 'demo', { verbs: ['get', 'list'] })
    const answer = await ask({ method: 'GET', url: '/api/v1/rollouts' }, stage.as('viewer'))
    const { items } = answer.json() as { items: readonly unknown[] }
    expect(items.map((item) => rolloutSummarySchema.parse(item)).map(({ namespace, name }) => `${namespace}/${name}`)).toEqual([
      'demo/agent',
      'demo/logs',
    ])
    const all = await ask({ method: 'GET', url: '/api/v1/rollouts' }, stage.as('admin'))
    expect(all.json()).toMatchObject({ total: 3 })
  })

  it('can be limited to one object by name, without lists or other objects', async () => {
    await stage.grant('approver', 'demo', { verbs: ['get'], resourceNames: ['agent'] })
    const get = (path: string): Promise<Answer> =>
      ask({ method: 'GET', url: `/api/v1/namespaces/demo/rollouts${path}` }, stage.as('approver'))
    expect((await get('/agent')).statusCode).toBe(200)
    const other = await get('/logs')
    expect(other.statusCode).toBe(403)
    expect(other.json()).toMatchObject({
      code: 'ACCESS_DENIED',
      detail: 'user "approver" may not get rollouts.rollouts.kruise.io "logs" in namespace "demo". Ask for a role that grants it.',
    })
    // The API does not reveal the existence of hidden Rollouts.
    expect((await get('/absent')).statusCode).toBe(403)
  })
})

describe('a review', () => {
  const get = (): Promise<Answer> => ask({ method: 'GET', url: '/api/v1/namespaces/demo/rollouts/agent' }, stage.as('admin'))

  it('is shared by many requests for ten seconds', async () => {
    stage.clock.advance(60_000)
    stage.reviews.length = 0
    await Promise.all(Array.from({ length: 20 }, get))
    expect(stage.reviews.length).toBe(2)
    stage.clock.advance(7_999)
    await get()
    expect(stage.reviews.length).toBe(2)
    stage.clock.advance(2_002)
    await get()
    expect(stage.reviews.length).toBe(4)
  })

  it('is refreshed in the background in the last two of the ten seconds', async () => {
    stage.clock.advance(60_000)
    await get()
    stage.reviews.length = 0
    stage.clock.advance(9_999)
    await get()
    stage.clock.advance(2)
    await get()
    expect(stage.reviews.length).toBe(2)
  })

  it('expires after ten seconds even if the API server does not answer', async () => {
    stage.clock.advance(60_000)
    await get()
    stage.breakReviews('gone')
    stage.clock.advance(9_999)
    expect((await get()).statusCode).toBe(200)
    stage.clock.advance(2)
    expect((await get()).statusCode).toBe(503)
    stage.breakReviews(null)
  })

  it('is repeated at once after a failure', async () => {
    stage.clock.advance(60_000)
    stage.breakReviews('gone')
    expect((await get()).statusCode).toBe(503)
    stage.breakReviews(null)
    expect((await get()).statusCode).toBe(200)
  })
})

describe('a problem', () => {
  it.each([
    ['an unknown path', { method: 'GET', url: '/api/v2/rollouts' }, 404, 'NOT_FOUND'],
    ['a method that a path does not support', { method: 'DELETE', url: '/api/v1/namespaces/demo/rollouts/agent' }, 405, 'REQUEST_INVALID'],
    ['a path that is not encoded', { method: 'GET', url: '/api/v1/namespaces/%ff/rollouts' }, 400, 'REQUEST_INVALID'],
    ['a name with a path separator', { method: 'GET', url: '/api/v1/namespaces/demo/rollouts/agent%2Fstatus' }, 400, 'REQUEST_INVALID'],
    ['a namespace with a relative path', { method: 'POST', url: '/api/v1/namespaces/../rollouts/agent/plan' }, 404, 'NOT_FOUND'],
    [
      'an action with a relative path',
      { method: 'POST', url: '/api/v1/namespaces/%2e%2e%2f/rollouts/agent/actions/abort' },
      400,
      'REQUEST_INVALID',
    ],
    ['an invalid query', { method: 'GET', url: '/api/v1/rollouts?limit=0' }, 400, 'REQUEST_INVALID'],
    ['a malformed cursor', { method: 'GET', url: '/api/v1/rollouts?cursor=abc' }, 400, 'REQUEST_INVALID'],
    ['a Rollout that does not exist', { method: 'GET', url: '/api/v1/namespaces/demo/rollouts/absent' }, 404, 'ROLLOUT_NOT_FOUND'],
  ] as const)('is returned for %s', async (_name, route, status, code) => {
    const answer = await ask(route, stage.as('admin'))
    expect(answer.statusCode).toBe(status)
    expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/)
    expect(problemSchema.parse(answer.json())).toMatchObject({ code, status, type: `/errors/${code}` })
  })

  it('names the field and the fix', async () => {
    const answer = await ask({ method: 'GET', url: '/api/v1/rollouts?limit=0&sort=age' }, stage.as('admin'))
    expect(answer.json()).toMatchObject({
      problems: [
        { path: 'query.limit', fix: 'set it to 1 or more' },
        { path: 'query.sort', fix: 'set it to name, namespace, phase, outcome or updated' },
      ],
    })
  })

  it.each(['/api/v1/rollouts', '/api/v1/namespaces/demo/rollouts', '/api/v1/namespaces/demo/rollouts/agent/nodes', '/api/v1/stream'])(
    'names an unknown query parameter of %s',
    async (url) => {
      const answer = await ask({ method: 'GET', url: `${url}?nedd=true` }, stage.as('admin'))
      const problems = [{ path: 'query.nedd', fix: 'remove it or fix its name: there is no such field' }]
      expect(answer.json()).toMatchObject({ status: 400, problems })
    },
  )

  it('links to the explanation of its code', async () => {
    const answer = await ask({ method: 'GET', url: '/errors/NOT_FOUND' })
    expect(answer.json()).toMatchObject({ code: 'NOT_FOUND', remedy: 'fixInput', status: 404 })
    expect((await ask({ method: 'GET', url: '/errors/MOVED_ON' })).json()).toMatchObject({
      summary: 'The release is no longer at the step, revision or state that the action was meant for.',
      when: expect.stringMatching(/\.$/),
      fix: expect.stringMatching(/\.$/),
    })
  })
})

it('returns the request id, and accepts a safe one from the client', async () => {
  const id = async (sent: string): Promise<unknown> =>
    (await ask({ method: 'GET', url: '/healthz' }, { 'x-request-id': sent })).headers['x-request-id']
  expect(await id('ci-run.42')).toBe('ci-run.42')
  expect(await id('a b\u0007')).toMatch(/^[0-9a-f-]{36}$/)
})
