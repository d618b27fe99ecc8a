import type { RecordedWrite } from './recorded-write.ts'

/** What a DaemonSet announces to executors. */
export interface Announced {
  readonly canary: string | undefined
  readonly partition: number | undefined
}

/** What people and controllers have said so far about one DaemonSet: in its annotations, its Rollouts and its BatchRelease. */
export interface Orders {
  /** Takes over a write. @param desired how many nodes exist, for percentages */
  follow(write: RecordedWrite, desired: number): void
  announced(): Announced
  /** The DaemonSet was deleted. */
  isGone(): boolean
  minReadyMs(): number
  /** @returns the largest limit that a BatchRelease had in force at a time since `sinceMs`; 0 before the first */
  limitSince(sinceMs: number): number
  /** @returns the largest `maxUnavailable`, in nodes, that the DaemonSet ever declared */
  mostDeclared(): number
  /** @returns what stops us and is acknowledged; null when nothing is */
  acknowledgedStop(): string | null
}

const CANARY = 'rollouts.kruise.io/daemonset-canary-revision'
const PARTITION = 'rollouts.kruise.io/daemonset-partition'

/** Begins with nothing said. */
export function createOrders(daemonSet: string): Orders {
  let announced: Announced = { canary: undefined, partition: undefined }
  let gone = false
  let minReadyMs = 0
  let mostDeclared = 0
  const limits: { readonly t: number; readonly limit: number }[] = []
  const stops = new Map<string, Stop>()

  function followDaemonSet({ type, o }: RecordedWrite, desired: number): void {
    if (o['name'] !== daemonSet) return
    gone = type === 'DELETED'
    const { annotations = {}, minReadySeconds = 0, strategy } = o as unknown as RecordedDaemonSet
    const partition = annotations?.[PARTITION]
    announced = { canary: annotations?.[CANARY], partition: partition === undefined ? undefined : Number(partition) }
    minReadyMs = minReadySeconds * 1000
    mostDeclared = Math.max(mostDeclared, nodesOf(strategy?.rollingUpdate?.maxUnavailable ?? 1, desired))
  }

  function followRelease({ t, o }: RecordedWrite): void {
    const { spec, status } = o as unknown as RecordedRelease
    const limit = status?.flight?.limit
    if (spec?.workloadRef?.name === daemonSet && limit !== undefined) limits.push({ t, limit })
  }

  function followRollout({ type, o }: RecordedWrite): void {
    const rollout = o as unknown as RecordedRollout
    const { name } = rollout.metadata
    if (rollout.spec.workloadRef?.name !== daemonSet) return void stops.delete(name)
    if (type === 'DELETED') return void stops.set(name, { wish: 'deleted', generation: 0, acknowledged: true })
    const stop = stopOf(rollout, stops.get(name))
    if (stop === null) stops.delete(name)
    else stops.set(name, stop)
  }

  return {
    follow(write, desired) {
      if (write.kind === 'DaemonSet') followDaemonSet(write, desired)
      else if (write.kind === 'BatchRelease') followRelease(write)
      else if (write.kind === 'Rollout') followRollout(write)
    },
    announced: () => announced,
    isGone: () => gone,
    minReadyMs: () => minReadyMs,
    limitSince(sinceMs) {
      const before = limits.findLastIndex(({ t }) => t <= sinceMs)
      return Math.max(0, ...limits.slice(Math.max(0, before)).map(({ limit }) => limit))
    },
    mostDeclared: () => mostDeclared,
    acknowledgedStop: () => [...stops.values()].find(({ acknowledged }) => acknowledged)?.wish ?? null,
  }
}

/** A wish that nothing be deleted, from the generation that it was written with. */
interface Stop {
  readonly wish: 'paused' | 'disabled' | 'deleted'
  readonly generation: number
  readonly acknowledged: boolean
}

/** A stop is acknowledged when the status says so for a generation that has the wish; later words take nothing back. */
function stopOf({ metadata, spec, status }: RecordedRollout, before: Stop | undefined): Stop | null {
  const wish = spec.disabled === true ? 'disabled' : spec.strategy?.paused === true ? 'paused' : null
  if (wish === null) return null
  const generation = before?.wish === wish ? before.generation : (metadata.generation ?? 0)
  const known = before?.wish === wish && before.acknowledged
  const said = wish === 'disabled' ? status?.phase === 'Disabled' : saysPaused(status)
  return { wish, generation, acknowledged: known || (said && (status?.observedGeneration ?? 0) >= generation) }
}

function saysPaused(status: RecordedRollout['status']): boolean {
  return status?.conditions?.some(({ type, reason }) => type === 'Progressing' && reason === 'Paused') ?? false
}

/** A percentage rounds up, as Kubernetes does. */
function nodesOf(value: number | string, desired: number): number {
  return typeof value === 'number' ? value : Math.ceil((Number(value.replace('%', '')) / 100) * desired)
}

interface RecordedDaemonSet {
  readonly annotations?: Readonly<Record<string, string>> | undefined
  readonly minReadySeconds?: number
  readonly strategy?: { readonly rollingUpdate?: { readonly maxUnavailable?: number | string } }
}

interface RecordedRelease {
  readonly spec?: { readonly workloadRef?: { readonly name: string } }
  readonly status?: { readonly flight?: { readonly limit: number } }
}

interface RecordedRollout {
  readonly metadata: { readonly name: string; readonly generation?: number }
  readonly spec: {
    readonly workloadRef?: { readonly name: string }
    readonly disabled?: boolean
    readonly strategy?: { readonly paused?: boolean }
  }
  readonly status?: {
    readonly phase?: string
    readonly observedGeneration?: number
    readonly conditions?: readonly { readonly type: string; readonly reason: string }[]
  }
}
