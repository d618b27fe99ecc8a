import type { RolloutCondition } from '@tranche/api-schema'
import { planRollout, type RolloutView } from '@tranche/planner'
import { describe, expect, it } from 'vitest'
import { settle } from '../../../../../test/fakes/settle.ts'
import { FakeCluster } from '../../../../../test/fakes/fake-cluster.ts'

const reading = (...names: readonly string[]) => ({
  containers: [
    { name: 'agent', envFrom: [...names.map((name) => ({ configMapRef: { name } })), { secretRef: { name: 'token-7g2kc9hb4m' } }] },
  ],
})

const readingSecret = { containers: [{ name: 'agent', envFrom: [{ secretRef: { name: 'token' } }] }] }
const copied = { annotations: { 'tranche.dev/pinned-config': 'ConfigMap/agent=agent-9f86d081884c7d65' } }
const pinning = {
  kind: 'found',
  policy: { metadata: { name: 'pinned' }, spec: { config: 'Pin' } },
  problems: [],
} as unknown as RolloutView['policy']

describe('the condition ConfigUnversioned', () => {
  it.each<[sentence: string, change: (view: RolloutView) => RolloutView, condition: object | undefined]>([
    ['is absent without config', (view) => view, undefined],
    ['is absent where every name carries a hash', withTemplate({ spec: reading('agent-1a2b3c4d') }), undefined],
    [
      'is True with the names of the objects whose names do not',
      withTemplate({ spec: reading('agent', 'agent-1a2b3c4d') }),
      {
        status: 'True',
        reason: 'NamesWithoutHash',
        message: expect.stringMatching(/^a change of ConfigMap agent reaches containers as they restart, .*; name each by the hash/),
      },
    ],
    [
      'is False with a checksum annotation, because a change of config is a release, and names what old pods take as well',
      withTemplate({ metadata: { annotations: { 'checksum/config': '9f86d081' } }, spec: reading('agent') }),
      { status: 'False', reason: 'ChecksumOnly', message: expect.stringContaining('ConfigMap agent') },
    ],
    [
      'is absent where the ConfigMap is known to be immutable',
      (view) => withTemplate({ spec: reading('agent') })({ ...view, immutableConfigMaps: new Set(['agent']) }),
      undefined,
    ],
    [
      'does not take a Secret for immutable because a ConfigMap of its name is',
      (view) =>
        withTemplate({ spec: { containers: [{ name: 'agent', envFrom: [{ secretRef: { name: 'agent' } }] }] } })({
          ...view,
          immutableConfigMaps: new Set(['agent']),
        }),
      { status: 'True' },
    ],
    [
      'is absent while the Rollout is disabled',
      (view) => withTemplate({ spec: reading('agent') })({ ...view, rollout: disabled(view.rollout) }),
      undefined,
    ],
    [
      'is absent where pods read copies',
      (view) => withTemplate({ metadata: copied, spec: reading('agent') })({ ...view, policy: pinning }),
      undefined,
    ],
    [
      'is False where pods read an earlier content since a rollback',
      (view) =>
        withTemplate({ metadata: copied, spec: reading('agent') })({
          ...view,
          policy: pinning,
          rolledBackConfig: [{ kind: 'ConfigMap', name: 'agent' }],
        }),
      {
        status: 'False',
        reason: 'RolledBack',
        message: expect.stringMatching(
          /an earlier content of ConfigMap agent.*; to release it as it is, remove the annotation tranche.dev\/pinned-config from the template$/,
        ),
      },
    ],
    [
      'names both things that release a content whose revision is blocked',
      (view) => withBlocked(withTemplate({ metadata: copied, spec: reading('agent') })({ ...view, policy: pinning }), 'agent-bad'),
      { message: expect.stringMatching(/ from the template, and run tranche retry agent -n demo --revision bad$/) },
    ],
    [
      'names no revision that is blocked for something else',
      (view) => withBlocked(withTemplate({ metadata: copied, spec: reading('agent') })({ ...view, policy: pinning }), 'agent-other'),
      { message: expect.stringMatching(/ from the template$/) },
    ],
    [
      'is False where pods read copies that the policy no longer asks for',
      withTemplate({ metadata: copied, spec: reading('agent') }),
      { status: 'False', reason: 'PinnedBefore', message: expect.stringContaining('copies of ConfigMap agent that follow no change') },
    ],
    [
      'names a Secret that the installation does not let the policy pin, and says how to allow it',
      (view) => withTemplate({ metadata: copied, spec: readingSecret })({ ...view, policy: pinning, pinsSecrets: false }),
      {
        status: 'True',
        reason: 'NamesWithoutHash',
        message: expect.stringMatching(/Secret token .* rbac\.pinSecretNamespaces of the chart$/),
      },
    ],
    [
      'says nothing about Secrets where none is left',
      (view) => withTemplate({ metadata: copied, spec: reading('other') })({ ...view, policy: pinning, pinsSecrets: false }),
      { status: 'True', message: expect.not.stringContaining('rbac.pinSecretNamespaces') },
    ],
    [
      'is False where pods read copies of Secrets that the installation no longer allows',
      (view) =>
        withTemplate({
          metadata: { annotations: { 'tranche.dev/pinned-config': 'Secret/token=token-9f86d081884c7d65' } },
          spec: readingSecret,
        })({
          ...view,
          policy: pinning,
          pinsSecrets: false,
        }),
      {
        status: 'False',
        reason: 'PinnedBefore',
        message: expect.stringMatching(/^pods read copies of Secret token that follow no change; .* rbac/),
      },
    ],
    [
      'is absent where pods read copies of Secrets',
      (view) =>
        withTemplate({
          metadata: { annotations: { 'tranche.dev/pinned-config': 'Secret/token=token-9f86d081884c7d65' } },
          spec: readingSecret,
        })({
          ...view,
          policy: pinning,
          pinsSecrets: true,
        }),
      undefined,
    ],
    [
      'says nothing of copies while the policy is missing',
      (view) => withTemplate({ metadata: copied, spec: reading('agent') })({ ...view, policy: { kind: 'missing', name: 'pinned' } }),
      undefined,
    ],
    ['is absent without a DaemonSet', (view) => ({ ...view, daemonSet: undefined }), undefined],
  ])('%s', (_sentence, change, condition) => {
    const found = conditionsIn(change(viewOf())).find(({ type }) => type === 'ConfigUnversioned')
    if (condition === undefined) expect(found).toBeUndefined()
    else expect(found).toMatchObject(condition)
  })

  it('leaves every other condition as it is', () => {
    const others = conditionsIn(withTemplate({ spec: reading('agent') })(viewOf())).filter(({ type }) => type !== 'ConfigUnversioned')
    expect(others).toEqual(conditionsIn(withTemplate({ spec: reading() })(viewOf())))
  })
})

function viewOf(): RolloutView {
  const fake = new FakeCluster()
  settle(fake)
  return fake.rolloutView()!
}

function withTemplate(template: object): (view: RolloutView) => RolloutView {
  return (view) => {
    const { daemonSet } = view
    if (daemonSet === undefined) throw new Error('there is no DaemonSet')
    return { ...view, daemonSet: { ...daemonSet, spec: { ...daemonSet.spec, template } } }
  }
}

function disabled(rollout: RolloutView['rollout']): RolloutView['rollout'] {
  return { ...rollout, spec: { ...rollout.spec, disabled: true } }
}

function conditionsIn(view: RolloutView): readonly RolloutCondition[] {
  const { status } = view.rollout
  if (status === undefined) throw new Error('there is no status')
  // The stored status is another one, so that the pass writes it.
  const asked = { ...view, rollout: { ...view.rollout, status: { ...status, conditions: [] } } }
  const first = planRollout(asked)
  // Blocked revisions are first copied into an annotation.
  const plan = first.kind === 'setAnnotations' ? planRollout(annotated(asked, first.annotations)) : first
  if (plan.kind !== 'writeStatus') throw new Error(`the plan is ${plan.kind}`)
  return plan.status.conditions ?? []
}

function annotated(view: RolloutView, annotations: object): RolloutView {
  const { metadata } = view.rollout
  return { ...view, rollout: { ...view.rollout, metadata: { ...metadata, annotations: { ...metadata.annotations, ...annotations } } } }
}

/** The view after the content `agent-bad` was rolled back, with a blocked revision that names this copy. */
function withBlocked(view: RolloutView, copy: string): RolloutView {
  const daemonSet = view.daemonSet!
  const annotations = { ...daemonSet.metadata.annotations, 'tranche.dev/offered-config': 'ConfigMap/agent=agent-bad' }
  const metadata = { namespace: 'demo', name: 'bad', labels: { 'controller-revision-hash': 'bad' } }
  const template = { metadata: { annotations: { 'tranche.dev/pinned-config': `ConfigMap/agent=${copy}` } } }
  const revision = { metadata, revision: 9, data: { spec: { template } } } as unknown as RolloutView['revisions'][number]
  const heldRevisions = [{ revision: 'bad', digest: 'd', reason: 'Aborted' as const, at: '' }]
  return {
    ...view,
    daemonSet: { ...daemonSet, metadata: { ...daemonSet.metadata, annotations } },
    revisions: [...view.revisions, revision],
    rollout: { ...view.rollout, status: { ...view.rollout.status!, heldRevisions } },
    rolledBackConfig: [{ kind: 'ConfigMap', name: 'agent' }],
  }
}
