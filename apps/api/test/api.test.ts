import { createApiClient } from '@tranche/api-client'
import {
  customResourceDefinitions,
  type HistoryReport,
  historyReportSchema,
  nodeEventsSchema,
  problemSchema,
  type RolloutReport,
  rolloutReportSchema,
  type StreamMessage,
  actionAnswerSchema,
} from '@tranche/api-schema'
import { systemClock } from '@tranche/clock'
import { createKubeClient, type KubeClient, resourcePaths } from '@tranche/kube-client'
import { type DaemonSet, daemonSetAnnotations, type KubeObject } from '@tranche/kube-types'
import { silentLogger } from '@tranche/telemetry'
import { createSimulator, type Simulator } from '@tranche/sim'
import { resources } from '@tranche/sim-api'
import { createKubeReleaseClient, createRestReleaseClient, type ReleaseClient } from '@tranche/release-client'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type RunningApi, startApi } from '../src/index.ts'
import { NodeClient } from './fake-nodes.ts'
import { patient } from './fixtures.ts'

// Sockets, watches and reviews are real; the cluster is simulated. There is no controller: the tests write its fields.

const key = { namespace: 'demo', name: 'agent' }
let simulator: Simulator
let client: KubeClient
let api: RunningApi

beforeAll(async () => {
  simulator = createSimulator({
    clock: systemClock,
    nodes: 4,
    speed: 100,
    watchDelayMs: 0,
    actors: { eve: { name: 'eve', groups: [] }, reader: { name: 'reader', groups: [] } },
  })
  client = createKubeClient({ exchange: simulator.exchangeFor('admin'), clock: systemClock, userAgent: 'test/1', log: silentLogger })
  await simulator.start()
  for (const definition of customResourceDefinitions) await client.create(resourcePaths.customResourceDefinitions, definition as never)
  await client.create(resourcePaths.namespaces, { metadata: { name: 'demo' } } as never)
  await client.create(resourcePaths.daemonSets, daemonSet() as never)
  await client.create(resourcePaths.rollouts, rollout() as never)
  await pauseAt(1)
  api = await startApi({
    exchange: simulator.exchangeFor('tranche-api'),
    clock: systemClock,
    log: silentLogger,
    port: 0,
    checkAnswers: true,
    limits: patient,
  })
  await api.ready
})

afterAll(async () => {
  await api.stop()
  simulator.stop()
})

function daemonSet(): object {
  const labels = { app: 'agent' }
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { ...key, annotations: { [daemonSetAnnotations.rollout]: key.name } },
    spec: {
      selector: { matchLabels: labels },
      updateStrategy: { type: 'OnDelete' },
      template: { metadata: { labels }, spec: { containers: [{ name: 'agent', image: 'registry.example/agent:v1' }] } },
    },
  }
}

function rollout(): object {
  return {
    apiVersion: 'rollouts.kruise.io/v1beta1',
    kind: 'Rollout',
    metadata: key,
    spec: {
      workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent' },
      strategy: { canary: { steps: [{ replicas: 1, pause: {} }, { replicas: '50%', pause: {} }, { replicas: '100%' }] } },
    },
  }
}

async function mayGetDaemonSets(user: string): Promise<void> {
  const admin = simulator.clientFor({ name: 'admin' })
  const rules = [{ apiGroups: ['apps'], resources: ['daemonsets'], verbs: ['get'] }]
  await admin.create(resources.clusterRoles, { metadata: { name: 'daemonsets' }, rules })
  await admin.create(resources.clusterRoleBindings, {
    metadata: { name: 'daemonsets' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'daemonsets' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
  })
}

/** Status of a step that waits for approval, as the controller writes it. */
async function pauseAt(step: number): Promise<void> {
  const { metadata } = await client.get<{ metadata: { generation: number } }>(resourcePaths.rollouts, key)
  const body = {
    status: {
      observedGeneration: metadata.generation,
      phase: 'Progressing',
      message: `waits for a person at step ${step}`,
      currentStepIndex: step,
      currentStepState: 'StepPaused',
      conditions: [
        { type: 'Progressing', status: 'True', reason: 'InRolling', message: '', lastUpdateTime: now(), lastTransitionTime: now() },
      ],
      canaryStatus: {
        canaryRevision: 'v2',
        stableRevision: 'v1',
        podTemplateHash: 'v2',
        canaryReplicas: step,
        canaryReadyReplicas: step,
        currentStepIndex: step,
        nextStepIndex: step + 1,
        currentStepState: 'StepPaused',
        finalisingStep: '',
        lastUpdateTime: now(),
      },
    },
  }
  await client.patch(resourcePaths.rollouts, key, { type: 'merge', body }, { subresource: 'status' })
}

function restReleaseClient(as = 'admin'): ReleaseClient {
  const client = createApiClient({ fetch, baseUrl: `${api.url}/`, token: () => simulator.tokenFor(as), clock: systemClock })
  return createRestReleaseClient(client, { clock: systemClock })
}

async function pauseAll(paused: boolean): Promise<void> {
  await client.patch(resourcePaths.rollouts, key, { type: 'merge', body: { spec: { strategy: { paused } } } })
}

function now(): string {
  return `${new Date().toISOString().slice(0, 19)}Z`
}

async function call(
  path: string,
  init: RequestInit & { readonly as?: string } = {},
): Promise<{ readonly status: number; readonly body: unknown }> {
  const answer = await fetch(`${api.url}${path}`, {
    ...init,
    headers: {
      authorization: `Bearer ${simulator.tokenFor(init.as ?? 'admin')}`,
      ...(init.body !== undefined && { 'content-type': 'application/json' }),
      ...init.headers,
    },
  })
  const text = await answer.text()
  return { status: answer.status, body: text === '' ? null : (JSON.parse(text) as unknown) }
}

const act = (action: string, body: object, more: Parameters<typeof call>[1] = {}): ReturnType<typeof call> =>
  call(`/api/v1/namespaces/demo/rollouts/agent/actions/${action}`, { method: 'POST', body: JSON.stringify(body), ...more })

describe('reads', () => {
  it.each(['', '/batches', '/nodes', '/nodes/node-001', '/explain', '/revisions', '/history', '/events'])(
    'return the Rollout: %s',
    async (part) => {
      const answer = await call(`/api/v1/namespaces/demo/rollouts/agent${part}`)
      expect(answer).toMatchObject({ status: 200 })
    },
  )

  it('return the complete report', async () => {
    const { body } = await call('/api/v1/namespaces/demo/rollouts/agent')
    const report: RolloutReport = rolloutReportSchema.parse(body)
    expect(report).toMatchObject({ name: 'agent', phase: 'Progressing', step: { index: 1, count: 3, state: 'StepPaused' } })
  })

  it('page through nodes', async () => {
    const names: string[] = []
    let cursor: string | undefined
    do {
      const { body } = await call(`/api/v1/namespaces/demo/rollouts/agent/nodes?limit=3${cursor === undefined ? '' : `&cursor=${cursor}`}`)
      const page = body as { readonly items: readonly { readonly name: string }[]; readonly total: number; readonly next?: string }
      expect(page.total).toBe(4)
      names.push(...page.items.map(({ name }) => name))
      cursor = page.next
    } while (cursor !== undefined)
    expect(names).toEqual(['node-001', 'node-002', 'node-003', 'node-004'])
  })

  it('return the events of the pod on a node, and of the node', async () => {
    const inDemo = { namespace: 'demo', fieldSelector: 'spec.nodeName=node-002' }
    const [pod] = (await client.list<KubeObject>(resourcePaths.pods, inDemo)).items
    const node = await client.get<KubeObject>(resourcePaths.nodes, { namespace: '', name: 'node-002' })
    const about = { Pod: pod!.metadata, Node: node.metadata }
    for (const [kind, { namespace, name, uid }] of Object.entries(about)) {
      const event = { metadata: { name: `about-${name}`, namespace: namespace ?? 'default' }, reason: kind, message: '', type: 'Normal' }
      await client.create(resourcePaths.events, { ...event, involvedObject: { kind, namespace, name, uid } } as never)
    }
    const { body } = await call('/api/v1/namespaces/demo/rollouts/agent/nodes/node-002/events')
    const { items, omitted } = nodeEventsSchema.parse(body)
    // The scheduler has written another one.
    const written = items.filter(({ reason }) => reason === 'Pod' || reason === 'Node').map(({ object }) => object)
    expect(written.sort()).toEqual(['Node/node-002', `Pod/${pod!.metadata.name}`])
    expect(omitted).toEqual([])
    expect(await call('/api/v1/namespaces/demo/rollouts/agent/nodes/node-009/events')).toMatchObject({ status: 404 })
  })

  it('return the history of a DaemonSet', async () => {
    const { status, body } = await call('/api/v1/namespaces/demo/daemonsets/agent/history')
    expect([status, (body as { revisions: readonly unknown[] }).revisions.length]).toEqual([200, 1])
    expect((await call('/api/v1/namespaces/demo/daemonsets/absent/history')).status).toBe(404)
  })

  it('hide the history of the Rollout from a caller that may get only the DaemonSet', async () => {
    await mayGetDaemonSets('eve')
    const named = { metadata: { annotations: { [daemonSetAnnotations.rollout]: key.name } } }
    const record = { id: 'a', type: 'pause', by: 'ann', via: 'rest', at: now(), from: '10.0.0.1' }
    const recorded = { metadata: { annotations: { 'tranche.dev/recorded-actions': JSON.stringify([record]) } } }
    const held = { revision: 'v9', digest: 'd', reason: 'Aborted', at: now(), reverted: true }
    await client.patch(resourcePaths.daemonSets, key, { type: 'merge', body: named })
    await client.patch(resourcePaths.rollouts, key, { type: 'merge', body: recorded })
    await client.patch(
      resourcePaths.rollouts,
      key,
      { type: 'merge', body: { status: { heldRevisions: [held] } } },
      { subresource: 'status' },
    )
    const history = async (as: string): Promise<HistoryReport> =>
      (await call('/api/v1/namespaces/demo/daemonsets/agent/history', { as })).body as HistoryReport
    await expect
      .poll(async () => (await history('admin')).heldRevisions, { timeout: 10_000, interval: 20 })
      .toMatchObject([{ revision: 'v9' }])
    expect(await history('admin')).toMatchObject({ actions: [{ by: 'ann' }] })
    expect(await history('admin')).not.toHaveProperty('rolloutHidden')
    expect(await history('eve')).toMatchObject({
      heldRevisions: [],
      actions: [],
      observedChanges: [],
      rolloutHidden: true,
      revisions: [{ held: false }],
    })
    const nothing = { metadata: { annotations: { 'tranche.dev/recorded-actions': null } } }
    await client.patch(resourcePaths.daemonSets, key, { type: 'merge', body: nothing })
    await client.patch(resourcePaths.rollouts, key, { type: 'merge', body: nothing })
    await client.patch(resourcePaths.rollouts, key, { type: 'merge', body: { status: { heldRevisions: null } } }, { subresource: 'status' })
  })
})

describe('a release client over REST', () => {
  const kubeReleaseClient = () =>
    createKubeReleaseClient({ client, clock: systemClock, log: silentLogger, component: 'tranche-cli', via: 'cli' })

  it.each<{ of: string; ask: (releaseClient: ReleaseClient) => Promise<unknown> }>([
    { of: 'all Rollouts', ask: (releaseClient) => releaseClient.list({}) },
    { of: 'those of a namespace', ask: (releaseClient) => releaseClient.list({ namespace: 'demo' }) },
    { of: 'one Rollout', ask: (releaseClient) => releaseClient.report(key) },
    { of: 'all of it at once', ask: (releaseClient) => releaseClient.picture(key) },
    { of: 'its nodes', ask: (releaseClient) => releaseClient.nodes(key) },
    { of: 'a node', ask: (releaseClient) => releaseClient.explain(key, 'node-001') },
    { of: 'what it waits for', ask: (releaseClient) => releaseClient.explain(key) },
    { of: 'its history', ask: (releaseClient) => releaseClient.history(key) },
    { of: 'its events', ask: (releaseClient) => releaseClient.events(key) },
    { of: 'a template', ask: (releaseClient) => releaseClient.template(key, '1') },
  ])('returns the same as one over the cluster: $of', async ({ ask }) => {
    expect(await ask(restReleaseClient())).toEqual(await ask(kubeReleaseClient()))
  })

  it.each<{ of: string; ask: (releaseClient: ReleaseClient) => Promise<unknown>; code: string }>([
    {
      of: 'a Rollout that does not exist',
      ask: (releaseClient) => releaseClient.report({ ...key, name: 'absent' }),
      code: 'ROLLOUT_NOT_FOUND',
    },
    { of: 'a node that does not exist', ask: (releaseClient) => releaseClient.explain(key, 'absent'), code: 'NODE_NOT_FOUND' },
    { of: 'a revision that does not exist', ask: (releaseClient) => releaseClient.template(key, '77'), code: 'REVISION_NOT_FOUND' },
    {
      of: 'a step that it is not at',
      ask: (releaseClient) => releaseClient.act(key, { type: 'approve', body: { expectedStep: 3 }, waitMs: 0 }),
      code: 'MOVED_ON',
    },
    {
      of: 'an approval that names no step',
      ask: (releaseClient) => releaseClient.act(key, { type: 'approve', body: {}, waitMs: 0 }),
      code: 'ACTION_INVALID',
    },
  ])('fails with the same code as one over the cluster: $of', async ({ ask, code }) => {
    await expect(ask(restReleaseClient())).rejects.toMatchObject({ code })
    await expect(ask(kubeReleaseClient())).rejects.toMatchObject({ code })
  })

  it('follows changes through the stream', async () => {
    const stop = new AbortController()
    const seen = restReleaseClient().follow!(key, { part: 'report', signal: stop.signal })
    await expect(seen.next()).resolves.toMatchObject({ done: false, value: { value: { name: 'agent', paused: false } } })
    await pauseAll(true)
    for (let next = await seen.next(); ; next = await seen.next()) {
      if (next.done === true) throw new Error('it has ended')
      if (next.value.value.paused) break
    }
    stop.abort()
    await expect(seen.next()).resolves.toEqual({ done: true, value: 'stopped' })
    await pauseAll(false)
  })

  it('previews a rollback of a DaemonSet', async () => {
    const action = { on: 'DaemonSet', type: 'undo', body: { toRevision: '77' }, waitMs: 0, dryRun: true } as const
    await expect(restReleaseClient().act(key, action)).rejects.toMatchObject({ code: 'REVISION_NOT_FOUND' })
  })

  it('receives changes', async () => {
    const stream = createApiClient({ fetch, baseUrl: api.url, token: () => simulator.tokenFor('admin'), clock: systemClock })
    const types: string[] = []
    for await (const { type } of stream.stream({ namespace: 'demo', signal: new AbortController().signal })) {
      types.push(type)
      if (types.length === 2) break
    }
    expect(types).toEqual(['reset', 'rollout'])
  })
})

describe('checks', () => {
  it('return the user of the token', async () => {
    expect(await call('/api/v1/me', { as: 'eve' })).toEqual({ status: 200, body: { username: 'eve', groups: ['system:authenticated'] } })
  })

  it('find problems in manifests sent as JSON or as YAML', async () => {
    const manifest =
      'apiVersion: rollouts.kruise.io/v1beta1\nkind: Rollout\nmetadata: {name: a}\nspec: {strategy: {canary: {steps: [{replicas: "120%"}]}}}\n'
    const asJson = await call('/api/v1/validate', { method: 'POST', body: JSON.stringify({ manifests: manifest }) })
    const asYaml = await call('/api/v1/validate', { method: 'POST', body: manifest, headers: { 'content-type': 'application/yaml' } })
    expect(asJson).toMatchObject({ status: 200, body: { valid: false } })
    expect(asYaml).toEqual(asJson)
  })

  it('find a problem in manifests without a document', async () => {
    for (const manifests of ['', '# later']) {
      const body = { valid: false, problems: [{ document: 1, rule: 'Syntax', message: 'it is empty' }] }
      expect(await call('/api/v1/validate', { method: 'POST', body: JSON.stringify({ manifests }) })).toMatchObject({ status: 200, body })
    }
  })

  it('find a duplicate key', async () => {
    const options = { method: 'POST', headers: { 'content-type': 'application/yaml' } }
    expect(await call('/api/v1/validate', { ...options, body: 'kind: a\nspec: {a: 1, b: {c: 1, c: 2}}' })).toMatchObject({
      body: { problems: [{ message: expect.stringContaining('"c" is repeated') as unknown }] },
    })
  })
})

describe('actions', () => {
  it('are refused without expectedStep, with a fix', async () => {
    expect(await act('approve', {})).toMatchObject({ status: 400, body: { code: 'ACTION_INVALID' } })
    expect(await act('approve', { expectedStepp: 1 })).toMatchObject({ status: 400, body: { code: 'REQUEST_INVALID' } })
    expect(await act('approve', { expectedStep: 3 })).toMatchObject({ status: 409, body: { code: 'MOVED_ON' } })
  })

  it('are refused with the default Content-Type of curl, with the one to use', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    expect(await call('/api/v1/namespaces/demo/rollouts/agent/actions/approve', { method: 'POST', body: '{}', headers })).toMatchObject({
      status: 415,
      body: { code: 'MEDIA_TYPE_UNSUPPORTED', detail: expect.stringContaining('Content-Type: application/json') as unknown },
    })
  })

  it('require exactly the verb of their name', async () => {
    await client.create({ group: 'rbac.authorization.k8s.io', version: 'v1', plural: 'clusterroles', namespaced: false }, {
      metadata: { name: 'pauser' },
      rules: [{ apiGroups: ['rollouts.kruise.io'], resources: ['rollouts'], verbs: ['pause'] }],
    } as never)
    await client.create({ group: 'rbac.authorization.k8s.io', version: 'v1', plural: 'rolebindings', namespaced: true }, {
      metadata: { name: 'pauser', namespace: 'demo' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'pauser' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'eve' }],
    } as never)
    expect((await act('approve', { expectedStep: 1 }, { as: 'eve' })).status).toBe(403)
    expect((await act('pause', { reason: 'lunch' }, { as: 'eve' })).status).toBe(202)
    expect((await call('/api/v1/namespaces/demo/rollouts/agent', { as: 'eve' })).status).toBe(403)
    const resumed = await act('resume', {})
    expect(resumed.status).toBe(202)
    await pauseAt(1)
  })

  it('of two users for one step succeed once; the other is refused', async () => {
    const [one, two] = await Promise.all([
      act('approve', { expectedStep: 1, reason: 'mine' }),
      act('approve', { expectedStep: 1, reason: 'yours' }, { as: 'robot' }),
    ])
    expect([one.status, two.status].sort()).toEqual([202, 409])
    const refused = one.status === 409 ? one : two
    expect(problemSchema.parse(refused.body)).toMatchObject({ code: 'ACTION_PENDING' })
  })

  it('with the same Idempotency-Key are executed once, and fail with another body', async () => {
    await pauseAt(2)
    await answerAction()
    const headers = { 'idempotency-key': 'ci-42' }
    const first = await act('approve', { expectedStep: 2 }, { headers })
    const again = await act('approve', { expectedStep: 2 }, { headers })
    expect([first.status, again.status]).toEqual([202, 202])
    const seenLater = { type: 'approve', body: { expectedStep: 3 }, waitMs: 0, idempotencyKey: 'ci-42', seen: ['expectedStep'] } as const
    await expect(restReleaseClient().act(key, seenLater)).resolves.toMatchObject({ repeated: true })
    await expect(restReleaseClient().act(key, { ...seenLater, seen: [] })).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' })
    const [one, two] = [first, again].map(({ body }) => actionAnswerSchema.parse(body))
    expect([one!.repeated, two!.repeated, two!.id]).toEqual([false, true, one!.id])
    expect(await act('approve', { expectedStep: 3 }, { headers })).toMatchObject({ status: 422, body: { code: 'IDEMPOTENCY_KEY_REUSED' } })
  })

  it('are recorded with user, type, reason and address', async () => {
    const { body } = await call('/api/v1/namespaces/demo/rollouts/agent/history')
    const { actions } = body as { readonly actions: readonly object[] }
    expect(actions.at(-1)).toMatchObject({ type: 'pause', by: 'eve', reason: 'lunch', via: 'rest', from: '127.0.0.1' })
  })

  it('to roll back a DaemonSet return a preview and write nothing in a dry run', async () => {
    const answer = await call('/api/v1/namespaces/demo/daemonsets/agent/rollback', {
      method: 'POST',
      body: JSON.stringify({ dryRun: true, toRevision: '7' }),
    })
    expect(answer).toMatchObject({ status: 404, body: { code: 'REVISION_NOT_FOUND' } })
  })

  it('to roll back are refused if the DaemonSet is bound to another Rollout, or to none', async () => {
    await release('v2')
    for (const name of [null, 'other']) {
      await bind(name)
      const { status, body } = await act('undo', {})
      expect([status, body]).toMatchObject([409, { code: 'NOT_BOUND' }])
    }
    await bind('agent')
  })

  it('to read an unbound DaemonSet, or one of another Rollout, require the right to get it: a right on a Rollout is not enough', async () => {
    const base = '/api/v1/namespaces/demo/rollouts/agent'
    const as = 'reader'
    const admin = simulator.clientFor({ name: 'admin' })
    const rules = [{ apiGroups: ['rollouts.kruise.io'], resources: ['rollouts'], verbs: ['get', 'list'], resourceNames: ['agent'] }]
    await admin.create(resources.clusterRoles, { metadata: { name: 'one-rollout' }, rules })
    await admin.create(resources.clusterRoleBindings, {
      metadata: { name: 'one-rollout' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'one-rollout' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: as }],
    })
    await bind('agent')
    const bound = (await call(base, { as })).body as RolloutReport
    expect(bound.nodes.desired).toBeGreaterThan(0)
    const { revision } = (await revisions())[0]!
    // A template contains values of environment variables, even for a bound DaemonSet.
    expect(await call(`${base}/revisions/${revision}`, { as })).toMatchObject({ status: 403, body: { code: 'ACCESS_DENIED' } })
    expect(await call(`${base}/revisions/${revision}`)).toMatchObject({ status: 200 })
    for (const name of ['other', null]) {
      await bind(name)
      await vi.waitFor(async () => expect((await call(base, { as })).body).toHaveProperty('notBound'))
      const { body } = await call(base, { as })
      expect(body).toMatchObject({ images: [], nodes: { desired: 0 }, zones: [] })
      expect((body as RolloutReport).conditions).toContainEqual(
        expect.objectContaining({ type: 'Bound', status: 'False', reason: 'NotBound' }),
      )
      for (const part of ['nodes', 'nodes/node-001', 'nodes/node-001/events', 'revisions', 'history', 'batches'])
        expect(await call(`${base}/${part}`, { as })).toMatchObject({ status: 409, body: { code: 'NOT_BOUND' } })
      const { items } = (await call(`${base}/events`, { as })).body as { readonly items: readonly { readonly object: string }[] }
      expect(items.filter(({ object }) => object.startsWith('DaemonSet/'))).toEqual([])
      expect(await call(`${base}/plan`, { as, method: 'POST', body: '{}' })).toMatchObject({ status: 409, body: { code: 'NOT_BOUND' } })
      // The administrator may get the DaemonSet itself.
      expect((await call(`${base}/nodes`)).status).toBe(200)
      expect(((await call(base)).body as RolloutReport).nodes.desired).toBeGreaterThan(0)
    }
    await bind('agent')
  })

  it('to roll back from one revision succeed once; the other fails with MOVED_ON', async () => {
    await bind('agent')
    await release('v3')
    const { revision } = (await revisions())[0]!
    const both = await Promise.all([act('undo', { revision }), act('undo', { revision }, { as: 'robot' })])
    expect(both.map(({ status }) => status).sort()).toEqual([202, 409])
    expect(both.find(({ status }) => status === 409)).toMatchObject({ body: { code: 'MOVED_ON' } })
    const { spec } = await client.get<DaemonSet>(resourcePaths.daemonSets, key)
    expect(spec.template.spec?.containers?.[0]?.image).toBe('registry.example/agent:v2')
    const rollBack = { method: 'POST', body: JSON.stringify({ revision }) }
    expect(await call('/api/v1/namespaces/demo/daemonsets/agent/rollback', rollBack)).toMatchObject({ status: 409 })
  })
})

/** Binds the DaemonSet to a Rollout, as the controller does. */
async function bind(name: string | null): Promise<void> {
  const body = { metadata: { annotations: { 'tranche.dev/rollout': name } } }
  await client.patch(resourcePaths.daemonSets, key, { type: 'merge', body })
  await vi.waitUntil(
    async () =>
      (await client.get<DaemonSet>(resourcePaths.daemonSets, key)).metadata.annotations?.['tranche.dev/rollout'] === (name ?? undefined),
  )
}

async function release(tag: string): Promise<void> {
  const body = { spec: { template: { spec: { containers: [{ name: 'agent', image: `registry.example/agent:${tag}` }] } } } }
  await client.patch(resourcePaths.daemonSets, key, { type: 'strategic', body })
  await vi.waitUntil(async () => (await revisions())[0]?.images[0]?.endsWith(tag), { timeout: 10_000, interval: 20 })
}

async function revisions(): Promise<HistoryReport['revisions']> {
  return historyReportSchema.parse((await call('/api/v1/namespaces/demo/daemonsets/agent/history')).body).revisions
}

/** Answers the action in the Rollout's annotation, as the controller does. */
async function answerAction(): Promise<void> {
  const { metadata } = await client.get<{ metadata: { annotations?: Record<string, string> } }>(resourcePaths.rollouts, key)
  const { id, type } = JSON.parse(metadata.annotations?.['tranche.dev/action'] ?? '{}') as { id: string; type: string }
  const status = { lastAction: { id, type, result: 'Accepted', at: now() }, answeredActions: [id] }
  await client.patch(resourcePaths.rollouts, key, { type: 'merge', body: { status } }, { subresource: 'status' })
}

describe('the stream', () => {
  it('begins with a reset and all Rollouts, sends changes promptly, and resumes', async () => {
    const first = await openStream()
    expect(await first.next()).toEqual({ type: 'reset' })
    expect(await first.next()).toMatchObject({ type: 'rollout', rollout: { name: 'agent' } })
    await client.patch(resourcePaths.rollouts, key, { type: 'merge', body: { spec: { disabled: true } } })
    const startMs = performance.now()
    expect(await first.until((message) => message.type === 'rollout' && message.rollout.disabled)).toBeDefined()
    expect(performance.now() - startMs).toBeLessThan(2_000)
    first.close()
    await client.patch(resourcePaths.rollouts, key, { type: 'merge', body: { spec: { disabled: false } } })
    const second = await openStream({ 'last-event-id': first.lastId() })
    const types: string[] = []
    await second.until((message) => {
      types.push(message.type)
      return message.type === 'rollout' && !message.rollout.disabled
    })
    expect(types).not.toContain('reset')
    second.close()
  })

  it('with nodes keeps a client at what GET nodes returns: pods, nodes, an unbound DaemonSet, and a Rollout that is created again', async () => {
    const abort = new AbortController()
    const rest = createApiClient({ fetch, baseUrl: `${api.url}/`, token: () => simulator.tokenFor('admin'), clock: systemClock })
    const followed = new NodeClient()
    const following = (async () => {
      for await (const message of rest.stream({ nodes: key, namespace: 'demo', signal: abort.signal })) followed.apply(message)
    })()
    const isSame = (): Promise<void> =>
      vi.waitFor(async () => expect(followed.list()).toEqual(await rest.allNodes(key)), { timeout: 10_000, interval: 50 })
    const revisionOf = (pod: string): string | undefined => followed.list().find((node) => node.pod === pod)?.revision
    await isSame()
    expect(followed.list()).toHaveLength(4)
    for (const bound of ['agent', null]) {
      await bind(bound)
      const { pod = '', revision } = followed.list()[0]!
      await release(`of-${bound}`)
      await client.delete(resourcePaths.pods, { namespace: 'demo', name: pod })
      await vi.waitUntil(() => revisionOf(pod) === undefined, { timeout: 10_000, interval: 20 })
      await isSame()
      expect(followed.list()[0]?.revision).not.toBe(revision)
    }
    await client.patch(resourcePaths.nodes, { namespace: '', name: followed.list()[1]!.name }, zoneLabel)
    await vi.waitUntil(() => followed.list()[1]?.zone === 'zone-b', { timeout: 10_000, interval: 20 })
    await isSame()
    await client.delete(resourcePaths.rollouts, key)
    await vi.waitUntil(() => followed.list().length === 0, { timeout: 10_000, interval: 20 })
    await client.create(resourcePaths.rollouts, rollout() as never)
    await vi.waitUntil(() => followed.list().length === 4, { timeout: 10_000, interval: 20 })
    await isSame()
    abort.abort()
    await expect(following).rejects.toThrow()
    await bind('agent')
  })

  it('requires the right to list, and for one Rollout the right to get it', async () => {
    expect((await call('/api/v1/stream?namespace=demo', { as: 'eve' })).status).toBe(403)
    expect((await call('/api/v1/stream?name=agent')).status).toBe(400)
  })
})

const zoneLabel = { type: 'merge', body: { metadata: { labels: { 'topology.kubernetes.io/zone': 'zone-b' } } } } as const

interface OpenStream {
  next(): Promise<StreamMessage>
  until(done: (message: StreamMessage) => boolean): Promise<StreamMessage>
  lastId(): string
  close(): void
}

async function openStream(headers: Readonly<Record<string, string>> = {}): Promise<OpenStream> {
  const abort = new AbortController()
  const answer = await fetch(`${api.url}/api/v1/stream`, {
    signal: abort.signal,
    headers: { authorization: `Bearer ${simulator.tokenFor('admin')}`, ...headers },
  })
  const messages = readMessages(answer.body!, (id) => void (lastId = id))
  let lastId = ''
  const next = async (): Promise<StreamMessage> => {
    const { value, done } = await messages.next()
    if (done === true) throw new Error('the stream has ended')
    return value
  }
  return {
    next,
    async until(isDone) {
      for (;;) {
        const message = await next()
        if (isDone(message)) return message
      }
    },
    lastId: () => lastId,
    close: () => abort.abort(),
  }
}

async function* readMessages(body: ReadableStream<Uint8Array>, onId: (id: string) => void): AsyncGenerator<StreamMessage, void, undefined> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true })
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) {
      const id = /^id: (.*)$/m.exec(block)?.[1]
      const data = /^data: (.*)$/m.exec(block)?.[1]
      if (id !== undefined) onId(id)
      if (data !== undefined) yield JSON.parse(data) as StreamMessage
    }
  }
}

it('counts requests and reviews, and serves them to callers that may get /metrics', async () => {
  const answer = await fetch(`${api.url}/metrics`, { headers: { authorization: `Bearer ${simulator.tokenFor('admin')}` } })
  expect(answer.headers.get('content-type')).toMatch(/^text\/plain/)
  expect(await answer.text()).toMatch(/tranche_api_reviews_total\{kind="token",result="yes"\} [1-9]/)
  expect((await call('/metrics', { as: 'eve' })).status).toBe(403)
})

it('ends streams when it stops', async () => {
  const other = await startApi({
    exchange: simulator.exchangeFor('tranche-api'),
    clock: systemClock,
    log: silentLogger,
    port: 0,
    limits: patient,
  })
  await other.ready
  const answer = await fetch(`${other.url}/api/v1/stream`, { headers: { authorization: `Bearer ${simulator.tokenFor('admin')}` } })
  const read = answer.text()
  await other.stop()
  expect(await read).toContain('data: {"type":"reset"}')
  await other.stopped
})

it('names the port that is in use', async () => {
  const port = Number(new URL(api.url).port)
  const starting = startApi({ exchange: simulator.exchangeFor('tranche-api'), clock: systemClock, log: silentLogger, port })
  await expect(starting).rejects.toMatchObject({ code: 'PORT_IN_USE' })
})
