import type { PolicyInUse, PolicyReport, PolicyState, ReleasePolicy, ReleasePolicySpec } from '@tranche/api-schema'
import { describePolicy, explainRollout, reportRollout } from '@tranche/reports'
import { adviceRules } from '@tranche/validation'
import { describe, expect, it } from 'vitest'
import { aReading } from './build-facts.ts'

describe('a policy in words', () => {
  it('has the defaults without a policy', () => {
    expect(describePolicy(aReading().rollout, undefined)).toEqual({
      found: false,
      sections: [
        {
          section: 'nodes',
          sentences: [
            'Nodes on a superseded revision come first, unhealthy pods before healthy ones, and nodes that are NotReady or in maintenance last.',
            'No node is excluded.',
            'A node that is NotReady or in maintenance when it is due is skipped, and updated last.',
            'Dead nodes do not count as unavailable while they are at most 10% of the desired nodes (nodes.notReady.exempt). If there are more, all of them count.',
            'A node is dead if, before its update, it does not answer, is in maintenance, or has been NotReady for 5m.',
            'Whether a node has room for the new pod is not checked before the old one is deleted.',
          ],
        },
        {
          section: 'maxUnavailable',
          sentences: [
            'The number of nodes that may be unavailable at a time is updateStrategy.rollingUpdate.maxUnavailable of the DaemonSet, or 1 without it.',
          ],
        },
        {
          section: 'failure',
          sentences: [
            'The new version counts as bad at the first failed node.',
            'Then the release stops until a person decides.',
            'A node fails when it has no available pod for 600 s after its update.',
            'It also fails when its new pod cannot be scheduled or created for 60 s.',
            'It also fails after more than 2 restarts of its containers.',
            'It also fails when the node turns NotReady after its update.',
            'A failed version that is applied again is not released.',
          ],
        },
        {
          section: 'soak',
          sentences: ['A step is done as soon as its batch is ready.', 'The release completes when the last batch has been ready for 10s.'],
        },
        { section: 'analysis', sentences: ['No metric is measured.'] },
        { section: 'downtime', sentences: ['Releases of other DaemonSets may run at the same time.'] },
        { section: 'notify', sentences: ['No receiver is notified.'] },
      ],
    })
  })

  it('has no rules for a policy that does not exist: the defaults do not replace it', () => {
    expect(describePolicy(named('careful'), undefined)).toEqual({ name: 'careful', found: false, sections: [] })
  })

  it.each<[Section, ReleasePolicySpec, string]>([
    [
      'nodes',
      { nodes: { order: [{ selector: { matchLabels: { canary: 'true' } } }, { by: 'Newest' }] } },
      'Among these, nodes with canary=true come first.',
    ],
    ['nodes', { nodes: { order: [{ by: 'Name' }, { by: 'Newest' }] } }, 'Then, nodes come in order: the newest pod first.'],
    [
      'nodes',
      { nodes: { exclude: [{ matchExpressions: [{ key: 'spot', operator: 'Exists' }] }] } },
      'Nodes with the label spot are never updated.',
    ],
    [
      'nodes',
      { nodes: { exclude: [{ matchLabels: { a: 'b' }, matchExpressions: [{ key: 'zone', operator: 'NotIn', values: ['x', 'y'] }] }] } },
      'Nodes with a=b, zone not in (x, y) are never updated.',
    ],
    [
      'nodes',
      { nodes: { spread: [{ topologyKey: 'zone', maxUnavailable: 2 }] } },
      'At most 2 nodes with the same zone may be unavailable at a time.',
    ],
    [
      'nodes',
      { nodes: { notReady: { action: 'Wait' } } },
      'If a node is NotReady or in maintenance when it is due, the batch waits for it.',
    ],
    [
      'nodes',
      { nodes: { notReady: { exempt: '5%' } } },
      'Dead nodes do not count as unavailable while they are at most 5% of the desired nodes (nodes.notReady.exempt). If there are more, all of them count.',
    ],
    [
      'downtime',
      { downtime: { group: 'agents' } },
      'Of the DaemonSets whose policies name the group agents, at most one is released at a time.',
    ],
    [
      'downtime',
      { downtime: { nodeLock: 'Take' } },
      'The Lease of a node is held while its pod is replaced, and a node whose Lease has another holder waits.',
    ],
    [
      'downtime',
      { downtime: { perDay: '10m' } },
      'A node whose agent was away for 10m in the last 24 hours because of Tranche waits, except in a rollback.',
    ],
    [
      'failure',
      { failure: { ignoreReasons: ['NodeNotReady'] } },
      'A node that turns NotReady after its update fails only after the deadline.',
    ],
    ['nodes', { nodes: { room: 'Check' } }, 'A node without room for the new pod keeps the old one and waits.'],
    [
      'nodes',
      { nodes: { notReady: { exempt: 0 } } },
      'Every dead node counts as unavailable (nodes.notReady.exempt is 0, the strict rule).',
    ],
    [
      'prePull',
      { prePull: {} },
      'The new images are pulled to a node before its pod is deleted, on as many nodes as may be unavailable at a time.',
    ],
    ['prePull', { prePull: { parallel: 5 } }, 'The new images are pulled to a node before its pod is deleted, on 5 nodes at a time.'],
    ['prePull', { prePull: { timeout: '2m' } }, 'A node that cannot pull them within 2m keeps its pod, and is tried again.'],
    ['prePull', { prePull: { onFailure: 'Continue' } }, 'A node that cannot pull them within 10m is updated anyway.'],
    ['drain', { drain: {} }, 'A node is cordoned before its pod is deleted, and uncordoned once its new pod is available.'],
    [
      'drain',
      { drain: { consumers: [{ selector: { matchLabels: { uses: 'gpu' } } }] } },
      'Pods that have uses=gpu are evicted from a node before its pod is deleted.',
    ],
    [
      'drain',
      { drain: { consumers: [{ extendedResource: 'example.com/gpu' }] } },
      'Pods that request example.com/gpu are evicted from a node before its pod is deleted.',
    ],
    [
      'drain',
      { drain: { consumers: [{ csiDriver: 'a.example.com' }] } },
      'If they are still there after 10m, the node keeps its pod, and is tried again later.',
    ],
    [
      'drain',
      { drain: { consumers: [{ csiDriver: 'a.example.com' }], timeout: '1h', onTimeout: 'Continue' } },
      'If they are still there after 1h, the pod is deleted all the same.',
    ],
    ['maxUnavailable', { maxUnavailable: 1 }, 'At most 1 node may be unavailable at a time, whatever the DaemonSet states.'],
    ['failure', { failure: { action: 'Rollback' } }, 'Then the release is rolled back to the stable version.'],
    ['failure', { failure: { maxFailedNodes: 3 } }, 'The new version counts as bad when more than 3 nodes fail.'],
    ['failure', { failure: { maxFailedNodesPerBatch: '10%' } }, 'It also counts as bad when more than 10% of its nodes fail in one batch.'],
    ['failure', { failure: { progressDeadlineSeconds: 300 } }, 'A node fails when it has no available pod for 300 s after its update.'],
    ['failure', { failure: { maxRestarts: 0 } }, 'It also fails after more than 0 restarts of its containers.'],
    [
      'failure',
      { failure: { ignoreReasons: ['ErrImagePull', 'ImagePullBackOff'] } },
      'ErrImagePull and ImagePullBackOff of a container fail a node only after the deadline.',
    ],
    ['failure', { failure: { onReapply: 'Revert' } }, 'When a failed version is applied again, the stable version is restored.'],
    ['failure', { failure: { autoResume: '5m' } }, 'A stopped release resumes when no more nodes than tolerated have failed for 5m.'],
    ['soak', { soak: { step: '10m' } }, 'A step is done when its batch has been ready for 10m.'],
    ['soak', { soak: { final: '1h' } }, 'The release completes when the last batch has been ready for 1h.'],
    [
      'analysis',
      {
        analysis: [
          {
            name: 'errors',
            steps: [2, 3],
            prometheus: { address: 'http://p.example:9090', query: 'up' },
            successCondition: 'result[0] < 0.5',
            count: 5,
          },
        ],
      },
      'errors measures after steps 2 and 3, 5 times, every 30s, with Prometheus at p.example:9090: it succeeds if result[0] < 0.5; no failure is tolerated.',
    ],
    [
      'analysis',
      {
        analysis: [
          {
            name: 'memory',
            background: true,
            dryRun: true,
            http: { url: 'https://a.example/x', method: 'POST' },
            failureCondition: 'result > 1',
          },
        ],
      },
      'memory measures during the whole release, every 30s, with POST a.example: it fails if result > 1; it never affects the release.',
    ],
    [
      'notify',
      {
        notify: [
          { name: 'chat', slack: { url: { name: 'slack', key: 'url' } }, events: ['StepPaused', 'ReleaseFailed'], remindAfter: '1h' },
        ],
      },
      'chat gets StepPaused and ReleaseFailed through Slack, and a reminder every 1h while the release waits for a person.',
    ],
    [
      'notify',
      { notify: [{ name: 'pager', webhook: { url: 'https://pager.example/T0/secret' } }] },
      'pager gets every event through a webhook on pager.example.',
    ],
  ])('states in %s, for %o: %s', (section, spec, sentence) => {
    expect(sentencesOf(section, spec)).toContain(sentence)
  })

  it('takes failureThreshold of the Rollout where the policy tolerates no number of nodes', () => {
    const rollout = aReading({ rollout: { strategy: { canary: { steps: [], failureThreshold: '10%' } } } }).rollout
    const { sections } = describePolicy(rollout, undefined)
    expect(sections.flatMap(({ sentences }) => sentences)).toContain(
      'The new version counts as bad when more than 10% of the desired nodes fail, which is failureThreshold of the Rollout.',
    )
  })

  it('contains no header, body, query, user or path, which may hold credentials', () => {
    const headers = [{ name: 'Authorization', value: 'secret' }]
    const spec: ReleasePolicySpec = {
      analysis: [
        {
          name: 'a',
          http: { url: 'https://secret:secret@a.example/secret?key=secret', headers, body: 'secret' },
          successCondition: 'true',
        },
        { name: 'b', prometheus: { address: 'http://b.example/secret', query: 'secret', headers }, successCondition: 'true' },
        { name: 'c', http: { url: 'secret' }, successCondition: 'true' },
      ],
      notify: [
        { name: 'd', webhook: { url: 'https://d.example/secret', headers, hmac: { name: 'secret', key: 'secret' } }, template: 'secret' },
      ],
    }
    expect(JSON.stringify(reportOf(spec))).not.toContain('secret')
  })
})

describe('a policy that the installation does not allow in full', () => {
  const asked: ReleasePolicySpec = {
    nodes: { room: 'Check' },
    prePull: {},
    drain: { consumers: [{ csiDriver: 'disk.example' }] },
    downtime: { group: 'storage', nodeLock: 'Take', perDay: '10m' },
    config: 'Pin',
  }

  it.each<[string, Section, string, string]>([
    ['RoomNotAllowed', 'nodes', 'A node without room', 'The installation'],
    [
      'PrePullNotAllowed',
      'prePull',
      'The new images are pulled to a node',
      'The installation allows no helper pods, so nodes keep their old pods.',
    ],
    [
      'DrainNotAllowed',
      'drain',
      'Pods that use a volume',
      'The installation lets no policy of namespace demo drain nodes, so nodes keep their old pods.',
    ],
    ['GroupNotAllowed', 'downtime', 'Of the DaemonSets whose policies name', 'The installation allows no groups, so no release starts.'],
    [
      'NodeLockNotAllowed',
      'downtime',
      'The Lease of a node is held',
      'The installation lets no policy of namespace demo lock nodes, so nodes keep their old pods.',
    ],
    [
      'DowntimeNotAllowed',
      'downtime',
      'A node whose agent was away',
      'The installation lets no policy limit downtime, so nodes keep their old pods.',
    ],
    ['PinNotAllowed', 'config', 'Pods read immutable copies', 'The installation lets no policy pin config, so releases hold.'],
    ['PodPolicyMissing', 'config', 'Pods read immutable copies', 'The API server must name copies of config in pods,'],
  ])('leaves out of the rules in force what is unusable by %s, and says so in %s', (reason, section, sentence, message) => {
    const before = sectionOf(section, describePolicy(named('careful'), unusable(asked, [])))
    const after = sectionOf(section, describePolicy(named('careful'), unusable(asked, [reason])))
    expect(before.sentences.join()).toContain(sentence)
    expect(before).not.toHaveProperty('unusable')
    expect(after.sentences.join()).not.toContain(sentence)
    expect(after.unusable).toEqual([
      { reason, message: expect.stringContaining(message), sentences: expect.arrayContaining([expect.stringContaining(sentence)]) },
    ])
    expect(after.unusable?.[0]?.message).toMatch(/\. spec\.\w.*: .*, or (?:remove it|set it to Ignore)\.$/)
  })

  it('keeps the other rules of a section in force', () => {
    const { sentences, unusable: parts = [] } = sectionOf(
      'downtime',
      describePolicy(named('careful'), unusable(asked, ['NodeLockNotAllowed'])),
    )
    expect([sentences.length, parts.length]).toEqual([2, 1])
  })

  it('has a part for each reason by which an installation forbids something', () => {
    const reasons = Object.keys(adviceRules).filter((rule) => rule.endsWith('NotAllowed') && rule !== 'HostNotAllowed')
    const { sections } = describePolicy(named('careful'), unusable(asked, reasons))
    expect(sections.flatMap(({ unusable: parts = [] }) => parts.map(({ reason }) => reason)).toSorted()).toEqual(reasons.toSorted())
  })

  it.each<[string, Partial<ReleasePolicy>]>([
    ['the report is about another generation', { metadata: { ...unusable(asked, []).metadata, generation: 8 } }],
    ['nothing is reported', { status: undefined }],
  ])('counts as allowed while %s', (_name, change) => {
    const { sections } = describePolicy(named('careful'), { ...unusable(asked, ['DrainNotAllowed']), ...change })
    expect(sections.every((section) => section.unusable === undefined)).toBe(true)
  })
})

describe('the state of a policy', () => {
  const message = 'ReleasePolicy careful cannot be used in full: no drain'

  it.each<[string, PolicyInUse | undefined, PolicyState | undefined]>([
    ['is valid and usable', { name: 'careful', generation: 3 }, { valid: true, usable: true }],
    ['is valid, and not usable in full', { name: 'careful', generation: 3, message }, { valid: true, usable: false, message }],
    [
      'is not valid',
      { name: 'careful', message: 'no such ReleasePolicy' },
      { valid: false, usable: false, message: 'no such ReleasePolicy' },
    ],
    ['is unknown while the controller has observed another policy', { name: 'other', generation: 3 }, undefined],
    ['is unknown while the controller has observed none', undefined, undefined],
  ])('%s', (_name, policy, state) => {
    const { rollout } = aReading({ rolloutStatus: { policy } })
    const facts = { ...aReading(), rollout: { ...rollout, metadata: named('careful').metadata } }
    expect(reportRollout(facts).policyState).toEqual(state)
    expect(describePolicy(facts.rollout, undefined).state).toEqual(state)
    const said = explainRollout(facts).facts.filter(({ name }) => name === 'policy')
    expect(said).toEqual(state?.message === undefined ? [] : [{ name: 'policy', value: state.message }])
  })
})

/** A policy of which the controller says that it is unusable for these reasons. */
function unusable(spec: ReleasePolicySpec, reasons: readonly string[]): ReleasePolicy {
  const status = reasons.length === 0 ? 'True' : 'False'
  return {
    metadata: { namespace: 'demo', name: 'careful', uid: 'policy', resourceVersion: '1', generation: 7 },
    spec,
    status: {
      conditions: [{ type: 'Usable', status, observedGeneration: 7, reason: reasons[0] ?? 'Usable', message: '' }],
      unusable: reasons,
    },
  }
}

function sectionOf(section: Section, { sections }: PolicyReport): PolicyReport['sections'][number] {
  return sections.find((one) => one.section === section)!
}

type Section = PolicyReport['sections'][number]['section']

function named(name: string): ReturnType<typeof aReading>['rollout'] {
  const { rollout } = aReading()
  return { ...rollout, metadata: { ...rollout.metadata, annotations: { 'tranche.dev/release-policy': name } } }
}

function reportOf(spec: ReleasePolicySpec): PolicyReport {
  return describePolicy(named('careful'), { metadata: { namespace: 'demo', name: 'careful', uid: 'policy', resourceVersion: '1' }, spec })
}

function sentencesOf(section: Section, spec: ReleasePolicySpec): readonly string[] {
  return reportOf(spec).sections.find((one) => one.section === section)?.sentences ?? []
}
