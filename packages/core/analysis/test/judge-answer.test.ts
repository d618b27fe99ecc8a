import { describe, expect, it } from 'vitest'
import { fitForStatus, judgeAnswer, judgeQuickly, type MeasurementOutcome, type MetricAnswer } from '@tranche/analysis'
import type { Analysis } from '@tranche/api-schema'
import { cpuMs } from '../../../../test/fakes/cpu-ms.ts'

const values = { canaryRevision: 'v2', threshold: '0.05' }

interface Case {
  readonly analysis: Partial<Analysis>
  readonly answer: Partial<MetricAnswer>
  readonly want: MeasurementOutcome
}

describe('judgeAnswer of Prometheus', () => {
  const cases: Record<string, Case> = {
    'is a success where successCondition holds': {
      analysis: { successCondition: 'result[0] < 0.05' },
      answer: vector('0.01'),
      want: { phase: 'Successful', value: '[0.01]' },
    },
    'is a failure where successCondition alone does not hold': {
      analysis: { successCondition: 'result[0] < 0.05' },
      answer: vector('0.5'),
      want: { phase: 'Failed', value: '[0.5]', message: 'successCondition does not hold: result[0] < 0.05' },
    },
    'is a failure where failureCondition holds, whatever successCondition returns': {
      analysis: { successCondition: 'true', failureCondition: 'result[0] > 0.4' },
      answer: vector('0.5'),
      want: { phase: 'Failed', value: '[0.5]', message: 'failureCondition holds: result[0] > 0.4' },
    },
    'is a success where failureCondition alone does not hold': {
      analysis: { failureCondition: 'result[0] > 0.4' },
      answer: vector('0.1'),
      want: { phase: 'Successful', value: '[0.1]' },
    },
    'is inconclusive where neither of both conditions holds': {
      analysis: { successCondition: 'result[0] < 0.1', failureCondition: 'result[0] > 0.4' },
      answer: vector('0.2'),
      want: { phase: 'Inconclusive', value: '[0.2]', message: 'neither condition holds' },
    },
    'is inconclusive when NaN makes successCondition false': {
      analysis: { successCondition: 'result[0] < 0.05' },
      answer: vector('NaN'),
      want: { phase: 'Inconclusive', value: '[NaN]', message: 'the result is NaN, which is not a number' },
    },
    'is inconclusive when NaN makes failureCondition false': {
      analysis: { failureCondition: 'result[0] > 0.05' },
      answer: vector('NaN'),
      want: { phase: 'Inconclusive', value: '[NaN]', message: 'the result is NaN, which is not a number' },
    },
    'is a failure where one series fails beside one that is NaN': {
      analysis: { failureCondition: 'result.exists(v, v > 0.4)' },
      answer: vector('NaN', '0.5'),
      want: { phase: 'Failed', value: '[NaN, 0.5]', message: 'failureCondition holds: result.exists(v, v > 0.4)' },
    },
    'treats whole numbers as floating-point, so that arithmetic does not depend on the response': {
      analysis: { successCondition: 'result[0] * 100.0 < 200.0' },
      answer: vector('1'),
      want: { phase: 'Successful', value: '[1]' },
    },
    'compares with arguments': {
      analysis: { successCondition: 'result[0] < double(args.threshold)' },
      answer: vector('0.04'),
      want: { phase: 'Successful', value: '[0.04]' },
    },
    'is an error when a condition uses a sample that does not exist': {
      analysis: { successCondition: 'result[0] < 0.05' },
      answer: vector(),
      want: { phase: 'Error', value: '[]', message: 'successCondition: index out of bounds: 0' },
    },
    'reads every number of a range': {
      analysis: { successCondition: 'size(result) == 4 && result.all(v, v < 5.0)' },
      answer: json({
        status: 'success',
        data: {
          resultType: 'matrix',
          result: [
            {
              values: [
                [1, '1'],
                [2, '2'],
              ],
            },
            {
              values: [
                [1, '3'],
                [2, '4'],
              ],
            },
          ],
        },
      }),
      want: { phase: 'Successful', value: '[1, 2, 3, 4]' },
    },
    'reads a scalar, and infinity': {
      analysis: { failureCondition: 'result[0] > 1e300' },
      answer: json({ status: 'success', data: { resultType: 'scalar', result: [1, '+Inf'] } }),
      want: { phase: 'Failed', value: '[Infinity]', message: 'failureCondition holds: result[0] > 1e300' },
    },
    'is an error with the text of Prometheus when it rejects the query': {
      analysis: { successCondition: 'true' },
      answer: { ...json({ status: 'error', errorType: 'bad_data', error: 'parse error: unexpected end' }), status: 400 },
      want: { phase: 'Error', message: 'Prometheus rejected the query: parse error: unexpected end' },
    },
    'is an error when the JSON is not from Prometheus': {
      analysis: { successCondition: 'true' },
      answer: json({ hello: 'world' }),
      want: { phase: 'Error', message: 'the response is not from Prometheus: status is neither success nor error' },
    },
    'is an error where a sample is not a number': {
      analysis: { successCondition: 'true' },
      answer: vector('many'),
      want: { phase: 'Error', message: 'the response is not from Prometheus: a sample is not a number' },
    },
    'is an error with the HTTP status, and never with the body': {
      analysis: { successCondition: 'true' },
      answer: { status: 500, body: 'panic: token abcdef', contentType: 'text/plain' },
      want: { phase: 'Error', message: 'the server responded with HTTP status 500' },
    },
    'says that credentials are wrong': {
      analysis: { successCondition: 'true' },
      answer: { status: 401, body: '' },
      want: { phase: 'Error', message: 'the server responded with HTTP status 401: check the credentials in headers' },
    },
    'is an error that names the content type when the body is not JSON': {
      analysis: { successCondition: 'true' },
      answer: { body: '<html>log in</html>', contentType: 'text/html; charset=utf-8' },
      want: { phase: 'Error', message: 'the response is not JSON but text/html' },
    },
    'is an error where a condition does not compile': {
      analysis: { successCondition: 'reslt[0] < 1.0' },
      answer: vector('0'),
      want: { phase: 'Error', message: expect.stringContaining('undeclared reference') as unknown as string },
    },
  }

  it.each(Object.entries(cases))('%s', (_name, { analysis, answer, want }) => {
    const asked = { name: 'errors', prometheus: { address: 'http://prometheus.example', query: 'up' }, ...analysis }
    expect(judged(asked, { ...baseAnswer, ...answer })).toEqual(want)
  })
})

describe('judgeAnswer of any server', () => {
  const cases: Record<string, Case> = {
    'reads the response as JSON': {
      analysis: { successCondition: 'result.ok && result.failed == 0' },
      answer: json({ ok: true, failed: 0 }),
      want: { phase: 'Successful', value: '{"ok":true,"failed":0}' },
    },
    'is an error where a member is missing': {
      analysis: { successCondition: 'result.ok' },
      answer: json({}),
      want: { phase: 'Error', value: '{}', message: 'successCondition: no such key: ok' },
    },
    'is an error where a condition is neither true nor false': {
      analysis: { successCondition: 'result.ok' },
      answer: json({ ok: 'yes' }),
      want: { phase: 'Error', value: '{"ok":"yes"}', message: 'successCondition: it is neither true nor false' },
    },
    'is an error outside 2xx': {
      analysis: { successCondition: 'true' },
      answer: { ...json({}), status: 503 },
      want: { phase: 'Error', message: 'the server responded with HTTP status 503' },
    },
    'accepts any HTTP status when a condition uses status': {
      analysis: { failureCondition: 'status == 503' },
      answer: { status: 503, body: 'sorry' },
      want: { phase: 'Failed', value: 'HTTP 503 null', message: 'failureCondition holds: status == 503' },
    },
    'reads an empty body as null': {
      analysis: { successCondition: 'result == null' },
      answer: { status: 204, body: '' },
      want: { phase: 'Successful', value: 'null' },
    },
    'keeps texts short': {
      analysis: { successCondition: 'true' },
      answer: json('x'.repeat(1000)),
      want: { phase: 'Successful', value: `"${'x'.repeat(254)}…` },
    },
    'removes secrets before it cuts texts': {
      analysis: { successCondition: 'true' },
      answer: { ...json({ pad: 'x'.repeat(230), token: 's3cret-s3cret' }), conceal: (text) => text.replaceAll('s3cret-s3cret', '***') },
      want: { phase: 'Successful', value: `{"pad":"${'x'.repeat(230)}","token":"***"}` },
    },
  }

  it.each(Object.entries(cases))('%s', (_name, { analysis, answer, want }) => {
    const asked = { name: 'health', http: { url: 'http://health.example' }, ...analysis }
    expect(judged(asked, { ...baseAnswer, ...answer })).toEqual(want)
  })
})

const baseAnswer: MetricAnswer = { status: 200, contentType: 'application/json', body: '', conceal: (text) => text }

function json(body: unknown): Partial<MetricAnswer> {
  return { body: JSON.stringify(body) }
}

function vector(...samples: readonly string[]): Partial<MetricAnswer> {
  return json({ status: 'success', data: { resultType: 'vector', result: samples.map((sample) => ({ metric: {}, value: [1, sample] })) } })
}

function judged(analysis: Analysis, { conceal, ...answer }: MetricAnswer): MeasurementOutcome {
  const question = { analysis, values, answer }
  const outcome = judgeAnswer(question)
  expect(judgeQuickly(question)).toEqual(outcome)
  return fitForStatus(outcome, conceal)
}

describe('judging on the main thread', () => {
  const worst: Readonly<Record<string, readonly [condition: string, result: unknown]>> = {
    'a loop in a loop': ['result.all(a, result.all(b, [a, b].size() == 2))', Array.from({ length: 2000 }, () => 1)],
    'texts put together': ['result.map(a, result.map(b, string(b) + "x" + string(a))).size() > 0', Array.from({ length: 2000 }, () => 1)],
    'a text taken apart': ['result[0].split("").map(x, x.split("")).size() > 0', ['a'.repeat(16_000)]],
    'a text that grows': ['result[0].replace("a", result[1]).size() > 0', ['a'.repeat(8_000), 'b'.repeat(8_000)]],
  }

  it.each(Object.entries(worst))('stops at the step limit and leaves the rest to a thread: %s', (_name, [successCondition, result]) => {
    const answer = { status: 200, contentType: 'application/json', body: JSON.stringify(result) }
    expect(judgeQuickly({ analysis: { name: 'a', http: { url: 'http://x' }, successCondition }, values: {}, answer })).toBeNull()
  })

  it('evaluates a pattern that a loop builds only once: the condition is false for the first item', () => {
    const answer = { status: 200, contentType: 'application/json', body: JSON.stringify(Array.from({ length: 2000 }, (_, n) => n)) }
    const successCondition = 'result.all(a, "aaaa".matches("(a|b)*" + string(a)))'
    expect(judgeQuickly({ analysis: { name: 'a', http: { url: 'http://x' }, successCondition }, values: {}, answer })).toMatchObject({
      phase: 'Failed',
    })
  })

  it('leaves more steps, longer responses and longer conditions to a thread', () => {
    const question = (successCondition: string, body: string) =>
      judgeQuickly({
        analysis: { name: 'a', http: { url: 'http://x' }, successCondition },
        values: {},
        answer: { status: 200, contentType: 'application/json', body },
      })
    expect(question('true', '[1]')).toMatchObject({ phase: 'Successful' })
    expect(question('result.all(a, result.all(b, a == b))', `[${'1,'.repeat(99)}1]`)).toBeNull()
    expect(question('true', `"${'a'.repeat(20_000)}"`)).toBeNull()
    expect(question(`true${' '.repeat(2_000)}`, '[1]')).toBeNull()
  })
})

it('a response of 500,000 nested lists or an unterminated string is an error, and takes no longer than a flat one', () => {
  for (const body of ['['.repeat(500_000) + ']'.repeat(500_000), '"\\"'.repeat(300_000)]) {
    const began = cpuMs()
    const outcome = judgeAnswer({
      analysis: { name: 'a', http: { url: 'http://x' }, successCondition: 'true' },
      values: {},
      answer: { status: 200, contentType: 'application/json', body },
    })
    expect(outcome.phase).toBe('Error')
    expect(cpuMs() - began).toBeLessThan(500)
  }
})
