import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type Description, operationsOf } from './fuzz/described.ts'
import { fuzz } from './fuzz/fuzz.ts'
import { type Exchange, judge } from './fuzz/judge.ts'
import { judgeJunk } from './fuzz/junk.ts'

// A short run; `pnpm test:fuzz` runs longer.

const operations = operationsOf(JSON.parse(readFileSync(new URL('../openapi.json', import.meta.url), 'utf8')) as Description)

describe('any request to the API', () => {
  it('is answered as the OpenAPI document says: no server error, no hang, no partial write', async () => {
    const report = await fuzz({ seed: 1, runs: 150, goesOn: (round) => round < 2, planMs: 1 })
    expect(report.findings).toEqual([])
    const untried = Object.entries(report.operations).filter(([, { well, refused }]) => well + refused === 0)
    expect(untried).toEqual([])
    expect(report.statuses[200]).toBeGreaterThan(20)
    expect(report.statuses[202]).toBeGreaterThan(5)
  }, 180_000)
})

describe('the fuzzer finds', () => {
  const store = { rollout: { metadata: {}, spec: {} }, daemonSet: { metadata: {}, spec: {} } } as never
  const written = { rollout: { metadata: {}, spec: { strategy: { paused: true } } }, daemonSet: { metadata: {}, spec: {} } } as never
  const headers = { 'content-type': 'application/json', 'x-content-type-options': 'nosniff' }
  const problem = { type: '/errors/NOT_FOUND', title: 'x', status: 404, code: 'NOT_FOUND', detail: 'x', instance: '1' }

  function exchange(id: string, status: number, body: unknown, more: Partial<Exchange> = {}): Exchange {
    const operation = operations.find((one) => one.id === id)!
    const request = { operation, method: operation.method, target: '/x', sender: 'admin', signed: 'not', body: undefined } as never
    const type = status >= 400 ? { 'content-type': 'application/problem+json' } : {}
    const answer = { status, headers: { ...headers, ...type }, text: typeof body === 'string' ? body : JSON.stringify(body) }
    return { request, answer, cpuMs: 1, before: store, after: store, ...more }
  }
  const schemas = () => Object.assign((value: unknown) => typeof value === 'object', { errors: [] }) as never

  it('nothing in correct answers', () => {
    expect(judge(exchange('getRollout', 404, problem), schemas)).toEqual([])
    expect(judge(exchange('getRollout', 200, {}), schemas)).toEqual([])
  })

  it.each<[string, Exchange, string]>([
    [
      'a broken route',
      exchange('getRollout', 500, { ...problem, status: 500, code: 'INVARIANT_BROKEN', type: '/errors/INVARIANT_BROKEN' }),
      '500',
    ],
    [
      'a page in HTML',
      { ...exchange('getRollout', 404, '<h1>'), answer: { status: 404, headers: { 'content-type': 'text/html' }, text: '<h1>' } },
      'text/html',
    ],
    ['an unknown code', exchange('getRollout', 404, { ...problem, code: 'OOPS', type: '/errors/OOPS' }), 'no OOPS'],
    ['a code with the status of another', exchange('getRollout', 409, { ...problem, status: 409 }), 'answered with 409'],
    ['a stack trace in the detail', exchange('getRollout', 404, { ...problem, detail: 'x\n    at file:///src/x.ts:1' }), 'not for clients'],
    ['an answer that is not as described', exchange('getRollout', 200, '"text"'), 'not as described'],
    ['a request that hangs', exchange('getRollout', 200, {}, { answer: 'hung' }), 'not answered'],
    ['a request that blocks the server', exchange('getRollout', 200, {}, { cpuMs: 60_000 }), '60000 ms'],
    [
      'a refused action that was written',
      exchange('pause', 409, { ...problem, status: 409, code: 'MOVED_ON', type: '/errors/MOVED_ON' }, { after: written }),
      'something was written',
    ],
    ['an action that is not recorded', exchange('pause', 202, { id: 'rest-1' }, { after: written }), 'on no record'],
    ['a read that writes', exchange('getRollout', 200, {}, { after: written }), 'has written'],
    [
      'an answer to an unauthenticated client',
      { ...exchange('getRollout', 200, {}), request: { ...exchange('getRollout', 200, {}).request, sender: 'stranger' } },
      'stranger',
    ],
  ])('%s', (_what, one, finding) => expect(judge(one, schemas).join()).toContain(finding))

  it('a server error in the answer to junk', () => {
    expect(judgeJunk('HTTP/1.1 400 Bad Request\r\ncontent-length: 2\r\n\r\n{}')).toHaveLength(1)
    expect(judgeJunk('HTTP/1.1 500 Oops\r\n\r\n')).toHaveLength(1)
  })
})
