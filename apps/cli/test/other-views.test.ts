import type { Explanation, HistoryReport } from '@tranche/api-schema'
import {
  type AccountSign,
  checkFindings,
  type ClusterSigns,
  createDrawing,
  doctorView,
  type Drawing,
  explanationView,
  historyView,
  type InstalledPod,
  isNews,
  progressLine,
  readRedisSign,
  type ReleaseSign,
  type RolloutSign,
  releaseView,
  templateDiff,
  toReleaseSign,
  toHeldDaemonSet,
  toRolloutSign,
  wishPreview,
} from '@tranche/cli'
import { describe, expect, it } from 'vitest'
import { ago, failing, inStepTwo, NOW_MS, waitsForApproval } from './release-pictures.ts'

const well: ClusterSigns = {
  server: 'https://10.0.0.1:6443',
  context: 'production',
  version: { major: '1', minor: '34', gitVersion: 'v1.34.2' },
  served: { 'rollouts.rollouts.kruise.io': true, 'batchreleases.rollouts.kruise.io': true, 'releasepolicies.tranche.dev': true },
  schemaGap: null,
  rights: [
    { verb: 'list', resource: 'rollouts.rollouts.kruise.io', needed: true, allowed: true },
    { verb: 'patch', resource: 'daemonsets.apps', needed: false, allowed: true },
  ],
  leaseNamespace: 'kube-system',
  leader: { holder: 'tranche-7d9_controller', renewedMs: NOW_MS - 2_000, lengthMs: 15_000 },
  rollouts: [rolloutSign()],
  daemonSets: [],
  peer: { webhook: false, lease: null },
  admission: ['tranche-daemonsets'],
  installed: [pod('controller'), pod('controller'), pod('executor'), pod('api')],
  accounts: [account('tranche-controller', 'controller'), account('tranche-api', 'api')],
  releases: [],
  webhooks: [],
  redis: { kind: 'asked', of: '', problem: null, advice: null },
  skewMs: 300,
  nowMs: NOW_MS,
}

function pod(component: InstalledPod['component'], more: Partial<InstalledPod> = {}): InstalledPod {
  const where = { namespace: 'tranche-system', account: `tranche-${component}`, args: [component] }
  return { component, ...where, version: '0.1.0', isReady: true, redis: null, ...more }
}

function rolloutSign(more: Partial<RolloutSign> = {}): RolloutSign {
  return { namespace: 'demo', name: 'node-agent', workload: 'node-agent', isAnswered: true, isLeaving: false, ...more }
}

function account(name: string, component: InstalledPod['component'], missing: AccountSign['missing'] = []): AccountSign {
  return { account: `tranche-system/${name}`, components: [component], asked: 20, missing }
}

const ill: ClusterSigns = {
  ...well,
  version: { major: '1', minor: '24', gitVersion: 'v1.24.0' },
  served: { ...well.served, 'releasepolicies.tranche.dev': false },
  rights: well.rights.map((right) => ({ ...right, allowed: false })),
  leader: { holder: 'tranche-7d9_controller', renewedMs: NOW_MS - 600_000, lengthMs: 15_000 },
  peer: { webhook: true, lease: { holder: 'kruise-rollout-5c', renewedMs: NOW_MS - 3_000, lengthMs: 15_000 } },
  admission: [],
  accounts: [account('tranche-executor', 'executor', [{ verb: 'delete', group: '', resource: 'pods' }])],
  installed: [pod('controller'), pod('executor', { version: '0.4.0', isReady: false })],
  redis: { kind: 'asked', of: '', problem: { message: 'redis.example:6379 does not answer', fix: 'Check that it runs.' }, advice: null },
  skewMs: -95_000,
}

const history: HistoryReport = {
  revisions: [
    {
      revision: '7d9f4c6b8a',
      number: 3,
      createdAt: ago(60),
      role: 'none',
      held: true,
      nodes: 0,
      images: ['registry.example/node-agent:v3'],
    },
    {
      revision: '6b7f9c4d85',
      number: 2,
      createdAt: ago(3_700),
      role: 'stable',
      held: false,
      nodes: 30,
      images: ['registry.example/node-agent:v2'],
      changeCause: 'kubectl set image',
    },
  ],
  heldRevisions: [{ digest: 'abc', revision: '7d9f4c6b8a', reason: 'Aborted', at: ago(30) }],
  actions: [
    { id: '2', type: 'abort', by: 'jane@example.com', reason: 'errors in the log', at: ago(31), via: 'cli' },
    { id: '1', type: 'approve', by: 'hook:deploy', at: ago(50), via: 'hook', from: '10.0.0.7', expectedStep: 1 },
  ],
  seenActions: [
    { id: 'seen-9-approve', type: 'approve', manager: 'kubectl-kruise', at: ago(40), step: 2 },
    { id: 'seen-8-resume', type: 'resume', at: ago(45) },
    { id: 'seen-7-template', type: 'template', manager: 'kubectl-edit', at: ago(60) },
  ],
}

const explanation: Explanation = {
  subject: 'node-7',
  answer: 'the pod on node-7 is not replaced yet: 12 nodes come before it in this batch, and 3 of at most 3 nodes are down',
  rule: 'Order',
  facts: [
    { name: 'pod', value: 'node-agent-x7k2p, revision 58c4d7b9f6, available' },
    { name: 'batch', value: '2 of 3: up to 15 nodes, 10 of them updated' },
  ],
  next: 'a node that is down becomes available',
}

const revision = (number: number, image: string) => ({
  revision: `hash${number}`,
  number,
  createdAt: ago(60),
  role: 'none' as const,
  held: false,
  nodes: 0,
  images: [image],
  template: { spec: { containers: [{ name: 'agent', image, env: [{ name: 'A', value: '1' }] }], hostNetwork: true } },
})

const views: Record<string, (drawing: Drawing) => readonly string[]> = {
  'doctor where all is well': (drawing) => doctorView(checkFindings(well, '0.1.0'), drawing),
  'doctor where nothing is': (drawing) => doctorView(checkFindings(ill, '0.1.0'), drawing),
  'history of two revisions': (drawing) => historyView(history, drawing),
  'explanation of a node': (drawing) => explanationView(explanation, drawing),
  'diff of two revisions': (drawing) => templateDiff(revision(1, 'agent:v1'), revision(2, 'agent:v2'), drawing),
  'status of a release that failed': (drawing) => [progressLine(failing.report, drawing)],
  'preview of an abort': (drawing) => wishPreview({ type: 'abort', body: {} }, inStepTwo.report, drawing),
  'preview of an undo': (drawing) =>
    wishPreview(
      { type: 'undo', body: { toRevision: '58c4d7b9f6', revision: '6b7f9c4d85' }, revisions: waitsForApproval.revisions },
      waitsForApproval.report,
      drawing,
    ),
  'preview of an undo to nothing': (drawing) => wishPreview({ type: 'undo', body: {} }, waitsForApproval.report, drawing),
}

describe('what the commands print', () => {
  for (const width of [80, 200]) {
    it.each(Object.entries(views))(`draws the %s in ${width} columns`, async (name, draw) => {
      const lines = draw(createDrawing({ width, colors: false, unicode: true, nowMs: NOW_MS }))
      await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(`golden/other/${name.replaceAll(' ', '-')}.${width}.txt`)
      expect(Math.max(...lines.map((line) => Array.from(line).length))).toBeLessThanOrEqual(width)
    })
  }
})

describe('tranche doctor', () => {
  const states = (signs: ClusterSigns): Record<string, string> =>
    Object.fromEntries(checkFindings(signs, '0.1.0').map(({ check, state }) => [check, state]))

  it('finds nothing wrong where nothing is', () => {
    expect(new Set(Object.values(states(well)))).toEqual(new Set(['ok']))
  })

  it('says how to mend each thing that is wrong', () => {
    for (const { state, fix } of checkFindings(ill, '0.1.0')) if (state !== 'ok') expect(fix).toMatch(/\.$/)
  })

  it('tells what it may not look at from what is wrong', () => {
    expect(
      states({
        ...well,
        leader: 'forbidden',
        peer: 'forbidden',
        admission: 'forbidden',
        installed: 'forbidden',
        skewMs: null,
        accounts: 'forbidden',
      }),
    ).toMatchObject({
      accounts: 'unknown',
      executor: 'unknown',
      versions: 'unknown',
      controller: 'unknown',
      peer: 'unknown',
      admission: 'unknown',
      clock: 'unknown',
    })
  })

  it('knows a controller without leader election by its answers', () => {
    expect(states({ ...well, leader: null })).toMatchObject({ controller: 'ok' })
    expect(states({ ...well, leader: null, rollouts: [rolloutSign(), rolloutSign({ isAnswered: false })] })).toMatchObject({
      controller: 'problem',
    })
    expect(states({ ...well, leader: null, rollouts: [] })).toMatchObject({ controller: 'problem' })
  })

  const release: ReleaseSign = { namespace: 'demo', name: 'node-agent', isIdle: true, writtenMs: NOW_MS - 300_000, executorMs: null }
  const executors: Record<string, { signs: Partial<ClusterSigns>; state: string; says: RegExp }> = {
    'one that is ready': { signs: {}, state: 'ok', says: /^1 of 1 executors ready$/ },
    'none that is ready': {
      signs: { installed: [pod('all-in-one', { isReady: false })] },
      state: 'problem',
      says: /^none of 1 executors is ready: releases stand still$/,
    },
    'one without a pod of the chart, by what it wrote lately': {
      signs: { installed: [], releases: [{ ...release, executorMs: NOW_MS - 5_000 }] },
      state: 'ok',
      says: /^an executor wrote the record of demo\/node-agent 5s ago$/,
    },
    'a batch that nobody works on': {
      signs: { installed: 'forbidden', releases: [release] },
      state: 'problem',
      says: /^nobody has taken a node of demo\/node-agent for 5m00s, though its batch lacks some: no executor seems to run$/,
    },
    'a batch that was begun just now': {
      signs: { installed: [], releases: [{ ...release, writtenMs: NOW_MS - 5_000 }] },
      state: 'note',
      says: /^whether one runs cannot be told: no pods of the chart are here, and no release/,
    },
    'nothing that may be seen': {
      signs: { installed: [], releases: 'forbidden' },
      state: 'unknown',
      says: /^you may not list BatchReleases$/,
    },
  }

  it.each(Object.entries(executors))('says of executors: %s', (_what, { signs, state, says }) => {
    const found = checkFindings({ ...well, ...signs }, '0.1.0').find(({ check }) => check === 'executor')
    expect(found).toMatchObject({ state, message: expect.stringMatching(says) as string })
  })

  it.each([
    ['0.1.0', 'ok'],
    ['0.2.3', 'note'],
    ['0.3.0', 'problem'],
    ['1.1.0', 'problem'],
  ])('tells versions that may not stand side by side: beside 0.1.0, %s is %s', (own, state) => {
    expect(checkFindings(well, own).find(({ check }) => check === 'versions')).toMatchObject({ state })
  })

  it('knows by the status of a release, and who wrote it, that nobody works on it', () => {
    const object = {
      metadata: {
        namespace: 'demo',
        name: 'node-agent',
        managedFields: [
          { manager: 'tranche-controller', time: '2026-01-01T00:00:10Z' },
          { manager: 'tranche-executor', time: '2026-01-01T00:00:05Z' },
        ],
      },
      status: { canaryStatus: { batchState: 'Upgrading' }, flight: { state: 'open', permits: [] } },
    }
    const [writtenMs, executorMs] = [Date.UTC(2026, 0, 1, 0, 0, 10), Date.UTC(2026, 0, 1, 0, 0, 5)]
    expect(toReleaseSign(object as never)).toEqual({ namespace: 'demo', name: 'node-agent', isIdle: true, writtenMs, executorMs })
  })

  it('looks at the Redis of the pods where it can be judged from here, and repeats no password', async () => {
    const { signal } = new AbortController()
    const look = (...redis: readonly InstalledPod['redis'][]) =>
      readRedisSign({ named: null, installed: redis.map((one) => pod('executor', { redis: one })), signal })
    const closed = { kind: 'url', url: 'redis://me:secret@127.0.0.1:1', hasPassword: false } as const
    await expect(look(null)).resolves.toEqual({ kind: 'none' })
    await expect(look()).resolves.toEqual({ kind: 'unknown' })
    const unreached = await look(closed, closed)
    expect(unreached).toMatchObject({ kind: 'hidden', name: 'Redis redis://127.0.0.1:1' })
    expect(JSON.stringify(unreached)).not.toContain('secret')
    await expect(look({ ...closed, hasPassword: true })).resolves.toMatchObject({
      kind: 'hidden',
      why: 'the password is known to the pods alone',
    })
    await expect(look({ kind: 'secret', namespace: 'tranche', name: 'redis', key: 'url' })).resolves.toMatchObject({
      kind: 'hidden',
      name: 'the Redis of Secret tranche/redis (url)',
    })
    await expect(look(closed, { ...closed, url: 'redis://other:6379' })).resolves.toMatchObject({ kind: 'several' })
  })

  it.each<[string, Partial<ClusterSigns>, readonly (readonly [string, RegExp])[]]>([
    ['nothing while a controller leads', { daemonSets: [{ namespace: 'demo', name: 'node-agent' }] }, []],
    [
      'Rollouts that nobody lets go, and DaemonSets that wait',
      {
        leader: null,
        rollouts: [rolloutSign({ isLeaving: true, isAnswered: false })],
        daemonSets: [{ namespace: 'demo', name: 'node-agent' }],
      },
      [
        ['problem', /^no controller runs that would let go of what is being deleted: Rollout demo\/node-agent$/],
        ['note', /only when somebody deletes its pod: DaemonSet demo\/node-agent \(OnDelete\)$/],
      ],
    ],
    [
      'what a Rollout that is gone has left, whether a controller leads or not',
      { daemonSets: Array.from({ length: 7 }, (_, at) => ({ namespace: 'other', name: `agent-${at}` })) },
      [['note', /^left on OnDelete by a Rollout that is gone: DaemonSet other\/agent-0, .*, other\/agent-4 and 2 more$/]],
    ],
    ['nothing to who may not list Rollouts', { rollouts: 'forbidden', daemonSets: [{ namespace: 'demo', name: 'agent' }] }, []],
  ])('says what is left behind: %s', (_what, signs, expected) => {
    const found = checkFindings({ ...well, ...signs }, '0.1.0').filter(({ check }) => check === 'left')
    expect(found).toEqual(
      expected.map(([state, says]) => expect.objectContaining({ state, message: expect.stringMatching(says) as string })),
    )
  })

  it('names in what it tells to type what is there', () => {
    const [{ fix } = {}] = checkFindings(
      { ...well, leader: null, rollouts: [rolloutSign({ isLeaving: true, isAnswered: false })] },
      '0.1.0',
    ).filter(({ check }) => check === 'left')
    expect(fix).toContain('kubectl patch rollouts.rollouts.kruise.io node-agent -n demo --type=merge')
  })

  it('knows a DaemonSet that waits for us from others on OnDelete', () => {
    const daemonSet = (type: string, annotations: object) =>
      toHeldDaemonSet({ metadata: { namespace: 'demo', name: 'a', annotations }, spec: { updateStrategy: { type } } } as never)
    expect(daemonSet('OnDelete', { 'tranche.dev/rollout': 'a' })).toEqual({ namespace: 'demo', name: 'a' })
    expect(daemonSet('OnDelete', { 'tranche.dev/frozen': '{}' })).toEqual({ namespace: 'demo', name: 'a' })
    expect(daemonSet('RollingUpdate', { 'tranche.dev/rollout': 'a' })).toBeNull()
    expect(daemonSet('OnDelete', {})).toBeNull()
  })

  it('reads Leases by the clock of the server, not by ours', () => {
    const ours = { ...well, nowMs: NOW_MS + 600_000, skewMs: -600_000 }
    expect(states(ours)).toMatchObject({ controller: 'ok', clock: 'problem' })
  })
})

describe('a Rollout of another workload', () => {
  const message = 'not ours: it names a Deployment of apps/v1, and Tranche acts on DaemonSets of apps/v1 only'
  const report = { ...inStepTwo.report, reason: 'OtherWorkload', outcome: 'Running', message } as const

  it('is not told as one that we release', () => {
    const drawing = createDrawing({ width: 200, colors: false, unicode: true, nowMs: NOW_MS })
    expect(progressLine(report, drawing)).toBe(`demo/node-agent  Not ours  ${message}`)
    expect(releaseView({ ...inStepTwo, report }, drawing, false)).toEqual([expect.stringContaining('Not ours'), `status  ${message}`])
  })

  it('is none that the controller had to answer', () => {
    const rolloutOf = (kind: string, status?: object) =>
      toRolloutSign({ metadata: { generation: 2 }, spec: { workloadRef: { apiVersion: 'apps/v1', kind, name: 'agent' } }, status } as never)
    const rollouts = [rolloutOf('Deployment'), rolloutOf('DaemonSet', { observedGeneration: 2 }), rolloutOf('DaemonSet')]
    expect(rollouts.map((sign) => sign?.isAnswered)).toEqual([undefined, true, false])
  })
})

describe('what status tells while it waits', () => {
  const told = { report: inStepTwo.report, atMs: 0 }

  it('tells every turning point at once', () => {
    expect(isNews(told, waitsForApproval.report, 1)).toBe(true)
    expect(isNews(null, inStepTwo.report, 1)).toBe(true)
  })

  it('tells counts now and then, and the same never again', () => {
    const moved = { ...inStepTwo.report, nodes: { ...inStepTwo.report.nodes, updatedAvailable: 11 } }
    expect(isNews(told, moved, 1_000)).toBe(false)
    expect(isNews(told, moved, 5_000)).toBe(true)
    expect(isNews(told, inStepTwo.report, 60_000)).toBe(false)
  })
})

it('counts as updated in one line what every other view does, and says how many are available', () => {
  const nodes = { ...inStepTwo.report.nodes, desired: 30, updated: 3, updatedAvailable: 0, unavailable: 3 }
  const drawing = createDrawing({ width: 200, colors: false, unicode: true, nowMs: NOW_MS })
  expect(progressLine({ ...inStepTwo.report, nodes }, drawing)).toContain('  3/30 updated (0 available), 3 down')
})
