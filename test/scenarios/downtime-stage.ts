import type { ReleasePolicy } from '@tranche/api-schema'
import { resourcePaths } from '@tranche/kube-client'
import { DOWNTIME_ANNOTATION, DOWNTIME_LABEL, type Lease, LEASE_NAMESPACE } from '@tranche/kube-types'
import { setStage, type Stage, type StageOptions } from './stage.ts'

/** An hour, in milliseconds. */
export const HOUR = 3_600_000
/** A day, in milliseconds. */
export const DAY = 24 * HOUR

/** Policy under which a node may be without an agent for that long in a day. */
export function perDay(text: string): ReleasePolicy['spec'] {
  return { downtime: { perDay: text } }
}

/** Sets a stage of three nodes, of which two may be down, which may be without an agent for a second in a day: each replacement takes longer. */
export function setDowntimeStage(options: StageOptions = {}): Promise<Stage> {
  return setStage({ nodes: 3, maxUnavailable: 2, steps: [{ replicas: '100%' }], policy: perDay('1s'), ...options })
}

/** Downtimes of a node, as its Lease has them. */
export interface Memory {
  readonly node: string
  readonly past: readonly { readonly fromMs: number; readonly toMs: number }[]
  readonly isOpen: boolean
}

/** @returns what is remembered of nodes, by name of the node */
export async function memories({ client }: Stage, namespace = LEASE_NAMESPACE): Promise<readonly Memory[]> {
  const { items } = await client.list<Lease>(resourcePaths.leases, { namespace, labelSelector: DOWNTIME_LABEL })
  return items.map(memoryIn).toSorted((a, b) => (a.node < b.node ? -1 : 1))
}

function memoryIn({ metadata, spec }: Lease): Memory {
  const text = metadata.annotations?.[DOWNTIME_ANNOTATION] ?? '{}'
  const { past = [], open } = JSON.parse(text) as { readonly past?: readonly (readonly [string, string])[]; readonly open?: object }
  const times = past.map(([from, to]) => ({ fromMs: Date.parse(from), toMs: Date.parse(to) }))
  return { node: spec?.holderIdentity?.split('/').at(-1) ?? '', past: times, isOpen: open !== undefined }
}

/** Waits until no downtime is open. */
export function untilClosed(stage: Stage, withinMs = 90_000): Promise<void> {
  return stage.until('no downtime is open', async () => (await memories(stage)).every(({ isOpen }) => !isOpen), withinMs)
}

/** @returns the writes of memories by executors, by verb */
export function memoryWrites(stage: Stage): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { kind, actor = '', verb = '', o } of stage.recording()) {
    const { labels } = (o as { metadata?: Lease['metadata'] }).metadata ?? {}
    if (kind === 'Lease' && actor.startsWith('executor') && labels?.[DOWNTIME_LABEL] !== undefined) counts[verb] = (counts[verb] ?? 0) + 1
  }
  return counts
}

/** Waits until a node keeps its pod for this reason. */
export function untilBlocked(stage: Stage, reason: string): Promise<void> {
  return stage.until(`a node is blocked: ${reason}`, async () => {
    const { blocked = [] } = (await stage.release())?.status?.flight ?? {}
    return blocked.some((one) => one.reason === reason)
  })
}
