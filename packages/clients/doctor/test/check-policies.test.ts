import type { ReleasePolicy } from '@tranche/api-schema'
import { KubeStatusError } from '@tranche/kube-client'
import { describe, expect, it } from 'vitest'
import { policyFindings } from '../src/checks/check-policies.ts'
import type { GuardedReads } from '../src/signs/guarded-reads.ts'
import { MOST_POLICIES, type PolicySigns, readPolicySigns } from '../src/signs/policy-signs.ts'
import { ReadDenied } from '../src/signs/guarded-reads.ts'
import { denied, policySign, rolloutSign, well } from './doctor-signs.ts'

const { served } = well
const rights = { denied: { verb: 'get', group: 'tranche.dev', resource: 'releasepolicies', name: 'shut' } }

describe('the check of ReleasePolicies in use', () => {
  const found = (policies: PolicySigns['policies'], left = 0) => policyFindings({ policies: { policies, left }, served })

  it.each<[string, PolicySigns['policies'], string]>([
    ['is silent without any', [], ''],
    [
      'confirms that they can be used',
      [policySign(), policySign({ name: 'fast' })],
      'ok: the 2 ReleasePolicies in use are valid and can be used',
    ],
    [
      'reports a missing one, and the Rollout that names it',
      [policySign({ exists: false })],
      'problem: ReleasePolicy demo/careful does not exist, so releases hold: Rollout demo/node-agent. Create it, or name another one in the annotation tranche.dev/release-policy.',
    ],
    [
      'reports a broken rule, with field and fix',
      [policySign({ problems: 'spec.soak.step is "x": it is no duration; use 5m' })],
      'problem: ReleasePolicy demo/careful is not valid, so releases hold (Rollout demo/node-agent): spec.soak.step is "x": it is no duration; use 5m. Correct these fields:',
    ],
    [
      'reports what the installation does not allow',
      [policySign({ unusable: 'spec.drain is {}: not allowed' })],
      'problem: ReleasePolicy demo/careful asks for what cannot be used here (Rollout demo/node-agent): spec.drain is {}: not allowed. Let an administrator change the values of the chart, or change the policy:',
    ],
  ])('%s', (_name, policies, text) => {
    expect(
      found(policies)
        .map(({ state, message, fix }) => [`${state}: ${message}`, fix].filter(Boolean).join('. '))
        .join('\n'),
    ).toBe(text)
  })

  it('repeats no long name of a policy that does not exist', () => {
    expect(found([policySign({ name: 'x'.repeat(100_000), exists: false })])[0]?.message.length).toBeLessThan(1_000)
  })

  it('reports a missing right as unknown, beside the findings about the others', () => {
    const states = found([policySign({ denied: { who: 'you', ...rights } }), policySign({ name: 'gone', exists: false })]).map(
      ({ state }) => state,
    )
    expect(states).toEqual(['problem', 'unknown'])
    expect(policyFindings({ policies: denied, served })).toMatchObject([{ check: 'policies', state: 'unknown' }])
  })

  it('is bounded', () => {
    const many = Array.from({ length: 40 }, (_, at) => policySign({ name: `p${at}`, exists: false }))
    const findings = found(many, 3)
    expect(findings).toHaveLength(12)
    expect(findings.slice(-2).map(({ message }) => message)).toEqual([
      'more ReleasePolicies in use hold releases: demo/p10, demo/p11, demo/p12, demo/p13, demo/p14 and 25 more',
      '3 more ReleasePolicies in use were not read',
    ])
  })

  it('leaves it to another check that the API server does not serve them', () => {
    const absent = { ...well.served, 'releasepolicies.tranche.dev': false }
    expect(policyFindings({ policies: { policies: [policySign({ exists: false })], left: 0 }, served: absent })).toEqual([])
  })
})

describe('the reading of ReleasePolicies in use', () => {
  const usable = (generation: number): ReleasePolicy['status'] => ({
    conditions: [
      { type: 'Usable', status: 'False', observedGeneration: generation, reason: 'DrainNotAllowed', message: 'drain: not allowed' },
    ],
  })
  const policies: Readonly<Record<string, object | null>> = {
    good: { spec: {} },
    broken: { spec: { nodes: { exclude: [{ matchExpressions: [{ key: 'a', operator: 'Near' }] }] } } },
    unknown: { spec: { drian: {} } },
    refused: { spec: { drain: {} }, status: usable(1) },
    changed: { spec: {}, status: usable(0) },
    gone: null,
  }
  const asked: string[] = []
  const reads = {
    get: (_resource: unknown, { namespace, name }: { readonly namespace: string; readonly name: string }) => {
      asked.push(name)
      const object = policies[name]
      if (name === 'shut') return Promise.reject(new ReadDenied({ who: 'you', ...rights }))
      if (object === null || object === undefined) return Promise.reject(new KubeStatusError({ attempt: 'GET', status: 404 }))
      const metadata = { namespace, name, uid: 'u', resourceVersion: '1', generation: 1 }
      return Promise.resolve({ apiVersion: 'tranche.dev/v1alpha1', kind: 'ReleasePolicy', metadata, ...object })
    },
  } as unknown as GuardedReads
  const read = (...names: readonly string[]) =>
    readPolicySigns(
      reads,
      names.map((policy, at) => rolloutSign({ name: `r${at}`, policy })),
    )

  it.each([
    ['good', { exists: true, problems: '', unusable: '' }],
    ['broken', { problems: expect.stringContaining('spec.nodes.exclude[0].matchExpressions[0].operator is "Near"') }],
    ['unknown', { problems: expect.stringContaining('spec.drian') }],
    ['refused', { problems: expect.any(String), unusable: 'drain: not allowed' }],
    ['changed', { unusable: '' }],
    ['gone', { exists: false }],
    ['shut', { denied: { who: 'you', ...rights } }],
  ])('finds what is wrong with one: %s', async (name, sign) => {
    expect(await read(name)).toMatchObject({ policies: [sign], left: 0 })
  })

  it('reads each once, whichever Rollouts name it, and none that no Rollout names', async () => {
    asked.length = 0
    const signs = await read('good', '', 'good')
    expect([asked, signs]).toMatchObject([['good'], { policies: [{ rollouts: [{ name: 'r0' }, { name: 'r2' }] }] }])
  })

  it('reads a bounded number', async () => {
    asked.length = 0
    expect(await read(...Array.from({ length: MOST_POLICIES + 7 }, (_, at) => `p${at}`))).toMatchObject({ left: 7 })
    expect(asked).toHaveLength(MOST_POLICIES)
  })
})
