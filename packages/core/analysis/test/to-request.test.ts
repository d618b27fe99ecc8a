import { describe, expect, it } from 'vitest'
import { type MetricRequest, requestFault, toRequest } from '@tranche/analysis'
import type { Analysis } from '@tranche/api-schema'

const NOW_MS = Date.parse('2026-01-01T00:10:00.500Z')
const values = { canaryRevision: 'v2', nodes: 'node-1|node-2', path: 'a/b?c#d', word: 'say "no"\n' }

describe('toRequest', () => {
  const cases: Record<string, { analysis: Omit<Analysis, 'name'>; want: Partial<MetricRequest> }> = {
    'makes an instant query with arguments filled in': {
      analysis: { prometheus: { address: 'http://prom.example:9090/', query: 'up{rev="{{canaryRevision}}"}' } },
      want: {
        method: 'GET',
        url: 'http://prom.example:9090/api/v1/query?query=up%7Brev%3D%22v2%22%7D&time=1767226200.5&timeout=10000ms',
        timeoutMs: 10_000,
      },
    },
    'queries a range that ends now, in sixty steps': {
      analysis: { prometheus: { address: 'http://prom.example/base', query: 'up', range: '5m' }, timeout: '2s' },
      want: {
        url: 'http://prom.example/base/api/v1/query_range?query=up&start=1767225900.5&end=1767226200.5&step=5&timeout=2000ms',
        timeoutMs: 2_000,
      },
    },
    'queries a range in its own steps, of at least a second': {
      analysis: { prometheus: { address: 'http://prom.example', query: 'up', range: '1m', step: '100ms' } },
      want: { url: 'http://prom.example/api/v1/query_range?query=up&start=1767226140.5&end=1767226200.5&step=1&timeout=10000ms' },
    },
    'uses POST for a query that is too long for a URL': {
      analysis: { prometheus: { address: 'http://prom.example', query: `up{node=~"${'n'.repeat(2000)}"}` } },
      want: {
        method: 'POST',
        url: 'http://prom.example/api/v1/query',
        body: expect.stringMatching(/^query=up%7Bnode/) as unknown as string,
      },
    },
    'encodes arguments in a URL, so that they stay in their place': {
      analysis: { http: { url: 'https://health.example/{{path}}/x?rev={{canaryRevision}}' } },
      want: { method: 'GET', url: 'https://health.example/a%2Fb%3Fc%23d/x?rev=v2' },
    },
    'escapes arguments in a JSON body': {
      analysis: { http: { url: 'https://health.example', method: 'POST', body: '{"text": "{{word}}"}' } },
      want: {
        method: 'POST',
        body: '{"text": "say \\"no\\"\\n"}',
        headers: expect.objectContaining({ 'content-type': 'application/json' }) as never,
      },
    },
    'references the value of a header, and never contains it': {
      analysis: {
        http: {
          url: 'https://health.example',
          headers: [
            { name: 'X-Revision', value: '{{canaryRevision}}' },
            { name: 'Authorization', valueFrom: { name: 'health', key: 'token' } },
          ],
        },
      },
      want: {
        privateHeaders: [
          { name: 'X-Revision', value: 'v2' },
          { name: 'Authorization', secret: { name: 'health', key: 'token' } },
        ],
      },
    },
  }

  it.each(Object.entries(cases))('%s', (_name, { analysis, want }) => {
    expect(toRequest({ name: 'a', ...analysis }, values, NOW_MS)).toMatchObject(want)
  })

  it('makes no request without a source', () => {
    expect(toRequest({ name: 'a' }, values, NOW_MS)).toBeNull()
  })
})

it.each([
  ['http.body', { http: { url: 'http://x', method: 'POST', body: '{{a}}'.repeat(13_000) } }],
  ['http.url', { http: { url: `http://x/${'{{a}}'.repeat(400)}` } }],
  ['header x-team', { http: { url: 'http://x', headers: [{ name: 'x-team', value: '{{a}}'.repeat(1_600) }] } }],
  ['prometheus.query', { prometheus: { address: 'http://x', query: '{{a}}'.repeat(2_000) } }],
] as const)('a %s that repeats a long argument is not built', (field, source) => {
  const analysis = { name: 'a', successCondition: 'true', ...source } as Analysis
  expect(requestFault(analysis, { a: 'x'.repeat(10_000) })).toMatch(
    new RegExp(`^${field} has \\d+ characters with its arguments filled in`),
  )
  expect(requestFault(analysis, { a: 'x' })).toBeNull()
})
