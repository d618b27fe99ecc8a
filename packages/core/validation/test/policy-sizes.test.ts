import type { Analysis, ReleasePolicySpec } from '@tranche/api-schema'
import { checkRollout, problemText, validatePolicy } from '@tranche/validation'
import { describe, expect, it } from 'vitest'
import { policyWith } from './policies.ts'

/** The longest that one check may block the controller on a busy machine; without the bounds each of these takes 1 to 20 s. */
const LONGEST_MS = 500

const asking = { name: 'a', prometheus: { address: 'http://prometheus.example.com', query: 'up' }, successCondition: 'true' }
const http = { name: 'a', http: { url: 'http://app.example.com' }, successCondition: 'true' }

describe('a policy that is too large to check quickly is refused by its sizes alone', () => {
  const query = (text: string, value = ''): Analysis => ({
    ...asking,
    prometheus: { ...asking.prometheus, query: text },
    args: [{ name: 'a', value }],
  })
  it.each<[why: string, spec: ReleasePolicySpec, path: string, text: string]>([
    [
      'a query that names one long argument 1,990 times',
      { analysis: [query(`a${'{{a}}'.repeat(1990)}`, '+1'.repeat(5000))] },
      'spec.analysis',
      'queries and conditions have 19900005 characters in total with arguments filled in',
    ],
    [
      'a query of 4,999 nested brackets',
      { analysis: [query('('.repeat(4999))] },
      'spec.analysis[0].prometheus.query',
      'it nests more than 100 brackets',
    ],
    [
      '30,000 arguments',
      { analysis: [{ ...http, args: numbered(30_000, (n) => ({ name: `x${n}`, value: '' })) }] },
      'spec.analysis[0].args',
      'the list has 30000 entries; the maximum is 50',
    ],
    [
      '50,000 headers',
      { analysis: [{ ...http, http: { ...http.http, headers: numbered(50_000, (n) => ({ name: `x${n}`, value: 'b' })) } }] },
      'spec.analysis[0].http.headers',
      'the list has 50000 entries; the maximum is 20',
    ],
    [
      '20,000 orders of nodes',
      { nodes: { order: numbered(20_000, (n) => ({ selector: { matchLabels: { [`x${n}`]: '' } } })) } },
      'spec.nodes.order',
      'the list has 20000 entries; the maximum is 20',
    ],
  ])('%s', (_why, spec, path, text) => {
    const began = performance.now()
    const [problem] = validatePolicy(policyWith(spec))
    expect(performance.now() - began).toBeLessThan(LONGEST_MS)
    expect(problem).toMatchObject({ rule: 'PolicySize', path })
    expect(problemText(problem!)).toContain(text)
  })
})

it('a selector with more than 50 requirements, or a requirement with more than 1,000 values, is refused in policies and in steps', () => {
  const matchLabels = Object.fromEntries(numbered(51, (n) => [`label-${n}`, 'a']))
  const matchExpressions = [{ key: 'pool', operator: 'In' as const, values: numbered(1001, (n) => `node-${n}`) }]
  const texts = (spec: ReleasePolicySpec): readonly string[] => validatePolicy(policyWith(spec)).map(problemText)
  expect(texts({ nodes: { exclude: [{ matchLabels }] } })).toEqual([expect.stringContaining('the selector has 51 requirements')])
  expect(texts({ nodes: { exclude: [{ matchExpressions }] } })).toEqual([expect.stringContaining('the requirement has 1001 values')])
  const rollout = {
    apiVersion: 'rollouts.kruise.io/v1beta1',
    kind: 'Rollout',
    metadata: { name: 'agent' },
    spec: {
      workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent' },
      strategy: { canary: { steps: [{ replicas: 1, nodes: { matchLabels } }, { replicas: '100%' }] } },
    },
  }
  expect(checkRollout(rollout, { desired: null, workloadExists: null }).problems.map(problemText)).toEqual([
    expect.stringContaining('the selector has 51 requirements'),
  ])
})

it('a duration of more than 64 characters is refused unread: one of a million takes 340 ms to read', () => {
  expect(validatePolicy(policyWith({ soak: { step: '1h'.repeat(32) } }))).toEqual([])
  const [problem] = validatePolicy(policyWith({ soak: { step: '1h'.repeat(33) } }))
  expect(problem).toMatchObject({ rule: 'PolicyDuration', path: 'spec.soak.step' })
})

it('a policy at every limit is accepted', () => {
  const analysis = numbered(
    20,
    (n): Analysis => ({
      name: `a${n}`,
      prometheus: {
        address: 'http://prometheus.example.com',
        query: `sum(rate({{x0}}[5m])) + ${'1+'.repeat(400)}1`,
        headers: numbered(20, (h) => ({ name: `x-${h}`, value: 'b' })),
      },
      successCondition: `result[0] < ${n}.5`,
      args: numbered(50, (a) => ({ name: `x${a}`, value: 'up' })),
    }),
  )
  const names = numbered(1_000, (n) => `node-${n}`)
  const exclude = [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In' as const, values: names }] }]
  expect(validatePolicy(policyWith({ analysis, nodes: { exclude } })).map(problemText)).toEqual([])
})

function numbered<T>(length: number, make: (n: number) => T): T[] {
  return Array.from({ length }, (_, n) => make(n))
}
