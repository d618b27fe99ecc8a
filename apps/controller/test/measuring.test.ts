import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fitForStatus, judgeAnswer, type MeasurementOutcome, type MetricAnswer, toRequest } from '@tranche/analysis'
import type { Analysis } from '@tranche/api-schema'
import { type Clock, FakeClock, systemClock } from '@tranche/clock'
import { createMetricPort } from '@tranche/controller'
import { createEgressClient, parseHostRule, type SecretAnswer } from '@tranche/egress'
import { listen } from '@tranche/sim-api'
import { afterEach, describe, expect, it } from 'vitest'

// Everything except the API server is real: sockets on loopback, where 127.0.0.1 is allowed and localhost is not.

const closing: (() => Promise<unknown>)[] = []
const never = new AbortController().signal
const values = { canaryRevision: 'v2', nodes: 'node-1|node-2' }

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

type Answer = (response: ServerResponse, request: IncomingMessage) => unknown

interface Case {
  readonly answer: Answer
  readonly rules?: Partial<Analysis>
  readonly want: MeasurementOutcome
}

describe('a query to Prometheus', () => {
  const cases: Record<string, Case> = {
    'is a success': { answer: sample('0.01'), want: { phase: 'Successful', value: '[0.01]' } },
    'is a failure': {
      answer: sample('0.2'),
      want: { phase: 'Failed', value: '[0.2]', message: 'successCondition does not hold: result[0] < 0.05' },
    },
    'is inconclusive': {
      answer: sample('0.2'),
      rules: { failureCondition: 'result[0] > 0.5' },
      want: { phase: 'Inconclusive', value: '[0.2]', message: 'neither condition holds' },
    },
    'is inconclusive with NaN': {
      answer: sample('NaN'),
      want: { phase: 'Inconclusive', value: '[NaN]', message: 'the result is NaN, which is not a number' },
    },
    'is an error if it is refused': {
      answer: json({ status: 'error', errorType: 'bad_data', error: 'invalid parameter "query"' }, 400),
      want: { phase: 'Error', message: 'Prometheus rejected the query: invalid parameter "query"' },
    },
    'is an error at 401': {
      answer: (response) => response.writeHead(401).end('who are you?'),
      want: { phase: 'Error', message: 'the server responded with HTTP status 401: check the credentials in headers' },
    },
    'is an error at 500': {
      answer: (response) => response.writeHead(500).end('Internal Server Error'),
      want: { phase: 'Error', message: 'the server responded with HTTP status 500' },
    },
    'is an error if the answer is not JSON': {
      answer: (response) => response.end(Buffer.from([0, 255, 1, 254, 123])),
      want: { phase: 'Error', message: 'the response is not JSON' },
    },
    'is an error if the answer is a login page': {
      answer: (response) => response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end('<html></html>'),
      want: { phase: 'Error', message: 'the response is not JSON but text/html' },
    },
    'is an error if the answer is other JSON': {
      answer: json([1, 2]),
      want: { phase: 'Error', message: 'the response is not from Prometheus: status is neither success nor error' },
    },
    'is an error if the answer is larger than 1 MiB': {
      answer: (response) => response.end('9'.repeat(1024 * 1024 + 1)),
      want: {
        phase: 'Error',
        message: expect.stringMatching(/^127\.0\.0\.1:\d+ answers with more than 1048576 bytes$/) as unknown as string,
      },
    },
    'is an error if a redirect leads to a host that is not allowed': {
      answer: (response) => response.writeHead(302, { location: 'http://localhost:1/' }).end(),
      want: {
        phase: 'Error',
        message: expect.stringMatching(/^a redirect leads to localhost:1, which is not an allowed host/) as unknown as string,
      },
    },
    'is an error if the connection breaks': {
      answer: (response) => response.destroy(),
      want: {
        phase: 'Error',
        message: expect.stringMatching(/^127\.0\.0\.1:\d+ cannot be reached: other side closed$/) as unknown as string,
      },
    },
  }

  it.each(Object.entries(cases))('%s', async (_name, { answer, rules, want }) => {
    const { url } = await serve(answer)
    expect(await measure({ ...prometheus(url), ...rules })).toEqual(want)
  })

  it('contains the arguments, and uses POST if it is too long for a URL', async () => {
    const server = await serve(sample('0'))
    await measure(prometheus(server.url, 'up{revision="{{canaryRevision}}"}'))
    await measure(prometheus(server.url, `up{revision="{{canaryRevision}}",pod!="${'x'.repeat(3000)}"}`))
    expect(server.requests.map(({ method, url }) => [method, url?.split('&')[0]])).toEqual([
      ['GET', '/api/v1/query?query=up%7Brevision%3D%22v2%22%7D'],
      ['POST', '/api/v1/query'],
    ])
  })

  it.each<[string, Answer]>([
    ['there is no answer', () => undefined],
    ['the answer does not end', (response) => response.write('{')],
  ])('is an error if %s in time', async (_name, answer) => {
    const clock = new FakeClock()
    const { url } = await serve((response, request) => {
      answer(response, request)
      setImmediate(() => clock.advance(2_000))
    })
    const outcome = await measure({ ...prometheus(url), timeout: '2s' }, { clock })
    expect(outcome).toEqual({ phase: 'Error', message: `${new URL(url).host} did not answer within 2000 ms` })
  })

  it('is an error if the certificate is not trusted', async () => {
    const server = await listen({ endWatches: () => undefined } as never, { port: 0 })
    closing.push(() => server.close())
    expect(await measure(prometheus(server.url))).toEqual({
      phase: 'Error',
      message: `127.0.0.1:${server.port} cannot be reached: unable to verify the first certificate`,
    })
  })

  it('is an error if an http server is queried with https', async () => {
    const { url } = await serve(sample('0'))
    const outcome = await measure(prometheus(url.replace('http:', 'https:')))
    expect(outcome).toEqual({ phase: 'Error', message: `${new URL(url).host} cannot be reached: TLS failed: wrong version number` })
  })

  it('is an error if the host name does not exist', async () => {
    const outcome = await measure(prometheus('http://prometheus.invalid:9090'), { hosts: ['*.invalid:9090'] })
    expect(outcome).toEqual({
      phase: 'Error',
      message: expect.stringMatching(
        /^prometheus\.invalid:9090 cannot be reached: getaddrinfo (ENOTFOUND|EAI_AGAIN) prometheus\.invalid$/,
      ) as unknown,
    })
  })

  it('ignores proxy variables of the environment', async () => {
    const server = await serve(sample('0.01'))
    const before = { ...process.env }
    Object.assign(process.env, { HTTP_PROXY: 'http://127.0.0.1:1', http_proxy: 'http://127.0.0.1:1', ALL_PROXY: 'http://127.0.0.1:1' })
    try {
      expect(await measure(prometheus(server.url))).toMatchObject({ phase: 'Successful' })
    } finally {
      process.env = before
    }
  })
})

describe('a secret in a header', () => {
  const headers = [{ name: 'Authorization', valueFrom: { name: 'metrics', key: 'token' } }]
  const asking = (url: string): Analysis => ({ name: 'health', http: { url, headers }, successCondition: 'result.ok' })
  const found = (value: string): SecretAnswer => ({ kind: 'found', value })

  it('is sent without its line break', async () => {
    const server = await serve(json({ ok: true }))
    await measure(asking(server.url), { secret: found('Bearer s3cret-token\n') })
    expect(server.requests[0]?.headers.authorization).toBe('Bearer s3cret-token')
  })

  it('is never shown, even if the server returns it or a part of it', async () => {
    const { url } = await serve(json({ ok: true, whole: 'Bearer s3cret-token', part: 's3cret-token' }))
    const outcome = await measure(asking(url), { secret: found('Bearer s3cret-token') })
    expect(outcome).toEqual({ phase: 'Successful', value: '{"ok":true,"whole":"***","part":"***"}' })
  })

  it('is not sent to the target of a redirect', async () => {
    const target = await serve(json({ ok: true }))
    const { url } = await serve((response) => response.writeHead(307, { location: target.url }).end())
    await measure(asking(url), { secret: found('Bearer s3cret-token') })
    expect(target.requests[0]?.headers).not.toHaveProperty('authorization')
  })

  it.each<[string, SecretAnswer | Error, string]>([
    [
      'does not exist',
      { kind: 'missing', message: 'there is no Secret metrics', fix: 'create it' },
      'there is no Secret metrics; create it',
    ],
    [
      'cannot be read',
      new Error('s3cret'),
      'the Secret metrics in namespace demo cannot be read: the API server did not answer; it is retried automatically',
    ],
    [
      'is not a valid header value',
      found('a\nb'),
      'the key token of the Secret metrics is not a valid header value; write one line of ASCII',
    ],
  ])('that %s causes an error, and nothing is sent', async (_name, secret, message) => {
    const server = await serve(json({ ok: true }))
    expect(await measure(asking(server.url), { secret })).toEqual({ phase: 'Error', message })
    expect(server.requests).toEqual([])
  })
})

interface Circumstances {
  readonly clock?: Clock
  readonly hosts?: readonly string[]
  readonly secret?: SecretAnswer | Error
}

/** Makes one measurement, from the policy to the outcome. */
async function measure(
  analysis: Analysis,
  { clock = systemClock, hosts = ['127.0.0.1'], secret }: Circumstances = {},
): Promise<MeasurementOutcome> {
  const allowHosts = hosts.map(parseHostRule).filter((rule) => typeof rule !== 'string')
  const egress = createEgressClient({ clock, allowHosts, userAgent: 'test/1' })
  closing.push(() => egress.close())
  const read = async (): Promise<SecretAnswer> => {
    if (secret === undefined || secret instanceof Error) throw secret ?? new Error('the test expects no read of a Secret')
    return secret
  }
  const request = toRequest(analysis, values, 0)
  if (request === null) throw new Error('the analysis sends no request')
  const result = await createMetricPort({ egress, secrets: { read } }).ask('demo', request, never)
  return result.kind === 'failed' ? { phase: 'Error', message: result.message } : judged(analysis, result.answer)
}

function judged(analysis: Analysis, { conceal, ...answer }: MetricAnswer): MeasurementOutcome {
  return fitForStatus(judgeAnswer({ analysis, values, answer }), conceal)
}

function prometheus(address: string, query = 'errors'): Analysis {
  return { name: 'errors', prometheus: { address, query }, successCondition: 'result[0] < 0.05' }
}

function sample(value: string): Answer {
  return json({ status: 'success', data: { resultType: 'vector', result: [{ metric: {}, value: [1, value] }] } })
}

function json(body: unknown, status = 200): Answer {
  return (response) => response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

interface Served {
  readonly url: string
  readonly requests: readonly IncomingMessage[]
}

async function serve(answer: Answer): Promise<Served> {
  const requests: IncomingMessage[] = []
  const server = createServer((request, response) => {
    requests.push(request)
    answer(response, request)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  closing.push(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests }
}
