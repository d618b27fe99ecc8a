import { VirtualClock } from '@tranche/clock'
import { silentLogger } from '@tranche/telemetry'
import { createSimulator, type Simulator, createFaultSchedule, type FaultSchedule, parseFaults } from '@tranche/sim'
import { type ApiObject, resources } from '@tranche/sim-api'

/** A simulated cluster in virtual time, and what goes wrong in it. */
export interface Cluster {
  readonly simulator: Simulator
  readonly schedule: FaultSchedule
  /** Lines for users. */
  readonly said: readonly string[]
  /** Adds a document that must be right. */
  add(yaml: string): Promise<void>
  /** Lets `ms` pass. */
  pass(ms: number): Promise<void>
  node(name: string): Promise<ApiObject>
  /** `Ready` of the node: True, False or Unknown; null where there is no such node. */
  ready(name: string): Promise<string | null>
  /** State of each fault, by id. */
  states(): Readonly<Record<string, string>>
}

/** Starts a cluster of `nodes` nodes. */
export async function startCluster(nodes = 3, seed = 1): Promise<Cluster> {
  const clock = new VirtualClock()
  const simulator = createSimulator({ clock, seed, nodes, watchDelayMs: 0 })
  await simulator.start()
  const said: string[] = []
  const schedule = createFaultSchedule({ simulator, seed, say: (text) => said.push(text), log: silentLogger })
  const client = simulator.clientFor({ name: 'admin' })
  const cluster: Cluster = {
    simulator,
    schedule,
    said,
    async add(yaml) {
      const parsed = parseFaults(yaml)
      if (parsed.kind === 'invalid') throw new Error(JSON.stringify(parsed.findings))
      const added = await schedule.add(parsed.faults)
      if (added.kind === 'invalid') throw new Error(JSON.stringify(added.findings))
    },
    async pass(ms) {
      const untilMs = clock.monotonicMs() + ms
      clock.setTimer(ms, () => {})
      await clock.run({ untilMs })
    },
    node: (name) => client.get(resources.nodes, name, undefined),
    async ready(name) {
      const { items } = await client.list(resources.nodes, {})
      const node = items.find(({ metadata }) => metadata.name === name)
      const { conditions } = (node?.['status'] ?? {}) as {
        readonly conditions?: readonly { readonly type: string; readonly status: string }[]
      }
      return conditions?.find(({ type }) => type === 'Ready')?.status ?? null
    },
    states: () => Object.fromEntries(schedule.list().map(({ id, state }) => [id, state])),
  }
  await cluster.pass(1_000)
  return cluster
}
