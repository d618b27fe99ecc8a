import { checkDocuments } from '@tranche/validation'
import { describe, expect, it } from 'vitest'
import { batchReleaseWith } from './batch-releases.ts'
import { rolloutWith } from './rollouts.ts'

const apiVersion = 'rollouts.kruise.io/v1beta1'
const rollout = { ...rolloutWith(), apiVersion, kind: 'Rollout' }
const batchRelease = { ...batchReleaseWith(), apiVersion, kind: 'BatchRelease' }
const disabled = { ...rollout, spec: { ...rollout.spec, disabled: true } }

const readingConfig = {
  spec: { containers: [{ name: 'agent', envFrom: [{ configMapRef: { name: 'agent' } }, { secretRef: { name: 'token' } }] }] },
}

const readingMap = { spec: { containers: [{ name: 'agent', envFrom: [{ configMapRef: { name: 'agent' } }] }] } }

function config(name: string, more: object = {}): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'demo' }, ...more }
}

describe('documents applied together', () => {
  it.each<[string, readonly unknown[], readonly (readonly string[])[]]>([
    ['have no findings when they are valid', [rollout, daemonSet({}), batchRelease], [[], [], []]],
    ['may be of any kind', [{ apiVersion: 'v1', kind: 'ConfigMap' }, 3, null, 'text', []], [[], [], [], [], []]],
    ['of Argo are ignored', [{ apiVersion: 'argoproj.io/v1alpha1', kind: 'Rollout', spec: 3 }], [[]]],
    ['of the older version are reported', [{ ...rollout, apiVersion: 'rollouts.kruise.io/v1alpha1' }], [['RolloutVersion']]],
    [
      'of the older version are reported, including BatchReleases',
      [{ ...batchRelease, apiVersion: 'rollouts.kruise.io/v1alpha1' }],
      [['BatchReleaseVersion']],
    ],
    ['report two Rollouts that name one DaemonSet', [rollout, { ...rollout, metadata: named('z-second') }], [[], ['WorkloadTaken']]],
    [
      'report them across spellings of the version',
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
    ['may name one DaemonSet when one Rollout is disabled', [rollout, { ...disabled, metadata: named('a-first') }], [[], []]],
    ['may name one DaemonSet in two namespaces', [rollout, { ...rollout, metadata: named('z-second', 'other') }], [[], []]],
    ['advise that the DaemonSet is not among them', [rollout, daemonSet({ name: 'other' })], [['WorkloadAbsent'], []]],
    ['do not miss a DaemonSet when they have none', [rollout], [[]]],
    ['advise of a native start', [rollout, daemonSet({ updateStrategy: { type: 'RollingUpdate' } })], [[], ['NativeMoment']]],
    ['advise of it only when the Rollout is enabled', [disabled, daemonSet({ updateStrategy: { type: 'RollingUpdate' } })], [[], []]],
    ['ignore a DaemonSet without a Rollout', [daemonSet({ updateStrategy: { rollingUpdate: { maxSurge: 1 } } })], [[]]],
    ['advise of a history without revisions', [rollout, daemonSet({ revisionHistoryLimit: 0 })], [[], ['HistoryGone']]],
    ['require a budget', [rollout, daemonSet({ rollingUpdate: { maxUnavailable: 0 } })], [[], ['BudgetNothing']]],
    ['reject surge', [rollout, daemonSet({ rollingUpdate: { maxUnavailable: 0, maxSurge: '10%' } })], [[], ['BudgetSurge']]],
    [
      'advise of config that is not part of the version, and count immutable objects of its namespace',
      [rollout, daemonSet({ template: readingConfig }), config('agent'), config('token', { kind: 'Secret', immutable: true })],
      [[], ['ConfigUnversioned'], [], []],
    ],
    [
      'take no immutable object of another namespace, kind or value for theirs',
      [
        rollout,
        daemonSet({ template: readingConfig }),
        config('agent', { immutable: true, metadata: { name: 'agent', namespace: 'other' } }),
        config('token', { immutable: true }),
        config('agent', { immutable: 'true' }),
      ],
      [[], ['ConfigUnversioned', 'ConfigUnversioned'], [], [], []],
    ],
    [
      'advise less of config with a checksum annotation',
      [rollout, daemonSet({ template: { ...readingConfig, metadata: { annotations: { 'checksum/config': '9f86d081' } } } })],
      [[], ['ConfigChecksumOnly', 'ConfigChecksumOnly']],
    ],
    ['are not advised of config without a Rollout', [daemonSet({ template: readingConfig })], [[]]],
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
  ])('with a near miss of a checked kind get the right spelling: %j', (document, advice) => {
    expect(checkDocuments([document])).toMatchObject([{ problems: [], advice, judged: false }])
  })

  it('state which of them were checked', () => {
    expect(checkDocuments([rollout, { kind: 'Service' }, daemonSet({})]).map(({ judged }) => judged)).toEqual([true, false, true])
  })
})

describe('config that a policy among the documents pins', () => {
  const policy = { apiVersion: 'tranche.dev/v1alpha1', kind: 'ReleasePolicy', metadata: named('careful'), spec: { config: 'Pin' } }
  const pinning = { ...rollout, metadata: { ...rollout.metadata, annotations: { 'tranche.dev/release-policy': 'careful' } } }
  const reading = (...volumes: readonly object[]): object =>
    daemonSet({ template: { spec: { containers: [], volumes: volumes.map((volume, at) => ({ name: `v${at}`, ...volume })) } } })
  const optional = { configMap: { name: 'agent', optional: true } }
  const agent = { kind: 'ConfigMap', name: 'agent' }

  it.each<[string, readonly unknown[], readonly string[], readonly object[]]>([
    ['needs no advice', [pinning, reading({ configMap: { name: 'agent' } }), policy], [], [agent]],
    [
      'needs none in spite of a checksum',
      [pinning, daemonSet({ template: { ...readingMap, metadata: { annotations: { 'checksum/config': '9f86d081' } } } }), policy],
      [],
      [agent],
    ],
    [
      'is not pinned by a policy that the Rollout does not name',
      [rollout, reading({ configMap: { name: 'agent' } }), policy],
      ['ConfigUnversioned'],
      [],
    ],
    [
      'is not pinned by one of another namespace',
      [pinning, reading({ configMap: { name: 'agent' } }), { ...policy, metadata: named('careful', 'other') }],
      ['ConfigUnversioned'],
      [],
    ],
    [
      'is not pinned by one that only reports',
      [pinning, reading({ configMap: { name: 'agent' } }), { ...policy, spec: { config: 'Report' } }],
      ['ConfigUnversioned'],
      [],
    ],
    ['is versioned by its name already', [pinning, reading({ configMap: { name: 'agent-7g2kc9hb4m' } }), policy], [], []],
    ['is pinned once it exists, where it is optional', [pinning, reading(optional), policy], ['PinAfterCreation'], []],
    ['is pinned at once, where it is optional and among the documents', [pinning, reading(optional), policy, config('agent')], [], [agent]],
    [
      'is not among the documents in another namespace',
      [pinning, reading(optional), policy, config('agent', { metadata: { name: 'agent', namespace: 'other' } })],
      ['PinAfterCreation'],
      [],
    ],
    [
      'must exist, where one of its fields is not optional',
      [pinning, reading(optional, { configMap: { name: 'agent' } }), policy],
      [],
      [agent],
    ],
    ['depends on the installation for Secrets', [pinning, reading({ secret: { secretName: 'token' } }), policy], ['PinSecretUnknown'], []],
    [
      'never changes, where it is an immutable Secret',
      [pinning, reading({ secret: { secretName: 'token' } }), policy, config('token', { kind: 'Secret', immutable: true })],
      [],
      [],
    ],
    [
      'is not the Secret of a CSI driver',
      [pinning, reading({ csi: { driver: 'a.example', nodePublishSecretRef: { name: 'token' } } }), policy],
      ['PinNotForDriver'],
      [],
    ],
    [
      'holds the release beyond the limits',
      [pinning, reading(...Array.from({ length: 40 }, () => ({ emptyDir: {} })), { configMap: { name: 'agent' } }), policy],
      ['PinOutOfReach'],
      [],
    ],
  ])('%s', (_name, documents, rules, pinned) => {
    const found = checkDocuments(documents)[1]
    expect([found?.problems, found?.advice.map(({ rule }) => rule), found?.pinned?.pinned ?? []]).toEqual([[], rules, pinned])
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
    ['are not missed when the documents have no Secret', [], []],
    ['are not missed when all Secrets are of another namespace', [secret({ namespace: 'other' })], []],
    [
      'are missed when the documents have others',
      [secret({ name: 'slack', labels: policyLabels })],
      [{ path, value, message: 'there is no Secret pager in namespace demo', fix: 'create it, or name another Secret' }],
    ],
    [
      'must have the label for policies',
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
    ['are valid with it, in stringData', [secret({ labels: policyLabels }, { stringData: { hmac: 'x' } })], []],
    ['are valid with it, in base64', [secret({ labels: policyLabels }, { data: { hmac: 'eA==' } })], []],
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
