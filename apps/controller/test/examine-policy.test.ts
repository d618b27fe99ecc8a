import type { ReleasePolicy } from '@tranche/api-schema'
import type { PodPolicy } from '@tranche/controllers'
import type { SecretAnswer } from '@tranche/egress'
import { expect, it } from 'vitest'
import { examinePins, examinePolicy } from '../src/ports/examine-policy.ts'

const never = new AbortController().signal
const missing = { kind: 'missing', message: 'there is no Secret', fix: 'create it' } as const
const from = (key: string) => [{ name: 'Authorization', valueFrom: { name: 'keys', key } }]
const slack = (key: string) => ({ notify: [{ name: 'chat', slack: { url: { name: 'keys', key } } }] })

const values: Readonly<Record<string, SecretAnswer>> = {
  token: { kind: 'found', value: 's3cret\n' },
  empty: { kind: 'found', value: ' \n' },
  slack: { kind: 'found', value: 'https://hooks.slack.com/services/T/s3cret\n' },
  elsewhere: { kind: 'found', value: 'https://elsewhere.example/s3cret' },
}

it.each<[string, ReleasePolicy['spec'], readonly (readonly [string, string, string])[]]>([
  ['nothing in a policy without references', { maxUnavailable: 2 }, []],
  ['nothing in a policy with usable references', { analysis: [prometheus('http://allowed/', from('token'))], ...slack('slack') }, []],
  [
    'every missing Secret, with its path',
    {
      analysis: [prometheus('http://allowed', from('none')), http('http://allowed/{{rollout}}', from('none'))],
      notify: [{ name: 'pager', webhook: { url: 'http://allowed', hmac: { name: 'keys', key: 'none' }, headers: from('none') } }],
    },
    [
      ['spec.analysis[0].prometheus.headers[0].valueFrom', 'SecretUnusable', 'there is no Secret'],
      ['spec.analysis[1].http.headers[0].valueFrom', 'SecretUnusable', 'there is no Secret'],
      ['spec.notify[0].webhook.hmac', 'SecretUnusable', 'there is no Secret'],
      ['spec.notify[0].webhook.headers[0].valueFrom', 'SecretUnusable', 'there is no Secret'],
    ],
  ],
  [
    'every host that is not allowed',
    {
      analysis: [prometheus('http://other:9090'), http('https://other/{{rollout}}')],
      notify: [{ name: 'p', webhook: { url: 'http://other' } }],
    },
    [
      ['spec.analysis[0].prometheus.address', 'HostNotAllowed', 'other:9090 is not an allowed host'],
      ['spec.analysis[1].http.url', 'HostNotAllowed', 'other is not an allowed host'],
      ['spec.notify[0].webhook.url', 'HostNotAllowed', 'other is not an allowed host'],
    ],
  ],
  [
    'the host of a URL in a Secret',
    slack('elsewhere'),
    [['spec.notify[0].slack.url', 'HostNotAllowed', 'elsewhere.example is not an allowed host']],
  ],
  [
    'a Secret without the URL that it needs, without revealing its value',
    slack('token'),
    [['spec.notify[0].slack.url', 'SecretUnusable', 'the key token of the Secret keys holds no URL']],
  ],
  [
    'a check of room, where the installation allows none',
    { nodes: { room: 'Check' } },
    [['spec.nodes.room', 'RoomNotAllowed', 'the installation lets no policy check that nodes have room, so nodes keep their old pods']],
  ],
  ['nothing in a policy that ignores room', { nodes: { room: 'Ignore' } }, []],
  [
    'a group, where the installation allows none',
    { downtime: { group: 'agents' } },
    [['spec.downtime.group', 'GroupNotAllowed', 'the installation allows no groups, so no release starts']],
  ],
  [
    'pulls of images, where the installation allows no helper pods, and that nodes are updated without',
    { prePull: { onFailure: 'Continue' } },
    [['spec.prePull', 'PrePullNotAllowed', 'the installation allows no helper pods, so nodes are updated without their images']],
  ],
  [
    'that nodes wait for pulls of images, where the installation allows no helper pods',
    { prePull: {} },
    [['spec.prePull', 'PrePullNotAllowed', 'the installation allows no helper pods, so nodes keep their old pods']],
  ],
  [
    'a drain and locks of nodes, where the installation allows them to other namespaces alone',
    { drain: { consumers: [] }, downtime: { nodeLock: 'Take' } },
    [
      ['spec.drain', 'DrainNotAllowed', 'the installation lets no policy of namespace demo drain nodes, so nodes keep their old pods'],
      [
        'spec.downtime.nodeLock',
        'NodeLockNotAllowed',
        'the installation lets no policy of namespace demo lock nodes, so nodes keep their old pods',
      ],
    ],
  ],
  [
    'a limit of downtime, where the installation allows none',
    { downtime: { perDay: '1m' } },
    [['spec.downtime.perDay', 'DowntimeNotAllowed', 'the installation lets no policy limit downtime, so nodes keep their old pods']],
  ],
  ['nothing in a policy that ignores locks', { downtime: { nodeLock: 'Ignore' } }, []],
  ['an empty key', slack('empty'), [['spec.notify[0].slack.url', 'SecretUnusable', 'the key empty of the Secret keys is empty']]],
  [
    'that the API server does not answer',
    slack('unanswered'),
    [['spec.notify[0].slack.url', 'SecretUnusable', 'the Secret keys in namespace demo cannot be read: the API server did not answer']],
  ],
])('finds %s', async (_what, spec, found) => {
  const advice = await examinePolicy(policy(spec), installation, never)
  expect(advice.map(({ path, rule, message }) => [path, rule, message])).toEqual(found)
  expect(JSON.stringify(advice)).not.toContain('s3cret')
})

it.each([
  ['of the namespace', ['other', 'demo']],
  ['of every namespace', ['*']],
  ['unknown to the controller', undefined],
])('finds nothing in a drain or locks of nodes where that is allowed to policies %s', async (_what, namespaces) => {
  const allowed = { ...installation, drainNamespaces: namespaces, lockNamespaces: namespaces }
  expect(await examinePolicy(policy({ drain: { consumers: [] }, downtime: { nodeLock: 'Take' } }), allowed, never)).toEqual([])
})

it('finds nothing in a check of room where that is allowed', async () => {
  expect(await examinePolicy(policy({ nodes: { room: 'Check' } }), { ...installation, allowsRoom: true }, never)).toEqual([])
})

it('finds nothing in a limit of downtime where that is allowed', async () => {
  expect(await examinePolicy(policy({ downtime: { perDay: '1m' } }), { ...installation, allowsDowntime: true }, never)).toEqual([])
})

it.each<[sentence: string, config: ReleasePolicy['spec']['config'], podPolicy: PodPolicy | null, rules: readonly string[]]>([
  ['nothing in a policy that pins nothing', undefined, null, []],
  ['nothing in a policy that pins nothing, whatever the API server lacks', undefined, podPolicyWith('there is none'), []],
  ['config that policies may not pin', 'Pin', null, ['PinNotAllowed']],
  ['a policy for pods that is missing', 'Pin', podPolicyWith('there is none'), ['PodPolicyMissing']],
  ['nothing where new pods read copies', 'Pin', podPolicyWith(null), []],
  ['nothing while that is not known', 'Pin', podPolicyWith(undefined), []],
])('finds %s', (_sentence, config, podPolicy, rules) => {
  expect(examinePins(policy(config === undefined ? {} : { config }), podPolicy).map(({ rule }) => rule)).toEqual(rules)
})

it('asks for the policy for pods in the namespace of the policy', () => {
  const asked: string[] = []
  const podPolicy = { fault: (namespace: string) => void asked.push(namespace) } as unknown as PodPolicy
  examinePins(policy({ config: 'Pin' }), podPolicy)
  expect(asked).toEqual(['demo'])
})

const installation = {
  allowsRoom: false,
  allowsGroups: false,
  allowsPrePull: false,
  drainNamespaces: ['other'],
  lockNamespaces: ['other'],
  allowsDowntime: false,
  egress: { allows: (url: string) => ['allowed', 'hooks.slack.com'].includes(new URL(url).hostname) },
  secrets: {
    async read({ key }: { readonly key: string }) {
      if (key === 'unanswered') throw new Error('s3cret')
      return values[key] ?? missing
    },
  },
}

function policy(spec: ReleasePolicy['spec']): ReleasePolicy {
  return { metadata: { namespace: 'demo', name: 'careful', uid: 'p1', resourceVersion: '1', generation: 1 }, spec }
}

function podPolicyWith(fault: string | null | undefined): PodPolicy {
  return { fault: () => fault } as unknown as PodPolicy
}

type Headers = ReturnType<typeof from>

function prometheus(address: string, headers: Headers = []) {
  return { name: 'errors', prometheus: { address, query: 'up', headers }, successCondition: 'true' }
}

function http(url: string, headers: Headers = []) {
  return { name: 'test', http: { url, headers }, successCondition: 'true' }
}
