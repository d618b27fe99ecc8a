import type { RecordedDaemonSet } from '../record/recorded-write.ts'

/** Permit record of a BatchRelease, as written. Hand-made recordings may omit fields that their judges do not read. */
export interface RecordedFlight {
  readonly state?: string
  readonly epoch?: number
  readonly workloadUid?: string
  readonly generation?: number
  readonly revision?: string
  readonly partition?: number
  readonly limit: number
  /** Digest of the node rules; the suffix `.n` limits it to the nodes of the first n steps. */
  readonly scope?: string
  readonly permits?: readonly RecordedPermit[]
}

/** Permission to delete one version of a pod. */
export interface RecordedPermit {
  readonly node: string
  readonly podUid: string
  readonly podResourceVersion: string
  /** The node was not healthy when it was chosen. */
  readonly wasBad?: boolean
}

/** Limit that a record had in force from `t` on, and the largest `maxUnavailable` that DaemonSet or policy declared when it was set. */
export interface LimitInForce {
  readonly t: number
  /** The smaller of the recorded and the declared limit. */
  readonly limit: number
  readonly recorded: number
  readonly declared: number
}

/** Orders for one DaemonSet: from the record, or from the annotations when there is none. */
export interface Orders {
  /** Record as last written; undefined before the first one and after its end. */
  readonly flight: RecordedFlight | undefined
  /** `controller-revision-hash` being released. */
  readonly revision: string | undefined
  /**
   * Number of nodes that keep their revision. A partition of the record that the DaemonSet did not publish when it was written orders
   * nothing.
   */
  readonly partition: number | undefined
  /** Neither annotations nor a record order anything. */
  readonly isSilent: boolean
  followDaemonSet(daemonSet: RecordedDaemonSet): void
  /**
   * @param declared largest limit that the writer may have seen as declared
   * @param isLost whether a write of another client, to an object that stays, has lost the record
   */
  followRecord(flight: RecordedFlight | undefined, t: number, declared: number, isLost?: boolean): void
  /** @returns largest limit in force at any time since `sinceMs`; undefined before the first record */
  limitSince(sinceMs: number): LimitInForce | undefined
  /** @returns when this version of the pod was first permitted to be deleted; undefined when it never was */
  permittedAt(podUid: string, resourceVersion: number): number | undefined
  /** Whether the record as last written has a permit for the pod, in any version. */
  isPermitted(podUid: string): boolean
  /** The same for the last record that we wrote, where a write of another client has lost it since: outdated definitions prune it. */
  wasPermitted(podUid: string): boolean
  /** Whether a record was ever open for this generation, revision and partition. */
  everAgreed(generation: number, revision: string | undefined, partition: number | undefined): boolean
}

const CANARY = 'rollouts.kruise.io/daemonset-canary-revision'
const PARTITION = 'rollouts.kruise.io/daemonset-partition'

/** Starts without orders. */
export function createOrders(): Orders {
  let flight: RecordedFlight | undefined
  let canary: string | undefined
  let publishedPartition: number | undefined
  let recorded: number | undefined
  /** Everything published since the record was last written: the writer of a record has read both. */
  let publishedTargets: readonly string[] = []
  let lost: RecordedFlight | undefined
  const limits: LimitInForce[] = []
  const permitted = new Map<string, number>()
  const agreements = new Set<string>()

  return {
    get flight() {
      return flight
    },
    get revision() {
      return flight?.revision ?? canary
    },
    get partition() {
      return recorded ?? publishedPartition
    },
    get isSilent() {
      return (flight?.revision ?? canary) === undefined || (recorded ?? publishedPartition) === undefined
    },
    followDaemonSet({ annotations = {} }) {
      canary = annotations[CANARY]
      publishedPartition = annotations[PARTITION] === undefined ? undefined : Number(annotations[PARTITION])
      publishedTargets = [...publishedTargets, targetText(canary, publishedPartition)]
    },
    followRecord(next, t, declared, isLost = false) {
      if (next !== undefined && isLimitReset(flight, next))
        limits.push({ t, limit: Math.min(next.limit, declared), recorded: next.limit, declared })
      for (const permit of next?.permits ?? []) {
        const id = permitId(permit.podUid, permit.podResourceVersion)
        if (!permitted.has(id)) permitted.set(id, t)
      }
      if (next?.state === 'open') agreements.add(agreement(next.generation, next.revision, next.partition))
      if (next?.revision !== flight?.revision) recorded = undefined
      if (publishedTargets.includes(targetText(next?.revision, next?.partition))) recorded = next?.partition
      publishedTargets = publishedTargets.slice(-1)
      lost = isLost ? (flight ?? lost) : undefined
      flight = next
    },
    limitSince(sinceMs) {
      const from = Math.max(
        0,
        limits.findLastIndex(({ t }) => t <= sinceMs),
      )
      const since = limits.slice(from)
      const [most] = since.toSorted((a, b) => b.recorded - a.recorded || b.t - a.t)
      return most === undefined ? undefined : { ...most, limit: Math.max(...since.map(({ limit }) => limit)) }
    },
    permittedAt: (podUid, resourceVersion) => permitted.get(permitId(podUid, String(resourceVersion))),
    isPermitted: (podUid) => hasPermit(flight, podUid),
    wasPermitted: (podUid) => hasPermit(flight ?? lost, podUid),
    everAgreed: (generation, revision, partition) => agreements.has(agreement(generation, revision, partition)),
  }
}

/**
 * Whether the write sets the limit from what is declared: it changes the limit, or opens the record for another generation or epoch. A
 * revoked record keeps its limit, whatever is declared by then.
 */
function isLimitReset(before: RecordedFlight | undefined, next: RecordedFlight): boolean {
  if (next.state !== 'open') return before?.limit !== next.limit
  return before?.limit !== next.limit || before.generation !== next.generation || before.epoch !== next.epoch
}

function hasPermit(flight: RecordedFlight | undefined, podUid: string): boolean {
  return flight?.permits?.some((permit) => permit.podUid === podUid) === true
}

function permitId(podUid: string, resourceVersion: string): string {
  return `${podUid}@${resourceVersion}`
}

function targetText(revision: string | undefined, partition: number | undefined): string {
  return `${revision} ${partition}`
}

function agreement(generation: number | undefined, revision: string | undefined, partition: number | undefined): string {
  return `${generation} ${revision} ${partition}`
}

/** @returns number of first steps that a record's scope limits the nodes to; undefined when it covers all steps */
export function stepsIn(scope: string | undefined): number | undefined {
  const steps = /\.(\d+)$/.exec(scope ?? '')?.[1]
  return steps === undefined ? undefined : Number(steps)
}
