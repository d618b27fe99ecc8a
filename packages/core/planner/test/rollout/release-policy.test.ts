import { type ReleasePolicy, type Rollout, sizeLimits } from '@tranche/api-schema'
import { foundPolicy, planPolicyStatus, type PolicyReading, releaseSpecFor, type RolloutView } from '@tranche/planner'
import { downtimeAdvice, drainAdvice, groupAdvice, nodeLockAdvice, prePullAdvice, roomAdvice } from '@tranche/validation'
import { beforeAll, describe, expect, it } from 'vitest'
import { policyInUse, policyTerms } from '../../src/rollout/view/release-policy.ts'
import { settle } from '../../../../../test/fakes/settle.ts'
import { FakeCluster } from '../../../../../test/fakes/fake-cluster.ts'

let running: RolloutView
beforeAll(() => {
  const fake = new FakeCluster({ nodes: 4, steps: [{ replicas: '50%', pause: {} }, { replicas: '100%' }] })
  settle(fake)
  fake.setImage('v2')
  settle(fake)
  running = fake.rolloutView()!
})

const analysis = [{ name: 'errors', http: { url: 'http://metrics.example/errors' }, successCondition: 'result.ok' }]

describe('the policy terms of a BatchRelease', () => {
  it.each<[string, PolicyReading | ReleasePolicy['spec'], object]>([
    ['the defaults without one', { kind: 'none' }, { finalSettleSeconds: 10 }],
    ['its override', { maxUnavailable: '20%' }, { maxUnavailable: '20%', finalSettleSeconds: 10 }],
    ['its soaks, in whole seconds', { soak: { step: '1m30s', final: '1500ms' } }, { stepSoakSeconds: 90, finalSettleSeconds: 2 }],
    ['that there is no soak', { soak: { step: '0s', final: '0s' } }, { stepSoakSeconds: 0, finalSettleSeconds: 0 }],
    ['its rules of failure', { failure: { action: 'Rollback' } }, { failure: { action: 'Rollback' }, finalSettleSeconds: 10 }],
    [
      'its node rules',
      { nodes: { exclude: [{ matchLabels: { pool: 'gpu' } }] } },
      { nodes: { exclude: [{ matchLabels: { pool: 'gpu' } }] } },
    ],
    ['its analyses', { analysis }, { analysis }],
  ])('is %s', (_what, policy, terms) => {
    expect(tranche(withPolicy(policy))).toMatchObject(terms)
  })

  it.each<[string, Rollout['spec']['strategy']['canary'], ReleasePolicy['spec'], object]>([
    ['failureThreshold, where the policy does not set how many nodes may fail', { failureThreshold: '10%' }, {}, { maxFailedNodes: '10%' }],
    ['the number of the policy, where it sets one', { failureThreshold: 3 }, { failure: { maxFailedNodes: 0 } }, { maxFailedNodes: 0 }],
  ])('tolerates %s', (_what, canary, spec, failure) => {
    expect(tranche(inCanary(withPolicy(spec), canary))?.failure).toEqual(failure)
  })

  it('have each part that the installation does not allow in the status of the policy, with its fix', () => {
    const unusable = [
      roomAdvice('Check'),
      groupAdvice('agents'),
      prePullAdvice({ onFailure: 'Continue', timeout: '10m' }),
      drainAdvice({}, 'demo'),
      nodeLockAdvice('Kured', 'demo'),
      downtimeAdvice('5m'),
    ]
    const metadata = { namespace: 'demo', name: 'careful', uid: 'p', resourceVersion: '1', generation: 2 }
    const patch = JSON.stringify(planPolicyStatus({ policy: { metadata, spec: {} }, rollouts: [], unusable, nowMs: 0 }))
    for (const { path, fix } of unusable) expect(patch).toMatch(new RegExp(`${path} is .*${fix.replace(/[()]/g, '.')}`))
  })

  it('have at most fifty reasons in the status of the policy', () => {
    const metadata = { namespace: 'demo', name: 'careful', uid: 'p', resourceVersion: '1', generation: 2 }
    const unusable = Array.from({ length: 51 }, (_, at) => ({ ...roomAdvice('Check'), rule: `Rule${at}` as 'RoomNotAllowed' }))
    const patch = JSON.stringify(planPolicyStatus({ policy: { metadata, spec: {} }, rollouts: [], unusable, nowMs: 0 }))
    expect([patch.includes('"Rule49"'), patch.includes('"Rule50"')]).toEqual([true, false])
  })

  it('are reported with what the installation does not allow, by reason', () => {
    const metadata = { namespace: 'demo', name: 'careful', uid: 'p', resourceVersion: '1', generation: 2 }
    const usable = { type: 'Usable', status: 'False', reason: 'RoomNotAllowed', message: 'spec.nodes.room is "Check"' }
    const reading = (observedGeneration: number, reasons = ['RoomNotAllowed', 'DowntimeNotAllowed']): PolicyReading => {
      const condition = { ...usable, observedGeneration, lastTransitionTime: '2026-01-01T00:00:00Z' } as const
      const status = { conditions: [condition], unusable: reasons }
      return foundPolicy({ metadata, spec: {}, status } as ReleasePolicy)
    }
    const message = 'ReleasePolicy careful cannot be used in full: spec.nodes.room is "Check"'
    const unusable = ['RoomNotAllowed', 'DowntimeNotAllowed']
    expect(policyInUse(withPolicy(reading(2)))).toEqual({ name: 'careful', generation: 2, message, unusable })
    const many = policyInUse(
      withPolicy(
        reading(
          2,
          Array.from({ length: 51 }, () => 'x'.repeat(1_000)),
        ),
      ),
    )
    expect([many?.unusable?.length, many?.unusable?.[0]?.length]).toEqual([50, sizeLimits.reason])
    expect(policyInUse(withPolicy(reading(1)))).toEqual({ name: 'careful', generation: 2 })
  })

  it('has a selector for every batch where a step has one', () => {
    const pool = { matchLabels: { pool: 'a' } }
    const steps = [{ nodes: pool, pause: {} }, { replicas: '100%' }]
    expect(tranche(inCanary(withPolicy({ nodes: { order: [{ by: 'Name' }] } }), { steps }))?.nodes).toEqual({
      order: [{ by: 'Name' }],
      steps: [pool, {}],
    })
  })

  it('stays as it was while the policy cannot be used: nothing laxer replaces it', () => {
    const { release } = running
    const held = { ...release!, spec: { ...release!.spec, tranche: { ...release!.spec.tranche, maxUnavailable: 1, stepSoakSeconds: 60 } } }
    for (const policy of [
      { kind: 'missing', name: 'careful' },
      { kind: 'unseen', name: 'careful' },
      { maxUnavailable: 3, soak: { step: 'soon' } },
    ] as const)
      expect(policyTerms({ ...withPolicy(policy), release: held })).toMatchObject({ maxUnavailable: 1, stepSoakSeconds: 60 })
  })

  it('has neither soaks nor analyses where the release is promoted in full, but keeps its budget', () => {
    const view = withPolicy({ maxUnavailable: 1, soak: { step: '1h', final: '1h' }, analysis })
    const status = { ...view.rollout.status!, acceptedActions: { promote: { id: '1', full: true } } }
    const said = tranche({ ...view, rollout: { ...view.rollout, status } })
    expect([said?.maxUnavailable, said?.stepSoakSeconds, said?.finalSettleSeconds, said?.analysis]).toEqual([1, undefined, 0, undefined])
  })
})

function withPolicy(policy: PolicyReading | ReleasePolicy['spec']): RolloutView {
  if ('kind' in policy) return { ...running, policy }
  const metadata = { namespace: 'demo', name: 'careful', uid: 'p1', resourceVersion: '1', generation: 1 }
  return { ...running, policy: foundPolicy({ metadata, spec: policy }) }
}

function inCanary(view: RolloutView, canary: Rollout['spec']['strategy']['canary']): RolloutView {
  const { rollout } = view
  const strategy = { canary: { ...rollout.spec.strategy.canary, ...canary } }
  return { ...view, rollout: { ...rollout, spec: { ...rollout.spec, strategy } } }
}

function tranche(view: RolloutView): NonNullable<ReturnType<typeof releaseSpecFor>>['tranche'] {
  return releaseSpecFor(view)?.tranche
}
