import { type Admission, admitBatchRelease, admitDaemonSet, admitRollout, answerReview, decideReview, readReview } from '@tranche/admission'
import type { BatchRelease, Rollout } from '@tranche/api-schema'
import { describe, expect, it } from 'vitest'
import { daemonSet, releaseKeys, rollout } from './objects.ts'

/** Largest answer of a webhook that any of these requests gets, in bytes. */
const LARGEST_ANSWER = 64 * 1024
const metadata = { name: 'by-hand', namespace: 'demo', uid: 'b1', resourceVersion: '1' }

/** A Rollout of 1.2 MB for `values` = 1,000. */
function withInvalidValues(values: number): Rollout {
  const expression = { key: 'a', operator: 'In' as const, values: Array.from({ length: values }, () => '_') }
  const step = { nodes: { matchExpressions: Array.from({ length: 6 }, () => expression) } }
  return rollout({}, { strategy: { canary: { steps: Array.from({ length: 50 }, () => step) } } })
}

function answerTo(object: Rollout): string {
  const request = { uid: '1', operation: 'CREATE', object, name: 'bad', kind: { group: 'rollouts.kruise.io', kind: 'Rollout' } }
  const review = readReview(JSON.stringify({ kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', request }))!
  return JSON.stringify(answerReview(review, decideReview('rollouts', review, { refused: [], rollout: null })))
}

describe('a review of a Rollout gets an answer of less than 64 KiB', () => {
  const long = 'x'.repeat(1_000_000)
  it.each<[of: string, object: Rollout]>([
    ['with 300,000 invalid values', withInvalidValues(1_000)],
    ['with 4,800 invalid values, which no size forbids', withInvalidValues(16)],
    [
      'with a label key of a megabyte',
      rollout({}, { strategy: { canary: { steps: [{ nodes: { matchLabels: { [`${long} `]: '_' } } }] } } }),
    ],
    ['with an action of a megabyte', rollout({ annotations: { 'tranche.dev/action': JSON.stringify({ id: long, [long]: 1 }) } })],
    ['with a workload name of a megabyte', rollout({}, { workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: long } })],
    ['of another workload kind with a name of a megabyte', rollout({}, { workloadRef: { apiVersion: 'apps/v1', kind: long, name: 'a' } })],
  ])('%s', (_of, object) => {
    const answer = answerTo(object)
    expect(answer.length).toBeLessThan(LARGEST_ANSWER)
    expect((JSON.parse(answer) as { readonly response: object }).response).toHaveProperty('allowed')
  })

  it('that names what is too large, with the fix', () => {
    const { response } = JSON.parse(answerTo(withInvalidValues(1_000))) as {
      readonly response: { readonly allowed: boolean; readonly status: { readonly message: string } }
    }
    expect(response.allowed).toBe(false)
    expect(response.status.message).toMatch(/steps\[0\]\.nodes is "6000 values": .* the maximum is 5000; keep 5000 or fewer/)
  })

  it('with at most 21 causes for 4,800 problems, and says that there are more', () => {
    const admission = admitRollout({ operation: 'CREATE', oldObject: null, newObject: withInvalidValues(16), others: [] })
    expect(admission).toMatchObject({ kind: 'deny', message: expect.stringMatching(/more/) as unknown })
    expect(admission.kind === 'deny' && admission.causes).toHaveLength(21)
    expect(admission.kind === 'deny' && admission.causes.at(-1)?.message).toMatch(/more than 20 problems/)
  })
})

it('a message of a denied request has at most 8,000 characters beside its first problem, and counts those that it leaves out', () => {
  const matchLabels = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`${'x'.repeat(1_000)} ${n}`, 'y'.repeat(64)]))
  const object = rollout({}, { strategy: { canary: { steps: [{ nodes: { matchLabels } }] } } })
  const admission = admitRollout({ operation: 'CREATE', oldObject: null, newObject: object, others: [] })
  if (admission.kind !== 'deny') throw new Error(admission.kind)
  expect(admission.message.length).toBeLessThan(9_000)
  expect(admission.message).toMatch(/ \(and at least \d+ more\)$/)
})

describe('a hand-written BatchRelease', () => {
  const admit = (steps: number): Admission => {
    const spec = {
      workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'node-agent' },
      releasePlan: { batches: [{ canaryReplicas: '100%' }], batchPartition: 0, enableExtraWorkloadForCanary: false },
      tranche: { nodes: { steps: Array.from({ length: steps }, (_, at) => ({ matchLabels: { z: String(at) } })) } },
    }
    return admitBatchRelease({ operation: 'CREATE', oldObject: null, newObject: { metadata, spec } satisfies BatchRelease })
  }

  it('with 56,000 selectors of steps is denied, also where the definitions of the cluster have no limit', () => {
    expect(admit(56_000)).toMatchObject({ kind: 'deny', causes: [{ field: 'spec.tranche.nodes.steps' }] })
    expect(admit(50)).toEqual({ kind: 'allow', warnings: [] })
  })
})

it('warnings about a DaemonSet are few and short, whatever its annotations and its Rollout contain', () => {
  const stored = { ...releaseKeys, 'rollouts.kruise.io/daemonset-original-update-strategy': 'x'.repeat(250_000) }
  const request = {
    operation: 'UPDATE' as const,
    oldObject: daemonSet({ annotations: stored }),
    newObject: daemonSet({ image: 'agent:v2', annotations: {} }),
  }
  const admission = admitDaemonSet({ ...request, rollout: withInvalidValues(16) })
  if (admission.kind !== 'patch') throw new Error(admission.kind)
  expect(admission.warnings.length).toBeGreaterThan(20)
  expect(admission.warnings.length).toBeLessThanOrEqual(31)
  expect(Math.max(...admission.warnings.map(({ length }) => length))).toBeLessThanOrEqual(2_000)
})
