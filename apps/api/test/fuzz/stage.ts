import { createHmac } from 'node:crypto'
import { Agent, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { customResourceDefinitions, type Rollout } from '@tranche/api-schema'
import { FakeClock, systemClock } from '@tranche/clock'
import { createKubeClient, type KubeClient, resourcePaths } from '@tranche/kube-client'
import type { DaemonSet } from '@tranche/kube-types'
import { silentLogger } from '@tranche/telemetry'
import { createSimulator, type Simulator } from '@tranche/sim'
import type { Actor, FaultInjector } from '@tranche/sim-api'
import { startApi } from '../../src/index.ts'
import { createSeal } from '../../src/login/sealed.ts'
import { createSessions } from '../../src/login/sessions.ts'
import { patient } from '../fixtures.ts'
import type { FuzzRequest, Sender } from './requests.ts'
import { type Answer, send } from './send.ts'

/** Objects that the API can write. */
export interface Store {
  readonly rollout: Rollout
  readonly daemonSet: DaemonSet
}

/** The API beside a simulated cluster, with sockets, watches, reviews, hooks and sessions. Without a controller, releases do not change. */
export interface FuzzStage {
  readonly url: string
  /** Revision hashes of the DaemonSet, newest first. */
  readonly revisions: readonly string[]
  store(): Promise<Store>
  /** Sets a static state of the release: `waiting` for approval at its first step, or stopped because it has `failed`. */
  enter(state: 'waiting' | 'failed'): Promise<void>
  /** Restores that state. */
  restore(stands: Store): Promise<void>
  /** Sends a request, and advances the API's clock while the request waits. @returns null if the connection was closed */
  send(request: FuzzRequest): Promise<Answer | null | 'hung'>
  end(): Promise<void>
}

const EXTERNAL = 'https://tranche.example.com'
const HOOK_KEY = 'a key of thirty-two bytes or more'
const SESSION_KEY = 'k'.repeat(32)
const key = { namespace: 'demo', name: 'agent' }
/** Time after which a request counts as hung, in milliseconds of real time. */
const HUNG_MS = 120_000

/** Options of {@link openFuzzStage}. */
export interface FuzzStageOptions {
  /** Time limit of a forecast, in milliseconds; 1 only starts its thread. */
  readonly planMs: number
  /** User of the API at the cluster. @default a user that may do everything */
  readonly api?: Actor
  /** Receives every request of the API to the cluster, and can inject faults. */
  readonly faults?: FaultInjector
  /** Writes objects that must exist before the API starts. */
  readonly prepare?: (simulator: Simulator, client: KubeClient) => Promise<void>
}

/** Creates the cluster and starts the API. */
export async function openFuzzStage({ planMs, api: apiActor, faults, prepare }: FuzzStageOptions): Promise<FuzzStage> {
  const actors = { eve: { name: 'eve', groups: [] }, ...(apiActor && { 'tranche-api': apiActor }) }
  const options = { clock: systemClock, nodes: 4, speed: 1_000, watchDelayMs: 0, actors, ...(faults && { faults }) }
  const simulator = createSimulator(options)
  const client = createKubeClient({ exchange: simulator.exchangeFor('admin'), clock: systemClock, userAgent: 'test/1', log: silentLogger })
  await simulator.start()
  const revisions = await furnish(client)
  await prepare?.(simulator, client)
  const provider = await startProvider()
  const clock = new FakeClock(Date.now())
  const api = await startApi({
    exchange: simulator.exchangeFor('tranche-api'),
    clock,
    log: silentLogger,
    port: 0,
    hooks: true,
    trustProxies: ['127.0.0.1'],
    limits: { ...patient, requestsPerSecond: 1_000_000, planMs },
    login: { ...loginOptions, issuer: provider.issuer },
  })
  await api.ready
  const agent = new Agent({ keepAlive: true })
  const identify = await identities(simulator, clock)
  // A logout ends its own session: other requests use other sessions.
  const leave = await identities(simulator, clock)

  async function store(): Promise<Store> {
    const [rollout, daemonSet] = await Promise.all([
      client.get<Rollout>(resourcePaths.rollouts, key),
      client.get<DaemonSet>(resourcePaths.daemonSets, key),
    ])
    return { rollout, daemonSet }
  }
  const waiting = await store()
  const failed = { ...waiting, rollout: { ...waiting.rollout, status: { ...waiting.rollout.status, conditions: [stalled] } } } as Store
  let first = waiting

  return {
    url: api.url,
    revisions,
    store,
    async enter(state) {
      first = state === 'waiting' ? waiting : failed
      await put(client, first)
    },
    async restore(stands) {
      if (imageOf(stands) !== imageOf(first)) await put(client, first)
    },
    send(request) {
      const { method, target, body, isChunked } = request
      const sender = request.operation.id === 'logOut' ? leave : identify
      const headers = { ...signature(request, clock), ...request.headers, ...sender(request.sender) }
      return timed(send({ url: api.url, agent, method, target, headers, body, isChunked }), request, clock)
    },
    async end() {
      agent.destroy()
      await api.stop()
      provider.close()
      simulator.stop()
    },
  }
}

/** @returns all objects that the API can write, as text */
export function imageOf({ rollout, daemonSet }: Store): string {
  return JSON.stringify([rollout.spec, rollout.metadata.annotations, daemonSet.spec, daemonSet.metadata.annotations])
}

/**
 * Advances the API's clock step by step while a request waits. Other requests need no time.
 *
 * @returns null if the connection was closed; `hung` if there is no answer after minutes of real time
 */
async function timed(
  answer: Promise<Answer | null>,
  { operation, target }: FuzzRequest,
  clock: FakeClock,
): Promise<Answer | null | 'hung'> {
  let isOver = false
  const guard = Promise.withResolvers<'hung'>()
  const timer = systemClock.setTimer(HUNG_MS, () => guard.resolve('hung'))
  const outcome = Promise.race([answer, guard.promise]).finally(() => {
    isOver = true
    timer.cancel()
  })
  outcome.catch(() => {})
  while (!isOver && (operation.id === 'stream' || /[?&]wait=[1-9]/.test(target))) {
    await turns(30, () => isOver)
    clock.advance(1_000)
  }
  return outcome
}

async function turns(most: number, isOver: () => boolean): Promise<void> {
  for (let turn = 0; turn < most && !isOver(); turn++) await new Promise((resolve) => setImmediate(resolve))
}

function signature({ signed, body = Buffer.alloc(0) }: FuzzRequest, clock: FakeClock): Readonly<Record<string, string>> {
  if (signed === 'not') return {}
  const seconds = Math.floor(clock.nowMs() / 1000)
  const digest = createHmac('sha256', signed === 'well' ? HOOK_KEY : 'another key')
    .update(`${seconds}.`)
    .update(body)
    .digest('hex')
  return { 'x-tranche-signature': `t=${seconds},v1=${digest}` }
}

async function identities(simulator: Simulator, clock: FakeClock): Promise<(sender: Sender) => Readonly<Record<string, string>>> {
  const sessions = createSessions(createSeal([SESSION_KEY], EXTERNAL, clock), () => EXTERNAL, clock)
  const [cookie = ''] = (await sessions.begin({ username: 'admin', groups: ['system:masters'] })).split(';')
  const session = await sessions.of({ cookie })
  const bearer = (token: string): Readonly<Record<string, string>> => ({ authorization: `Bearer ${token}` })
  const headers: Readonly<Record<Sender, Readonly<Record<string, string>>>> = {
    admin: bearer(simulator.tokenFor('admin')),
    session: { cookie, 'x-csrf-token': session?.csrfToken ?? '', origin: EXTERNAL },
    page: { cookie, origin: 'https://evil.example' },
    eve: bearer(simulator.tokenFor('eve')),
    outsider: {},
    stranger: bearer('guessed'),
    basic: { authorization: 'Basic YWRtaW46YWRtaW4=' },
    endless: bearer('x'.repeat(20_000)),
  }
  return (sender) => headers[sender]
}

const loginOptions = {
  clientId: 'tranche',
  clientSecret: 'secret',
  usernameClaim: 'sub',
  usernamePrefix: '',
  groupsClaim: 'groups',
  groupsPrefix: '',
  externalUrl: EXTERNAL,
  sessionKeys: [SESSION_KEY],
}

/** An OpenID provider that supports discovery and issues no tokens. */
async function startProvider(): Promise<{ readonly issuer: string; close(): void }> {
  const server = createServer((request, response) => {
    const isFound = request.url === '/.well-known/openid-configuration'
    response
      .writeHead(isFound ? 200 : 400, { 'content-type': 'application/json' })
      .end(
        JSON.stringify(
          isFound
            ? { issuer, authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token`, jwks_uri: `${issuer}/keys` }
            : { error: 'invalid_grant' },
        ),
      )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { issuer, close: () => void server.close() }
}

/** @returns the revision hashes of the DaemonSet, newest first */
async function furnish(client: KubeClient): Promise<readonly string[]> {
  for (const definition of customResourceDefinitions) await client.create(resourcePaths.customResourceDefinitions, definition as never)
  await client.create(resourcePaths.namespaces, { metadata: { name: 'demo' } } as never)
  await client.create(resourcePaths.secrets, hook as never)
  await client.create(resourcePaths.daemonSets, daemonSet as never)
  await untilRevisions(client, 1)
  await client.patch(resourcePaths.daemonSets, key, { type: 'merge', body: { metadata: { annotations: { changed: 'once' } } } })
  await client.patch(resourcePaths.daemonSets, key, {
    type: 'json',
    body: [{ op: 'replace', path: imagePath, value: 'registry.example/agent:v2' }],
  })
  const revisions = await untilRevisions(client, 2)
  await client.create(resourcePaths.rollouts, rollout as never)
  await client.patch(resourcePaths.rollouts, key, { type: 'merge', body: { status: paused } }, { subresource: 'status' })
  return revisions
}

async function untilRevisions(client: KubeClient, count: number): Promise<readonly string[]> {
  for (;;) {
    const { items } = await client.list<{ readonly metadata: { readonly name: string }; readonly revision: number }>(
      resourcePaths.controllerRevisions,
      { namespace: key.namespace },
    )
    if (items.length >= count)
      return [...items].sort((a, b) => b.revision - a.revision).map(({ metadata }) => metadata.name.slice(key.name.length + 1))
    await new Promise((resolve) => setImmediate(resolve))
  }
}

async function put(client: KubeClient, { rollout: was, daemonSet: stood }: Store): Promise<void> {
  const back = (object: Rollout | DaemonSet, path: '/spec' | '/spec/template', value: unknown): never =>
    ({
      type: 'json',
      body: [
        { op: 'add', path: '/metadata/annotations', value: object.metadata.annotations ?? {} },
        { op: 'replace', path, value },
      ],
    }) as never
  await client.patch(resourcePaths.daemonSets, key, back(stood, '/spec/template', stood.spec.template))
  const { metadata } = await client.patch<Rollout>(resourcePaths.rollouts, key, back(was, '/spec', was.spec))
  const status = { ...was.status, observedGeneration: metadata.generation }
  await client.patch(
    resourcePaths.rollouts,
    key,
    { type: 'json', body: [{ op: 'replace', path: '/status', value: status }] },
    { subresource: 'status' },
  )
}

const labels = { app: 'agent' }
const imagePath = '/spec/template/spec/containers/0/image'
const daemonSet = {
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: key,
  spec: {
    selector: { matchLabels: labels },
    updateStrategy: { type: 'OnDelete' },
    template: { metadata: { labels }, spec: { containers: [{ name: 'agent', image: 'registry.example/agent:v1' }] } },
  },
}
const rollout = {
  apiVersion: 'rollouts.kruise.io/v1beta1',
  kind: 'Rollout',
  metadata: key,
  spec: {
    workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent' },
    strategy: { canary: { steps: [{ replicas: 1, pause: {} }, { replicas: '50%', pause: {} }, { replicas: '100%' }] } },
  },
}
const hook = {
  metadata: {
    name: 'ci',
    namespace: key.namespace,
    labels: { 'tranche.dev/hook': 'true' },
    annotations: { 'tranche.dev/hook-rollout': 'agent', 'tranche.dev/hook-actions': 'pause,resume,approve,promote,abort,retry,undo,jump' },
  },
  data: { key: Buffer.from(HOOK_KEY).toString('base64') },
}
const moment = '2026-01-01T00:00:00Z'
const stalled = {
  type: 'Stalled',
  status: 'True',
  reason: 'ReleaseFailed',
  message: 'too many nodes have failed',
  lastUpdateTime: moment,
  lastTransitionTime: moment,
}
const paused = {
  observedGeneration: 1,
  phase: 'Progressing',
  message: 'waits for a person at step 1',
  currentStepIndex: 1,
  currentStepState: 'StepPaused',
  conditions: [
    { type: 'Progressing', status: 'True', reason: 'InRolling', message: '', lastUpdateTime: moment, lastTransitionTime: moment },
  ],
  canaryStatus: {
    canaryRevision: 'v2',
    stableRevision: 'v1',
    podTemplateHash: 'v2',
    canaryReplicas: 1,
    canaryReadyReplicas: 1,
    currentStepIndex: 1,
    nextStepIndex: 2,
    currentStepState: 'StepPaused',
    finalisingStep: '',
    lastUpdateTime: moment,
  },
}
