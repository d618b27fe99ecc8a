import type { VirtualClock } from '@tranche/clock'
import { createSimulator, type Simulator, type SimulatorOptions } from '@tranche/sim'
import { type ApiObject, isStatus, type ResourceId, resources, type SimClient } from '@tranche/sim-api'

/** One line of a recording, as far as tests look at it. */
export interface Line {
  readonly t: number
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly kind: string
  readonly actor: string
  readonly verb: string
  readonly uid: string
  readonly node?: string
  readonly rv: number
  readonly sent?: number
  readonly preconditions?: object
  readonly basedOn?: number
  readonly o: Readonly<Record<string, unknown>>
}

/** A simulator in virtual time, with the operations of tests. */
export interface World {
  readonly sim: Simulator
  readonly admin: SimClient
  readonly lines: readonly string[]
  recording(): readonly Line[]
  /** Lets `ms` pass. */
  pass(ms: number): Promise<void>
  /** Runs until `done`; fails when that takes longer than `withinMs`. */
  until(done: () => boolean, withinMs?: number): Promise<void>
  /** The object as it is now. */
  get(id: ResourceId, name: string, namespace?: string): Promise<ApiObject>
  pods(): Promise<readonly ApiObject[]>
  status(name?: string): Promise<Readonly<Record<string, number>>>
  revisions(): Promise<readonly ApiObject[]>
  setImage(image: string, name?: string): Promise<void>
  /** Waits until every desired pod of the DaemonSet is updated and available, and the status says so. */
  settled(name?: string, withinMs?: number): Promise<void>
}

export const namespace = 'demo'

/** Every test ends with this: nothing may have failed that is not part of the test. */
export const unexpected: unknown[] = []

export async function createWorld(options: Partial<SimulatorOptions> = {}): Promise<World> {
  const lines: string[] = []
  const sim = createSimulator({
    clock: 'virtual',
    seed: 1,
    nodes: 0,
    record: (line) => lines.push(line),
    onError: (error) => {
      if (!isExpected(error)) unexpected.push(error)
    },
    ...options,
  })
  const clock = sim.clock as VirtualClock
  const admin = sim.clientFor({ name: 'admin' })
  let parsed: Line[] = []
  const recording = (): readonly Line[] => {
    if (parsed.length < lines.length) parsed = [...parsed, ...lines.slice(parsed.length).map((line) => JSON.parse(line) as Line)]
    return parsed
  }

  const world: World = {
    sim,
    admin,
    lines,
    recording,
    async pass(ms) {
      let over = false
      clock.setTimer(ms, () => (over = true))
      await clock.run({ done: () => over })
    },
    async until(done, withinMs = 600_000) {
      const untilMs = clock.monotonicMs() + withinMs
      const end = await clock.run({ done, untilMs })
      if (end !== 'done') throw new Error(`not done after ${withinMs} ms of virtual time (${end})`)
    },
    get: (id, name, ns) => admin.get(id, name, ns),
    pods: async () => (await admin.list(resources.pods, { namespace })).items,
    status: async (name = 'agent') =>
      (await admin.get(resources.daemonSets, name, namespace))['status'] as Readonly<Record<string, number>>,
    revisions: async () =>
      (await admin.list(resources.controllerRevisions, { namespace })).items.toSorted(
        (a, b) => Number(a['revision']) - Number(b['revision']),
      ),
    async setImage(image, name = 'agent') {
      const body = [{ op: 'replace', path: '/spec/template/spec/containers/0/image', value: image }]
      await admin.patch(resources.daemonSets, name, namespace, body)
    },
    async settled(name = 'agent', withinMs = 600_000) {
      await world.until(() => isSettled(recording(), name), withinMs)
    },
  }
  await admin.create(resources.namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  return world
}

/** A DaemonSet to create, with short pod times. */
export function daemonSet(
  overrides: { readonly spec?: object; readonly podSpec?: object; readonly annotations?: object; readonly name?: string } = {},
): object {
  const app = { app: overrides.name ?? 'agent' }
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: overrides.name ?? 'agent', namespace },
    spec: {
      selector: { matchLabels: app },
      template: {
        metadata: {
          labels: app,
          annotations: {
            'sim.tranche.dev/start-ms': '500',
            'sim.tranche.dev/jitter-ms': '200',
            'sim.tranche.dev/stop-ms': '200',
            ...overrides.annotations,
          },
        },
        spec: { containers: [{ name: 'agent', image: 'agent:v1' }], ...overrides.podSpec },
      },
      ...overrides.spec,
    },
  }
}

/** @returns a world with `nodes` nodes on which the DaemonSet of {@link daemonSet} runs */
export async function createRunningWorld(
  nodes: number,
  overrides: Parameters<typeof daemonSet>[0] = {},
  options: Partial<SimulatorOptions> = {},
): Promise<World> {
  const world = await createWorld({ nodes, ...options })
  await world.sim.start()
  await world.admin.create(resources.daemonSets, daemonSet(overrides))
  await world.settled()
  return world
}

function isSettled(recording: readonly Line[], name: string): boolean {
  const last = recording.findLast((line) => line.kind === 'DaemonSet' && line.o['name'] === name)
  if (last === undefined || last.o['observed'] !== last.o['generation']) return false
  const status = last.o['status'] as Readonly<Record<string, number>>
  const desired = status['desiredNumberScheduled']!
  return desired > 0 && status['updatedNumberScheduled'] === desired && status['numberAvailable'] === desired
}

/** Conflicts and stale caches are part of the life of controllers. */
function isExpected(error: unknown): boolean {
  return isStatus(error, 409) || ['StaleCacheError', 'AdoptionRefusedError'].includes((error as Error).name)
}
