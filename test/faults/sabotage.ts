import type { FlightRecord, Rollout } from '@tranche/api-schema'
import { type Failpoints, noFailpoints } from '@tranche/failpoints'
import type { PinPort } from '@tranche/controllers'
import type { ExecutorPort, ExecutorReading } from '@tranche/partition-executor'
import type { Exchange, WireRequest } from '@tranche/wire'
import { NEXT_IN_ACTIONS, NEXT_MEMBER, policiesOf, type Version } from '../scenarios/next-version.ts'
import type { Ask, Incident, Role, Schedule } from './schedule.ts'

/** A way to break our programs on purpose, where they meet the cluster. */
export interface Sabotage {
  /** The fault, in the present tense. */
  readonly fault: string
  /** Guarantees of which the bench must find at least one broken. */
  readonly breaks: readonly string[]
  /** Seed to begin with: one that has shown the fault. @default 1 */
  readonly from?: number
  /** Changes a schedule so that the fault shows early. */
  readonly among: (schedule: Schedule) => Schedule
  /** Wraps the ports of every program. */
  readonly ports: Failpoints
  /** Wraps the requests of every program, on the inside of the layer that makes it one of the next version. */
  readonly exchange: (exchange: Exchange, sender: Sender) => Exchange
  /** Policies to install. @default those of the version */
  readonly policiesOf?: typeof policiesOf
}

/** Sender of the requests. */
export interface Sender {
  readonly version: Version
  readonly role: Role
}

/** A fault that shows only when our programs are replaced in mid-release. */
export interface UpgradeSabotage extends Sabotage {
  /** Number of upgrades in a world. */
  readonly upgrades: number
}

/** Faults of upgrades that the bench must find. */
export const upgradeSabotages: readonly UpgradeSabotage[] = [
  {
    ...atUpgrades('a status write loses a member of a newer version', ['G7'], {
      present: (request) => (request.method === 'PUT' && /\/rollouts\/[^/?]+\/status/.test(request.path) ? withoutNext(request) : request),
    }),
    from: 2,
  },
  {
    ...atUpgrades('a write of the permit record loses a member of a newer version', ['G7'], {
      present: (request) => (isRecordWrite(request) ? withoutNext(request) : request),
    }),
    from: 2,
  },
  atUpgrades('executors of the next version delete pods without preconditions', ['G4'], {
    next: (request) => (request.method === 'DELETE' && request.path.includes('/pods/') ? { ...request, body: undefined } : request),
  }),
]

/** Faults of the API, of admission, and of the change observer, which the bench must find when these are replaced in mid-release. */
export const apiSabotages: readonly UpgradeSabotage[] = [
  {
    ...atUpgrades('the API does not see the record of actions', ['G7'], {}),
    among: withAsks(['pause', 'resume', 'pause', 'resume']),
    exchange: (exchange, { role }) => (role === 'api' ? withoutRecordIn(exchange) : exchange),
  },
  {
    ...atUpgrades('the API of the present version drops a member of a newer version from the record', ['G7'], {
      present: (request) => (/"path":"[^"]*recorded-actions"/.test(request.body ?? '') ? withoutNextInActions(request) : request),
    }),
    among: withAsks(['pause', 'resume', 'pause', 'resume']),
  },
  {
    ...atUpgrades('the change observer of the present version drops a member of a newer version', ['G7'], {
      present: (request) => (/"path":"[^"]*observed-changes"/.test(request.body ?? '') ? withoutNextInActions(request) : request),
    }),
    among: withPeople,
  },
  {
    ...atUpgrades('the change observer reports nothing', ['G7'], { present: withReports(() => false), next: withReports(() => false) }),
    among: withSteps,
  },
  {
    ...atUpgrades('the change observer reports only every second change', ['G7'], {
      present: withReports(isEven),
      next: withReports(isEven),
    }),
    among: withSteps,
  },
  {
    ...atUpgrades('the API approves the step after the one that was asked for', ['G10'], {}),
    among: withAsks(['approve', 'approve', 'approve', 'approve']),
    exchange:
      (exchange, { role }) =>
      (request, signal) =>
        exchange(role === 'api' && request.body?.includes('approve') === true ? withOtherStep(request) : request, signal),
  },
  {
    // The API reads a template that the DaemonSet does not have.
    ...atUpgrades('the API refuses every undo', ['G7'], {}),
    among: withAsks(['undo', 'undo', 'undo', 'undo']),
    exchange: (exchange, { role }) => (role === 'api' ? withReadDaemonSet(exchange, '"image":"', '"image":"other/') : exchange),
  },
  {
    // The API takes every DaemonSet for unbound.
    ...atUpgrades('the API refuses every restart', ['G7'], {}),
    among: withAsks(['restart', 'restart', 'restart', 'restart']),
    exchange: (exchange, { role }) =>
      role === 'api' ? withReadDaemonSet(exchange, '"tranche.dev/rollout"', '"tranche.dev/forgotten"') : exchange,
  },
  {
    ...atUpgrades('policies of the next version let new templates pass', ['G3'], {}),
    among: withTemplates,
    policiesOf: (version) => policiesOf(version).filter(({ metadata }) => version === 'present' || metadata.name !== 'daemonsets'),
  },
]

/** Faults that the bench must find. */
export const sabotages: readonly Sabotage[] = [
  inReading('executors use a limit that is one too high', ['G1', 'G2'], (reading) =>
    withFlight(reading, ({ limit }) => ({ limit: limit + 1 })),
  ),
  {
    ...inReading('executors treat every batch as the last', ['G3'], ({ published, ...reading }) =>
      withFlight({ ...reading, published: { ...published, partition: 0 } }, () => ({ size: 1_000, partition: 0 })),
    ),
    from: 4,
  },
  inRequests('pods are deleted without preconditions', ['G4'], (request) =>
    request.method === 'DELETE' && request.path.includes('/pods/') ? { ...request, body: undefined } : request,
  ),
  {
    ...inReading('executors ignore every stop', ['G9'], ({ published, ...reading }) =>
      withFlight({ ...reading, published: { ...published, paused: false } }, () => ({ state: 'open', holds: [] })),
    ),
    among: withPauses,
  },
  {
    ...inReading('executors continue with a version that fails', ['G9'], ({ published, release, ...reading }) => {
      const { failure: _, ...status } = release.status ?? {}
      const tranche = { ...release.spec.tranche, failure: { action: 'Continue' } }
      const heedless = { ...reading, published, release: { ...release, spec: { ...release.spec, tranche }, status } } as ExecutorReading
      // The controller judges by the same rules, and would otherwise stop them.
      const isStopped = status.flight?.holds.some(({ reason }) => reason === 'ReleaseFailed') === true
      if (!isStopped) return heedless
      return withFlight({ ...heedless, published: { ...published, paused: false } }, () => ({ state: 'open', holds: [] }))
    }),
    among: withFailures,
  },
  {
    ...inReading('executors ignore node rules', ['G1', 'G3', 'G5'], ({ release, ...reading }) => {
      const { nodes: _, ...tranche } = release.spec.tranche ?? {}
      const lawless = { ...reading, release: { ...release, spec: { ...release.spec, tranche } } } as ExecutorReading
      return withFlight(lawless, () => ({ scope: undefined }))
    }),
    among: withNodeRules,
  },
  inRequests('a status overwrites a concurrent update', ['G10'], (request) =>
    request.method === 'PUT' && /\/rollouts\/[^/?]+\/status/.test(request.path) ? asMergePatch(request) : request,
  ),
  {
    ...inRequests('a status loses a revision that was rolled back', ['G12'], (request) =>
      request.method === 'PUT' && /\/rollouts\/[^/?]+\/status/.test(request.path)
        ? { ...request, body: withoutRolledBack(request.body) }
        : request,
    ),
    among: withRollbacks,
  },
  inRequests('controllers change a field of the DaemonSet that does not belong to Tranche', ['G11'], (request) =>
    request.method === 'PATCH' && request.path.includes('/daemonsets/') ? { ...request, body: withShortHistory(request.body) } : request,
  ),
  inPins('config is pinned while the native controller replaces pods', ['G3'], (port) => ({
    pin: (daemonSet, write, signal) => port.pin(daemonSet, { ...write, operations: [] }, signal),
  })),
  inPins('config is pinned by content that no user wrote', ['G11'], (port) => ({
    read: async (...on) => withLevel(await port.read(...on), 'of another cluster'),
  })),
  {
    ...inPins('a rolled back content is offered again', ['G12'], (port) => ({
      async read(...on) {
        const view = await port.read(...on)
        const isRolledBack = JSON.stringify(view.template).includes(view.offered ?? '') === false
        return isRolledBack ? { ...view, offered: 'ConfigMap/agent=forgotten' } : view
      },
    })),
    among: (schedule) => withConfigChanges(schedule, [{ kind: 'act', type: 'abort', atMs: 14_000 }]),
  },
  {
    ...inRequests('the strategy of a DaemonSet is never restored', ['G6'], (request) =>
      request.method === 'PATCH' && request.path.includes('/daemonsets/') ? { ...request, body: withoutRestoring(request.body) } : request,
    ),
    from: 6,
  },
]

/** @param change of calls for copies of config */
function inPins(fault: string, breaks: readonly string[], change: (port: PinPort) => Partial<PinPort>): Sabotage {
  const ports: Failpoints = {
    wrap(name, port) {
      if (name !== 'pins') return port
      const whole = port as unknown as PinPort
      const changed = change(whole)
      return new Proxy(port, {
        get(target, member) {
          const value = changed[member as keyof PinPort] ?? (Reflect.get(target, member) as unknown)
          return typeof value === 'function' ? (value as (this: unknown) => unknown).bind(target) : value
        },
      })
    },
  }
  return { fault, breaks, among: (schedule) => withConfigChanges(schedule, []), ports, exchange: (exchange) => exchange }
}

/** Only config changes, in a world that pins it. */
function withConfigChanges({ shape, ...rest }: Schedule, more: readonly Incident[]): Schedule {
  const config = { kinds: ['plain'], isRead: false, isPinned: true } as const
  const { companion: _, ...alone } = shape
  const change = { admission: 'inProcess', declares: 'RollingUpdate', nodes: Math.max(4, shape.nodes), minReadySeconds: 0 } as const
  const steps = [{ replicas: '50%', pause: { duration: 60 } }, { replicas: '100%' }]
  const writes = ['debug', 'trace'].map((level, at): Incident => ({ kind: 'writeConfig', level, atMs: 1_000 + at * 120_000 }))
  const incidents = inOrder([...writes, ...more])
  return { ...rest, shape: { ...alone, ...change, steps, policy: { config: 'Pin' }, config }, incidents, stormMs: 300_000 }
}

/** Objects of other users, whose content is this. */
function withLevel(view: Awaited<ReturnType<PinPort['read']>>, level: string): typeof view {
  const sources = [...view.sources].map(([key, reading]) => {
    return [key, reading.kind === 'found' ? { ...reading, source: { ...reading.source, data: { level } } } : reading] as const
  })
  return { ...view, sources: new Map(sources) }
}

function asDrawn(schedule: Schedule): Schedule {
  return schedule
}

/** Every new version fails on each node and recovers there, so that there is budget left to continue; the policy says Pause. */
function withFailures({ shape, incidents, ...rest }: Schedule): Schedule {
  const policy = { failure: { action: 'Pause' } } as const
  const steps = [{ replicas: '100%' }]
  const change = { nodes: Math.max(8, shape.nodes), steps, policy, maxUnavailable: 3, minReadySeconds: 0 }
  const failing = (incident: Incident): Incident => (incident.kind === 'template' ? { ...incident, tag: 'v8-bad-heals' } : incident)
  return { ...rest, shape: { ...shape, ...change }, incidents: incidents.map(failing) }
}

/** A user pauses the release while its only batch is in progress. */
function withPauses({ shape, incidents, ...rest }: Schedule): Schedule {
  const change = { nodes: Math.max(8, shape.nodes), steps: [{ replicas: '100%' }], maxUnavailable: 3, minReadySeconds: 0 } as const
  const pauses = [4, 10, 20].map((seconds): Incident => ({ kind: 'pause', atMs: 1_000 * seconds }))
  return { ...rest, shape: { ...shape, ...change }, incidents: [...incidents, ...pauses].toSorted((a, b) => a.atMs - b.atMs) }
}

/** The only incident is a new version that fails at once; the policy rolls it back. */
function withRollbacks({ shape, ...rest }: Schedule): Schedule {
  const change = { steps: [{ replicas: '100%' }], policy: { failure: { action: 'Rollback' } } } as const
  return { ...rest, shape: { ...shape, ...change }, incidents: [{ kind: 'template', tag: 'v8-bad-crash', whole: false, atMs: 1_000 }] }
}

/** One zone is excluded, and in the others one node at a time may be down. */
function withNodeRules({ shape, ...rest }: Schedule): Schedule {
  const topologyKey = 'topology.kubernetes.io/zone'
  const nodes = { exclude: [{ matchLabels: { [topologyKey]: 'zone-a' } }], spread: [{ topologyKey, maxUnavailable: 1 }] }
  return { ...rest, shape: { ...shape, nodes: Math.max(6, shape.nodes), policy: { nodes }, maxUnavailable: 3 } }
}

/** @param change of the data that executors read; apart from permits, their writes of the record keep the stored values */
function inReading(fault: string, breaks: readonly string[], change: (reading: ExecutorReading) => ExecutorReading): Sabotage {
  const ports: Failpoints = {
    wrap(name, port) {
      if (name !== 'executor') return port
      const { read, writeRecord } = port as unknown as ExecutorPort
      let stored: Partial<FlightRecord> = {}
      const executor: Pick<ExecutorPort, 'read' | 'writeRecord'> = {
        read(key) {
          const reading = read(key)
          if (reading === null) return null
          const { limit, size, partition, state, holds, scope } = reading.release.status?.flight ?? {}
          stored = { limit, size, partition, state, holds, ...(scope !== undefined && { scope }) } as Partial<FlightRecord>
          return change(reading)
        },
        writeRecord: (release, record, signal) => writeRecord(release, { ...record, ...stored }, signal),
      }
      return { ...port, ...executor }
    },
  }
  return { fault, breaks, among: asDrawn, ports, exchange: (exchange) => exchange }
}

function inRequests(fault: string, breaks: readonly string[], change: (request: WireRequest) => WireRequest): Sabotage {
  return {
    fault,
    breaks,
    among: asDrawn,
    ports: noFailpoints,
    exchange: (exchange) => (request, signal) => exchange(change(request), signal),
  }
}

/** @param changes of requests, by the version of the sender @default none */
function atUpgrades(
  fault: string,
  breaks: readonly string[],
  changes: Partial<Readonly<Record<Version, (request: WireRequest) => WireRequest>>>,
): UpgradeSabotage {
  return {
    ...inRequests(fault, breaks, (request) => request),
    among: withUpgradesOnly,
    upgrades: 3,
    exchange:
      (exchange, { version }) =>
      (request, signal) =>
        exchange(changes[version]?.(request) ?? request, signal),
  }
}

/** Only the first template and upgrades, one after the other; no upgrade removes definitions. */
function withUpgradesOnly({ incidents, ...rest }: Schedule): Schedule {
  const upgrades = incidents.filter(({ kind }) => kind === 'upgrade')
  const inTurn = upgrades.map((incident, at): Incident => ({ ...incident, ...stay, atMs: (at + 1) * UPGRADE_EVERY_MS }))
  const [first] = incidents.filter(({ kind, atMs }) => kind === 'template' && atMs === 1_000)
  return { ...rest, stormMs: (upgrades.length + 1) * UPGRADE_EVERY_MS, incidents: [...(first === undefined ? [] : [first]), ...inTurn] }
}

const UPGRADE_EVERY_MS = 20_000
const stay = { definitions: 'stay' } as const

/** In a release of many steps, a person asks the API for one action after the other, while it is replaced. */
function withAsks(types: readonly Ask['type'][]): (schedule: Schedule) => Schedule {
  return (schedule) => {
    const { incidents, shape, ...rest } = withUpgradesOnly(schedule)
    const asks = types.map((type, at): Incident => ({ kind: 'ask', type, lookedMs: 0, waitMs: 0, atMs: (at + 1) * ASK_EVERY_MS }))
    return { ...rest, shape: { ...shape, ...manySteps }, incidents: inOrder([...incidents, ...asks]) }
  }
}

/** A person pauses and resumes outside Tranche, while everything is replaced. */
function withPeople(schedule: Schedule): Schedule {
  const { incidents, ...rest } = withUpgradesOnly(schedule)
  const pauses = Array.from(
    { length: 12 },
    (_, at): Incident => ({ kind: at % 2 === 0 ? 'pause' : 'resume', atMs: (at + 1) * PAUSE_EVERY_MS }),
  )
  return { ...rest, incidents: inOrder([...incidents, ...pauses]) }
}

/** A release of many steps, each of which waits for a person. */
function withSteps(schedule: Schedule): Schedule {
  const { shape, ...rest } = withUpgradesOnly(schedule)
  return { ...rest, shape: { ...shape, ...manySteps } }
}

/** Keeps only the observed changes that satisfy `isKept`, by the version in which they were observed. */
function withReports(isKept: (version: number) => boolean): (request: WireRequest) => WireRequest {
  return (request) => {
    if (!/"path":"[^"]*observed-changes"/.test(request.body ?? '')) return request
    const patch = JSON.parse(request.body!) as readonly { readonly op: string; readonly path: string; readonly value?: unknown }[]
    const changed = patch.map((operation) => {
      if (operation.op === 'test' || typeof operation.value !== 'string') return operation
      const items = JSON.parse(operation.value) as readonly { readonly id: string }[]
      return { ...operation, value: JSON.stringify(items.filter(({ id }) => isKept(Number(id.split('-')[1])))) }
    })
    return { ...request, body: JSON.stringify(changed) }
  }
}

function isEven(version: number): boolean {
  return version % 2 === 0
}

/** A person applies one template after the other, with policies that are replaced but never removed. */
function withTemplates(schedule: Schedule): Schedule {
  const { incidents, shape, ...rest } = withUpgradesOnly(schedule)
  const standing = incidents.map((incident): Incident => (incident.kind === 'upgrade' ? { ...incident, admissionAwayMs: 0 } : incident))
  const templates = Array.from(
    { length: 4 },
    (_, at): Incident => ({ kind: 'template', tag: `v${at + 3}`, whole: true, atMs: (at + 1) * ASK_EVERY_MS }),
  )
  return { ...rest, shape: { ...shape, admission: 'policy', declares: 'RollingUpdate' }, incidents: inOrder([...standing, ...templates]) }
}

const ASK_EVERY_MS = 17_000
const PAUSE_EVERY_MS = 6_000
const manySteps = {
  nodes: 8,
  policy: null,
  steps: [10, 30, 50, 70, 100].map((percent) => ({ replicas: `${percent}%`, pause: {} })),
} as const

function inOrder(incidents: readonly Incident[]): readonly Incident[] {
  return incidents.toSorted((a, b) => a.atMs - b.atMs)
}

function withoutRecordIn(exchange: Exchange): Exchange {
  return async (request, signal) => {
    const response = await exchange(request, signal)
    return { ...response, body: renamed(response.body, 'tranche.dev/recorded-actions', 'tranche.dev/forgotten') }
  }
}

/** Changes the response when one DaemonSet is read before an action is written, but not lists and watches. */
function withReadDaemonSet(exchange: Exchange, text: string, by: string): Exchange {
  return async (request, signal) => {
    const response = await exchange(request, signal)
    const isRead = request.method === 'GET' && /\/daemonsets\/[^/?]+$/.test(request.path)
    return isRead ? { ...response, body: renamed(response.body, text, by) } : response
  }
}

async function* renamed(body: AsyncIterable<string>, text: string, by: string): AsyncIterable<string> {
  for await (const chunk of body) yield chunk.replaceAll(text, by)
}

/** Keeps tests of the patch; otherwise nothing would be written. */
function withoutNextInActions(request: WireRequest): WireRequest {
  const patch = JSON.parse(request.body!) as readonly { readonly op: string; readonly value?: unknown }[]
  const member = new RegExp(`"${NEXT_IN_ACTIONS}":"[^"]*",?`, 'g')
  const changed = patch.map((operation) =>
    operation.op === 'test' || typeof operation.value !== 'string'
      ? operation
      : { ...operation, value: operation.value.replaceAll(member, '') },
  )
  return { ...request, body: JSON.stringify(changed) }
}

/** In the action and in its record. */
function withOtherStep(request: WireRequest): WireRequest {
  return {
    ...request,
    body: request.body!.replaceAll(/\\"expectedStep\\":(\d+)/g, (_, step: string) => String.raw`\"expectedStep\":${Number(step) + 1}`),
  }
}

function isRecordWrite({ method, path, body = '' }: WireRequest): boolean {
  return method === 'PATCH' && /\/batchreleases\//.test(path) && body.includes('"path":"/status/flight","value"')
}

function withoutNext(request: WireRequest): WireRequest {
  const body = JSON.parse(request.body ?? '{}', (name, value: unknown) => (name === NEXT_MEMBER ? undefined : value)) as object
  return { ...request, body: JSON.stringify(body) }
}

/** Members that leave the status while others stay. */
const leaving = {
  pausedSince: null,
  settlingUntil: null,
  waitingFor: null,
  failure: null,
  stepNodes: null,
  leaked: null,
  skippedNodes: null,
}

/** The same status, for any version of the object. */
function asMergePatch({ path, headers, body = '{}' }: WireRequest): WireRequest {
  const { status } = JSON.parse(body) as Rollout
  return {
    method: 'PATCH',
    path,
    headers: { ...headers, 'content-type': 'application/merge-patch+json' },
    // A merge patch keeps members that it does not name: one that stays in the status forever would be written again in every pass.
    body: JSON.stringify({ status: { ...leaving, ...status } }),
  }
}

function withoutRolledBack(body = '{}'): string {
  const rollout = JSON.parse(body) as Rollout
  const heldRevisions = rollout.status?.heldRevisions?.filter(({ reverted }) => reverted === false)
  return JSON.stringify({ ...rollout, status: { ...rollout.status, ...(heldRevisions !== undefined && { heldRevisions }) } })
}

function withShortHistory(body = '[]'): string {
  const patch = JSON.parse(body) as readonly object[]
  return JSON.stringify([...patch, { op: 'add', path: '/spec/revisionHistoryLimit', value: 3 }])
}

function withoutRestoring(body = '[]'): string {
  const patch = JSON.parse(body) as readonly { readonly op: string; readonly path: string; readonly value?: unknown }[]
  const isRestoring = ({ op, path, value }: (typeof patch)[number]): boolean =>
    op !== 'test' && path.startsWith('/spec/updateStrategy') && JSON.stringify(value).includes('RollingUpdate')
  return JSON.stringify(patch.filter((operation) => !isRestoring(operation)))
}

function withFlight(reading: ExecutorReading, change: (flight: FlightRecord) => Partial<FlightRecord>): ExecutorReading {
  const { release } = reading
  const { flight } = release.status ?? {}
  if (flight === undefined) return reading
  return { ...reading, release: { ...release, status: { ...release.status, flight: { ...flight, ...change(flight) } } } } as ExecutorReading
}
