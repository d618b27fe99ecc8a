import type { RecordedWrite } from '../record/recorded-write.ts'

/** Lease of a node, between two writes of it. Times of the Lease are by the API server's clock, which may be set. */
export interface HeldLease {
  /** Epoch milliseconds by the recording's clock from which it was so. */
  readonly sinceMs: number
  readonly holder: string
  /** Namespace of the BatchRelease that holds it; undefined for another program. */
  readonly namespace: string | undefined
  readonly renewedMs: number
  readonly dueMs: number
}

/** Leases of nodes, as their writers left them. */
export interface NodeLeases {
  /** Called for each write. */
  onWrite(write: RecordedWrite): void
  /** @returns the Lease of the node at that moment (epoch); undefined without one */
  at(node: string, atMs: number): HeldLease | undefined
  /** Whether a BatchRelease of the namespace had the Lease at a moment of that time (epoch). */
  hadIn(node: string, namespace: string | undefined, fromMs: number, toMs: number): boolean
  /** Whether another holder than this one may have had the node at a moment of that time (epoch). */
  mayHaveBeenHeld(node: string, own: string, fromMs: number, toMs: number): boolean
  /** Whether the Lease was certainly held at that moment, by the clock of the client. */
  isHeld(lease: HeldLease, atMs: number, client: string): boolean
  /** @returns the Leases that exist, by node */
  now(): Iterable<readonly [string, HeldLease]>
}

/** Namespace of the Leases. */
const LEASES = 'medik8s-leases'
const PREFIX = 'node-'

/** Clients read the clock of the API server to a second, and it was set for them once they have had answers for a while. */
const ROUNDED_MS = 5_000
const ANSWERED_MS = 60_000

/** Change of the API server's clock, when it was made. */
export interface ClockSet {
  readonly atMs: number
  readonly ms: number
}

/** Starts without Leases. */
export function followNodeLeases(clockSteps: readonly ClockSet[] = []): NodeLeases {
  const leases = new Map<string, (HeldLease | { readonly sinceMs: number; readonly holder: null })[]>()
  const serverMs = (atMs: number): number => clockSteps.filter((step) => step.atMs <= atMs).reduce((sum, { ms }) => sum + ms, atMs)
  /** Lowest time that the API server's clock showed in this time. */
  const lowestServerMs = (fromMs: number, toMs: number): number =>
    Math.min(...[fromMs, ...clockSteps.map(({ atMs }) => atMs).filter((atMs) => atMs > fromMs && atMs <= toMs)].map(serverMs))
  /** When each client has had its first answer since each step, by client. */
  const answered = new Map<string, Map<ClockSet, number>>()
  const mayNotKnow = (client: string, atMs: number): boolean =>
    clockSteps.some((step) => step.atMs <= atMs && atMs - (answered.get(client)?.get(step) ?? Number.POSITIVE_INFINITY) < ANSWERED_MS)
  const wasSet = (atMs: number): boolean => clockSteps.some((step) => step.atMs <= atMs && atMs - step.atMs < ANSWERED_MS)

  function at(node: string, atMs: number): HeldLease | undefined {
    const found = leases.get(node)?.findLast(({ sinceMs }) => sinceMs <= atMs)
    return found === undefined || found.holder === null ? undefined : found
  }

  function followAnswers(client: string, atMs: number): void {
    const known = answered.get(client) ?? new Map<ClockSet, number>()
    answered.set(client, known)
    for (const step of clockSteps) if (step.atMs <= atMs && !known.has(step)) known.set(step, atMs)
  }

  /** Whether a state of the Lease lasted into this time, of which this is true. */
  function some(node: string, fromMs: number, toMs: number, is: (lease: HeldLease) => boolean): boolean {
    const known = leases.get(node) ?? []
    return known.some((lease, index) => {
      const untilMs = known[index + 1]?.sinceMs ?? Number.POSITIVE_INFINITY
      return lease.holder !== null && lease.sinceMs <= toMs && untilMs >= fromMs && is(lease)
    })
  }

  return {
    onWrite({ kind, namespace, o, type, t, actor = '' }) {
      if (clockSteps.length > 0) followAnswers(actor, t)
      const { metadata, spec } = o as unknown as StoredLease
      if (kind !== 'Lease' || namespace !== LEASES || !metadata.name.startsWith(PREFIX)) return
      const node = metadata.name.slice(PREFIX.length)
      const known = leases.get(node) ?? []
      leases.set(node, known)
      known.push(type === 'DELETED' ? { sinceMs: t, holder: null } : toHeld(spec, t))
    },
    at,
    hadIn: (node, namespace, fromMs, toMs) => some(node, fromMs, toMs, (lease) => lease.namespace === namespace),
    mayHaveBeenHeld: (node, own, fromMs, toMs) =>
      some(node, fromMs, toMs, (lease) => {
        return lease.holder !== own && (wasSet(fromMs) || lease.dueMs + ANSWERED_MS >= lowestServerMs(fromMs, toMs))
      }),
    isHeld({ renewedMs, dueMs }, atMs, client) {
      const nowMs = serverMs(atMs)
      return !mayNotKnow(client, atMs) && renewedMs - ROUNDED_MS <= nowMs && nowMs + ROUNDED_MS <= dueMs
    },
    *now() {
      for (const [node, known] of leases) {
        const last = known.at(-1)
        if (last !== undefined && last.holder !== null) yield [node, last]
      }
    },
  }
}

function toHeld(spec: StoredLease['spec'], sinceMs: number): HeldLease {
  const { holderIdentity: holder = '', renewTime = '', leaseDurationSeconds = 0 } = spec ?? {}
  const renewedMs = Date.parse(renewTime)
  const [program, namespace] = holder.split('/')
  return {
    ...{ sinceMs, holder, renewedMs, dueMs: renewedMs + leaseDurationSeconds * 1_000 },
    namespace: program === 'tranche' ? namespace : undefined,
  }
}

/** @see coordination.k8s.io/v1 Lease */
interface StoredLease {
  readonly metadata: { readonly name: string }
  readonly spec?: { readonly holderIdentity?: string; readonly renewTime?: string; readonly leaseDurationSeconds?: number }
}
