import { checkDocuments } from '@tranche/validation'
import { describe, expect, it } from 'vitest'
import { batchReleaseWith } from './batch-releases.ts'
import { rolloutWith } from './rollouts.ts'

const apiVersion = 'rollouts.kruise.io/v1beta1'
const rollout = { ...rolloutWith(), apiVersion, kind: 'Rollout' }
const batchRelease = { ...batchReleaseWith(), apiVersion, kind: 'BatchRelease' }
const disabled = { ...rollout, spec: { ...rollout.spec, disabled: true } }

describe('documents that are applied together', () => {
  it.each<[string, readonly unknown[], readonly (readonly string[])[]]>([
    ['have no findings where they are in order', [rollout, daemonSet({}), batchRelease], [[], [], []]],
    ['may be of any kind', [{ apiVersion: 'v1', kind: 'ConfigMap' }, 3, null, 'text', []], [[], [], [], [], []]],
    ['of Argo are not ours', [{ apiVersion: 'argoproj.io/v1alpha1', kind: 'Rollout', spec: 3 }], [[]]],
    ['of the older version are told', [{ ...rollout, apiVersion: 'rollouts.kruise.io/v1alpha1' }], [['RolloutVersion']]],
    [
      'of the older version are told, BatchReleases too',
      [{ ...batchRelease, apiVersion: 'rollouts.kruise.io/v1alpha1' }],
      [['BatchReleaseVersion']],
    ],
    ['say where two Rollouts name one DaemonSet', [rollout, { ...rollout, metadata: named('z-second') }], [[], ['WorkloadTaken']]],
    [
      'say it across the ways to write the version',
      [
        rollout,
        {
          ...rollout,
          metadata: named('z-second'),
          spec: { ...rollout.spec, workloadRef: { ...rollout.spec.workloadRef, apiVersion: 'apps/v1beta1' } },
        },
      ],
      [[], ['WorkloadVersion', 'WorkloadTaken']],
    ],
    ['may name one DaemonSet where one Rollout is disabled', [rollout, { ...disabled, metadata: named('a-first') }], [[], []]],
    ['may name one DaemonSet in two namespaces', [rollout, { ...rollout, metadata: named('z-second', 'other') }], [[], []]],
    ['advise where the DaemonSet is not among them', [rollout, daemonSet({ name: 'other' })], [['WorkloadAbsent'], []]],
    ['do not miss a DaemonSet where they have none', [rollout], [[]]],
    ['advise of a native moment', [rollout, daemonSet({ updateStrategy: { type: 'RollingUpdate' } })], [[], ['NativeMoment']]],
    ['advise of it only where the Rollout is enabled', [disabled, daemonSet({ updateStrategy: { type: 'RollingUpdate' } })], [[], []]],
    ['leave a DaemonSet without a Rollout alone', [daemonSet({ updateStrategy: { rollingUpdate: { maxSurge: 1 } } })], [[]]],
    ['advise of a history that keeps nothing', [rollout, daemonSet({ revisionHistoryLimit: 0 })], [[], ['HistoryGone']]],
    ['want a budget', [rollout, daemonSet({ rollingUpdate: { maxUnavailable: 0 } })], [[], ['BudgetNothing']]],
    ['want no surge', [rollout, daemonSet({ rollingUpdate: { maxUnavailable: 0, maxSurge: '10%' } })], [[], ['BudgetSurge']]],
    [
      'check our keys on any DaemonSet',
      [daemonSet({ annotations: { 'rollouts.kruise.io/daemonset-partition': 'x' } })],
      [['KeyPartition']],
    ],
    ['may be DaemonSets of any form', [rollout, { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: null, spec: 'x' }], [[], []]],
  ])('%s', (_, documents, rules) => {
    const found = checkDocuments(documents)
    expect(found.map(({ problems, advice }) => [...problems, ...advice].map(({ rule }) => rule))).toEqual(rules)
  })

  it.each<[object, readonly object[]]>([
    [{ apiVersion, kind: 'rollout' }, [{ path: 'kind', value: 'rollout', fix: 'set it to Rollout' }]],
    [{ apiVersion, kind: 'Rolout' }, [{ path: 'kind', fix: 'set it to Rollout' }]],
    [{ apiVersion: 'apps/v1', kind: 'Daemonset' }, [{ path: 'kind', fix: 'set it to DaemonSet' }]],
    [{ apiVersion: 'rollout.kruise.io/v1beta1', kind: 'Rollout' }, [{ path: 'apiVersion', fix: `set it to ${apiVersion}` }]],
    [{ apiVersion: 'rollouts.kruise.io', kind: 'BatchRelease' }, [{ path: 'apiVersion', fix: `set it to ${apiVersion}` }]],
    [{ apiVersion: 'v1', kind: 'DaemonSet' }, [{ path: 'apiVersion', fix: 'set it to apps/v1' }]],
    [{ kind: 'Rollout' }, [{ path: 'apiVersion', fix: `add apiVersion: ${apiVersion}` }]],
    [{ kind: 'releasepolicy' }, [{ path: 'kind' }, { path: 'apiVersion', fix: 'add apiVersion: tranche.dev/v1alpha1' }]],
    [{ apiVersion: 'argoproj.io/v1alpha1', kind: 'rollout' }, []],
    [{ apiVersion: 'apps.kruise.io/v1alpha1', kind: 'DaemonSet' }, []],
    [{ apiVersion: 'apps/v1', kind: 'StatefulSet' }, []],
    [{ apiVersion: 'apps/v1', kind: 'ReplicaSet' }, []],
    [{ apiVersion }, []],
  ])('that are nearly of a kind that is checked are told how it is written: %j', (document, advice) => {
    expect(checkDocuments([document])).toMatchObject([{ problems: [], advice, judged: false }])
  })

  it('tell which of them were looked at', () => {
    expect(checkDocuments([rollout, { kind: 'Service' }, daemonSet({})]).map(({ judged }) => judged)).toEqual([true, false, true])
  })
})

describe('Secrets that a policy names', () => {
  const policy = {
    apiVersion: 'tranche.dev/v1alpha1',
    kind: 'ReleasePolicy',
    metadata: named('careful'),
    spec: { notify: [{ name: 'pager', webhook: { url: 'https://pager.example.com', hmac: { name: 'pager', key: 'hmac' } } }] },
  }
  const policyLabels = { 'tranche.dev/policy-secret': 'true' }
  const path = 'spec.notify[0].webhook.hmac'
  const value = { name: 'pager', key: 'hmac' }

  it.each<[string, readonly object[], readonly object[]]>([
    ['are not missed where no Secret stands among the documents', [], []],
    ['are not missed where those that do are of another namespace', [secret({ namespace: 'other' })], []],
    [
      'are missed among others',
      [secret({ name: 'slack', labels: policyLabels })],
      [{ path, value, message: 'there is no Secret pager in namespace demo', fix: 'create it, or name another Secret' }],
    ],
    [
      'must be lent to policies',
      [secret({ labels: { 'tranche.dev/policy-secret': 'false' } }, { stringData: { hmac: 'x' } })],
      [
        {
          path,
          value,
          message: 'the Secret pager in namespace demo has no label tranche.dev/policy-secret=true, so policies cannot use it',
          fix: 'kubectl label secret pager -n demo tranche.dev/policy-secret=true',
        },
      ],
    ],
    [
      'must have the key',
      [secret({ labels: policyLabels }, { data: { token: 'eA==' } })],
      [{ path, value, message: 'the Secret pager has no key hmac', fix: 'add it, or name another key' }],
    ],
    ['are in order with it, in clear', [secret({ labels: policyLabels }, { stringData: { hmac: 'x' } })], []],
    ['are in order with it, in base64', [secret({ labels: policyLabels }, { data: { hmac: 'eA==' } })], []],
    ['may be written in any form', [{ apiVersion: 'v1', kind: 'Secret', metadata: 3, data: 'x' }], []],
  ])('%s', (_name, secrets, found) => {
    const [first, ...others] = checkDocuments([policy, ...secrets])
    expect(first).toEqual({ problems: [], advice: found.map((one) => ({ rule: 'SecretUnusable', ...one })), judged: true })
    expect(others.every(({ judged }) => !judged)).toBe(true)
  })

  function secret(metadata: object, values: object = {}): object {
    return { apiVersion: 'v1', kind: 'Secret', metadata: { ...named('pager'), ...metadata }, ...values }
  }
})

function named(name: string, namespace = 'demo'): object {
  return { ...rollout.metadata, name, namespace }
}

function daemonSet({ name = 'node-agent', annotations = {}, rollingUpdate = {}, ...spec }: Record<string, unknown>): object {
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name, namespace: 'demo', annotations },
    spec: { updateStrategy: { type: 'OnDelete', rollingUpdate }, ...spec },
  }
}
