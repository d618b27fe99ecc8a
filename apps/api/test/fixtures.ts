import type { RolloutReport, RolloutSummary } from '@tranche/api-schema'
import { type Clock, FakeClock, systemClock } from '@tranche/clock'
import { createKubeClient, type KubeClient } from '@tranche/kube-client'
import { type ObjectKey, keyText } from '@tranche/kube-types'
import { silentLogger } from '@tranche/telemetry'
import { createSimulator, type Simulator } from '@tranche/sim'
import { resources } from '@tranche/sim-api'
import type { Exchange } from '@tranche/wire'
import { type RememberedReviews, rememberReviews } from '../src/auth/remembered-reviews.ts'
import { createReviews } from '../src/auth/reviews.ts'
import { type ApiParts, createApi } from '../src/create-api.ts'
import { createHookHandler } from '../src/hooks/hook-handler.ts'
import { defaultLimits, type Limits } from '../src/limits/limits.ts'
import { createApiMetrics } from '../src/http/metrics.ts'
import type { ApiServer } from '../src/http/create-server.ts'
import type { ReleaseReads } from '../src/cluster/release-reads.ts'

/** The API with a simulated API server for reviews and with fake releases. */
export interface ApiStage {
  readonly app: ApiServer
  readonly simulator: Simulator
  /** Clock of cached reviews. */
  readonly clock: FakeClock
  /** Reviews received by the API server. */
  readonly reviews: string[]
  /** Makes the API server hang (`gone`) or answer with an error (`failing`); null: repairs it. */
  breakReviews(how: 'gone' | 'failing' | null): void
  /** Headers of a request from this user. */
  as(user: string): Readonly<Record<string, string>>
  /** Grants the user verbs on Rollouts (or another resource) in a namespace; undefined: in all namespaces. */
  grant(
    user: string,
    namespace: string | undefined,
    rule: {
      readonly verbs: readonly string[]
      readonly resources?: readonly string[]
      readonly apiGroups?: readonly string[]
      readonly resourceNames?: readonly string[]
    },
  ): Promise<void>
  end(): Promise<void>
}

/** Long limits, so that tests do not fail on a busy machine. */
export const patient = { loopLateMs: 600_000, requestMs: 600_000 } as const

/** Parts that further parts are made of. */
export interface MadeParts {
  /** Clock of cached reviews. */
  readonly clock: Clock
  readonly reviews: RememberedReviews
  /** Connection of the API to the API server. */
  readonly exchange: Exchange
  readonly client: KubeClient
}

const users = ['viewer', 'approver', 'outsider']

export async function startTestApi(
  reads: ReleaseReads,
  options: {
    readonly limits?: Partial<Limits>
    readonly parts?: Partial<ApiParts>
    readonly withParts?: (made: MadeParts) => Partial<ApiParts>
    /** Called before the server is ready, for changes that are impossible later. */
    readonly beforeReady?: (app: ApiServer) => void
  } = {},
): Promise<ApiStage> {
  const actors = Object.fromEntries(users.map((name) => [name, { name, groups: ['people'] }]))
  const simulator = createSimulator({ clock: systemClock, nodes: 0, watchDelayMs: 0, actors })
  const clock = new FakeClock()
  const asked: string[] = []
  let broken: 'gone' | 'failing' | null = null
  const exchange: Exchange = async (request, signal) => {
    asked.push(request.path)
    if (broken === 'gone') throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
    if (broken === 'failing') return { status: 403, headers: {}, body: oneChunk('{"kind":"Status","code":403,"reason":"Forbidden"}') }
    return simulator.exchangeFor('tranche-api')(request, signal)
  }
  const client = createKubeClient({ exchange, clock: systemClock, userAgent: 'tranche-api/test', log: silentLogger })
  const reviews = rememberReviews(createReviews(client, []), clock as Clock)
  const app = await createApi({
    reads,
    reviews,
    log: silentLogger,
    plan: async () => Promise.reject(new Error('nothing is planned here')),
    readPolicy: async () => undefined,
    runDoctor: async () => Promise.reject(new Error('nothing is checked here')),
    readObjectEvents: async () => [],
    carryOut: async () => Promise.reject(new Error('nothing is executed here')),
    limits: { ...defaultLimits, requestsPerSecond: 10_000, ...patient, ...options.limits },
    corsOrigins: [],
    trustProxies: [],
    checkAnswers: true,
    hooks: createHookHandler({ client, clock: clock as Clock, log: silentLogger }),
    stream: () => undefined,
    clock: clock as Clock,
    isSynced: () => true,
    isStopping: () => false,
    metrics: createApiMetrics(),
    ...options.parts,
    ...options.withParts?.({ clock: clock as Clock, reviews, exchange, client }),
  })
  options.beforeReady?.(app)
  await app.ready()
  for (const name of ['demo', 'other']) await simulator.clientFor({ name: 'admin' }).create(resources.namespaces, { metadata: { name } })
  let grants = 0
  return {
    app,
    simulator,
    clock,
    reviews: asked,
    breakReviews: (how) => void (broken = how),
    as: (user) => ({ authorization: `Bearer ${simulator.tokenFor(user)}` }),
    async grant(user, namespace, { verbs, resources: names = ['rollouts'], apiGroups = ['rollouts.kruise.io'], resourceNames }) {
      const name = `grant-${++grants}`
      const admin = simulator.clientFor({ name: 'admin' })
      const rules = [{ apiGroups, resources: names, verbs, ...(resourceNames && { resourceNames }) }]
      await admin.create(resources.clusterRoles, { metadata: { name }, rules })
      const binding = {
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
      }
      if (namespace === undefined) await admin.create(resources.clusterRoleBindings, { metadata: { name }, ...binding })
      else await admin.create(resources.roleBindings, { metadata: { name, namespace }, ...binding })
    },
    async end() {
      await app.close()
      simulator.stop()
    },
  }
}

/** Serves reads from fake summaries. */
export function readsOf(summaries: readonly RolloutSummary[]): ReleaseReads {
  const byKey = new Map(summaries.map((summary) => [keyText(summary), summary]))
  const of = (key: ObjectKey): RolloutSummary | undefined => byKey.get(keyText(key))
  const unknown = (key: ObjectKey): [] | undefined => (of(key) === undefined ? undefined : [])
  return {
    keys: () => [...byKey.values()],
    heads: () => [...byKey.values()],
    rollout: () => undefined,
    summary: of,
    report: (key) => reportOf(of(key)),
    nodes: unknown,
    explainNode: () => undefined,
    nodeObjects: () => undefined,
    explain: () => undefined,
    batches: unknown,
    revisions: unknown,
    template: () => undefined,
    history: () => undefined,
    events: unknown,
    rolloutOf: () => undefined,
    unboundWorkload: () => undefined,
    // Each DaemonSet of the summaries is bound to its Rollout.
    boundRolloutOf: ({ namespace, name }) => summaries.find((one) => one.namespace === namespace && one.daemonSet === name),
    daemonSetHistory: () => undefined,
  }
}

export function aSummary(fields: Partial<RolloutSummary> = {}): RolloutSummary {
  return {
    namespace: 'demo',
    name: 'agent',
    daemonSet: 'agent',
    phase: 'Healthy',
    reason: 'Completed',
    outcome: 'Done',
    message: 'nothing is waited for',
    paused: false,
    disabled: false,
    images: ['registry.example/agent:v1'],
    nodes: { desired: 10, updated: 10, updatedAvailable: 10, unavailable: 0, failed: 0, leaked: 0, skipped: 0 },
    createdAt: '2026-03-01T08:00:00Z',
    resourceVersion: '1',
    ...fields,
  }
}

function reportOf(summary: RolloutSummary | undefined): RolloutReport | undefined {
  if (summary === undefined) return undefined
  return { ...summary, steps: [], heldRevisions: [], actions: [], zones: [], skippedNodes: [], conditions: [] }
}

async function* oneChunk(text: string): AsyncGenerator<string> {
  yield text
}
