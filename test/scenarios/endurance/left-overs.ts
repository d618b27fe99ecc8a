import { resources, type SimClient } from '@tranche/sim-api'
import { drive, type Stage } from '../stage.ts'

/** Everything that may stay behind after a release. */
export interface LeftOvers {
  /** Timers of the programs and the simulator that will fire. */
  readonly timers: number
  /** Resources that keep a process running: sockets, files, real timers. */
  readonly handles: number
  /** Open watches and requests of the programs. */
  readonly streams: number
  /** Objects in the API server, by resource; without resources that have none. */
  readonly objects: Readonly<Record<string, number>>
  /** Size of the Rollout and the DaemonSet as JSON, in bytes. */
  readonly bytes: Readonly<Record<string, number>>
}

/** As long as an API server keeps events. */
const EVENT_LIFE_MS = 3_600_000
/** Kinds with a status that grows with a release. */
const kinds = ['BatchRelease', 'Rollout']

/** @returns counts now, without the streams, which only the connections know */
export async function countLeftOvers(stage: Stage): Promise<Omit<LeftOvers, 'streams'>> {
  const client = adminOf(stage)
  const objects: Record<string, number> = {}
  for (const { id } of client.discover()) {
    const { items } = await drive(stage.clock, client.list(id))
    if (items.length > 0) objects[id.group === '' ? id.resource : `${id.resource}.${id.group}`] = items.length
  }
  const [rollout, daemonSet] = [await drive(stage.clock, stage.rollout()), await drive(stage.clock, stage.daemonSet())]
  return {
    timers: stage.clock.pendingTimers(),
    handles: process.getActiveResourcesInfo().length,
    objects,
    bytes: { Rollout: JSON.stringify(rollout).length, DaemonSet: JSON.stringify(daemonSet).length },
  }
}

/** @returns function that returns the largest statuses so far, in bytes as JSON, by kind */
export function watchStatuses(stage: Stage): () => Readonly<Record<string, number>> {
  const largest: Record<string, number> = {}
  stage.simulator.server.observe(({ kind, object }) => {
    if (kinds.includes(kind)) largest[kind] = Math.max(largest[kind] ?? 0, JSON.stringify(object['status'] ?? {}).length)
  })
  return () => ({ ...largest })
}

/** Deletes events as old as an API server deletes them; the simulator keeps them for ever. */
export async function expireEvents(stage: Stage): Promise<void> {
  const client = adminOf(stage)
  const { items } = await drive(stage.clock, client.list(resources.events))
  const oldest = stage.clock.nowMs() - EVENT_LIFE_MS
  for (const { metadata } of items)
    if (Date.parse(metadata.creationTimestamp) < oldest)
      await drive(stage.clock, client.delete(resources.events, metadata.name, metadata.namespace))
}

function adminOf({ simulator }: Stage): SimClient {
  return simulator.clientFor({ name: 'admin', groups: ['system:masters'] })
}
