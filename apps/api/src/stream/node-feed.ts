import type { NodeReport } from '@tranche/api-schema'
import type { Clock, Timer } from '@tranche/clock'
import { keyText, type ObjectKey } from '@tranche/kube-types'
import { createObjectFaults, type Logger, type ObjectFaults } from '@tranche/telemetry'

/** Nodes of a Rollout at one moment. */
export interface FedNodes {
  /** Sorted by name. An unchanged node may be the same object as before. */
  readonly nodes: readonly NodeReport[]
  /** Epoch milliseconds from which the clock alone may change a node; Infinity if it changes none. */
  readonly changesAtMs: number
  /** The DaemonSet if it is not bound to the Rollout: then only a reader that may get it may see its nodes. */
  readonly unbound: ObjectKey | undefined
}

/** Source of the nodes of any Rollout. */
export interface NodeSource {
  /** @returns undefined if there is no such Rollout */
  read(key: ObjectKey): FedNodes | undefined
  /** @param changed called when nodes of the Rollout may have changed. @returns unsubscribe function */
  subscribe(key: ObjectKey, changed: () => void): () => void
}

/**
 * Nodes of one Rollout for any number of readers. Each state has a version: a reader that knows the version of its own state gets the
 * changes since then. Nothing is kept per reader.
 */
export interface NodeFeed {
  readonly key: ObjectKey
  /** Version of the current state; it only rises. */
  readonly version: number
  /** @see FedNodes.unbound */
  readonly unbound: ObjectKey | undefined
  /**
   * @returns the message with the changes since the state of `version`; null if the feed does not know them, or if the whole state is simpler
   */
  since(version: number): string | null
  /**
   * A part of the current state, in order of the names.
   *
   * @param after name of the last node in the part before; null for the first part
   */
  part(after: string | null): StatePart
}

/** A message with a part of a state. */
export interface StatePart {
  /** A line of the stream: `data: {…}`. */
  readonly line: string
  /** Name of its last node; null in the last part. */
  readonly next: string | null
}

/** Time for which changes are collected into one state, in milliseconds. */
const GATHER_MS = 50
/** Minimum interval between states, in milliseconds. */
const APART_MS = 1_000
/** Maximum number of removed nodes kept for readers that are behind. */
const GONE_MAX = 1_000
/** Size in characters from which a part of a state is sent. */
const PART_SIZE = 65_536
/** Maximum size of the changes in one message, in characters; more is sent as a whole state, in parts. */
const CHANGES_MAX = 262_144

/** Feed with its owner's side. */
export interface OwnedFeed extends NodeFeed {
  /** @param changed called after each new version, and when `unbound` changes. @returns unsubscribe function */
  subscribe(changed: () => void): () => void
  close(): void
}

/** Dependencies of feeds. */
export interface FeedParts {
  readonly source: NodeSource
  readonly clock: Clock
  readonly log: Logger
}

/**
 * Creates a feed, and reads the nodes at once. A later read that fails changes nothing and is logged, once per error.
 *
 * @throws what the first read throws
 */
export function createNodeFeed(parts: FeedParts, key: ObjectKey): OwnedFeed {
  return new VersionedFeed(parts, key)
}

/** A node as last read. */
interface FedNode {
  readonly report: NodeReport
  /** The report as JSON. */
  readonly json: string
  /** Version in which it changed last. */
  readonly version: number
}

class VersionedFeed implements OwnedFeed {
  readonly key: ObjectKey
  readonly #source: NodeSource
  readonly #clock: Clock
  readonly #faults: ObjectFaults
  readonly #unsubscribe: () => void
  readonly #readers = new Set<() => void>()
  /** By name, in order. */
  #nodes: ReadonlyMap<string, FedNode> = new Map()
  /** Names of removed nodes with the version of their removal, oldest first. */
  readonly #gone = new Map<string, number>()
  /** Version from which on {@link #gone} is complete. */
  #goneSince = 0
  #version = 0
  #unbound: ObjectKey | undefined
  #lastMs = Number.NEGATIVE_INFINITY
  /** Next read, and the monotonic time at which it is due. */
  #next: { readonly timer: Timer; readonly atMs: number } | undefined
  /** The last answer of {@link since}: most readers are at the same version. */
  #answer: { readonly from: number; readonly to: number; readonly line: string | null } | undefined

  constructor({ source, clock, log }: FeedParts, key: ObjectKey) {
    this.#source = source
    this.#clock = clock
    this.#faults = createObjectFaults((fields) => log.error(fields, 'could not read the nodes of a Rollout'))
    this.key = { namespace: key.namespace, name: key.name }
    this.#read()
    this.#unsubscribe = source.subscribe(key, () => this.#readIn(GATHER_MS))
  }

  get version(): number {
    return this.#version
  }

  get unbound(): ObjectKey | undefined {
    return this.#unbound
  }

  since(version: number): string | null {
    if (this.#answer?.from === version && this.#answer.to === this.#version) return this.#answer.line
    const line = this.#changesSince(version)
    this.#answer = { from: version, to: this.#version, line }
    return line
  }

  part(after: string | null): StatePart {
    const texts: string[] = []
    let size = 0
    let last: string | null = null
    for (const [name, { json }] of this.#nodes) {
      if (after !== null && name <= after) continue
      if (size >= PART_SIZE) return { line: this.#line({ reset: after === null, nodes: texts, more: true }), next: last }
      texts.push(json)
      size += json.length
      last = name
    }
    return { line: this.#line({ reset: after === null, nodes: texts }), next: null }
  }

  subscribe(changed: () => void): () => void {
    this.#readers.add(changed)
    return () => void this.#readers.delete(changed)
  }

  close(): void {
    this.#unsubscribe()
    this.#next?.timer.cancel()
    this.#readers.clear()
  }

  #changesSince(version: number): string | null {
    if (version < this.#goneSince || this.#nodes.size === 0) return null
    const nodes = [...this.#nodes.values()].flatMap((node) => (node.version > version ? [node.json] : []))
    const gone = [...this.#gone].flatMap(([name, at]) => (at > version ? [name] : []))
    const line = this.#line({ reset: false, nodes, gone })
    return line.length > CHANGES_MAX ? null : line
  }

  /** Reads after at least `delayMs`, unless an earlier read is due, and not within {@link APART_MS} after the last one. */
  #readIn(delayMs: number): void {
    const nowMs = this.#clock.monotonicMs()
    const atMs = Math.max(nowMs + delayMs, this.#lastMs + APART_MS)
    if (this.#next !== undefined && this.#next.atMs <= atMs) return
    this.#next?.timer.cancel()
    this.#next = { atMs, timer: this.#clock.setTimer(atMs - nowMs, () => this.#tick()) }
  }

  #tick(): void {
    this.#next = undefined
    const before = { version: this.#version, unbound: this.#unbound?.name }
    this.#faults.attempt(keyText(this.key), () => this.#read())
    if (this.#version > before.version || this.#unbound?.name !== before.unbound) for (const changed of this.#readers) changed()
  }

  #read(): void {
    this.#lastMs = this.#clock.monotonicMs()
    const { nodes = [], changesAtMs = Number.POSITIVE_INFINITY, unbound } = this.#source.read(this.key) ?? {}
    const version = this.#version + 1
    const before = this.#nodes
    const now = new Map(nodes.map((report) => [report.name, fedNode(report, before.get(report.name), version)]))
    const removed = [...before.keys()].filter((name) => !now.has(name))
    const isChanged = removed.length > 0 || [...now.values()].some((node) => node.version === version)
    if (isChanged) this.#version = version
    this.#nodes = now
    this.#unbound = unbound
    this.#noteRemoved(removed)
    const leftMs = changesAtMs - this.#clock.nowMs()
    if (Number.isFinite(leftMs)) this.#readIn(Math.min(Math.max(0, leftMs), LONGEST_WAIT_MS))
  }

  #noteRemoved(removed: readonly string[]): void {
    for (const name of this.#gone.keys()) if (this.#nodes.has(name)) this.#gone.delete(name)
    for (const name of removed) this.#gone.set(name, this.#version)
    for (const [name, at] of this.#gone) {
      if (this.#gone.size <= GONE_MAX) break
      this.#gone.delete(name)
      this.#goneSince = at
    }
  }

  /** Joins nodes that are JSON already: a node is serialized once, however many readers get it. */
  #line({
    reset,
    nodes,
    gone = [],
    more = false,
  }: {
    reset: boolean
    nodes: readonly string[]
    gone?: readonly string[]
    more?: boolean
  }): string {
    const { namespace, name } = this.key
    const head = JSON.stringify({ type: 'nodes', namespace, name, reset, ...(more && { more }), gone }).slice(0, -1)
    return `data: ${head},"nodes":[${nodes.join(',')}]}`
  }
}

/** Maximum delay of a read that the clock causes, in milliseconds: a clock that was set is noticed. */
const LONGEST_WAIT_MS = 60_000

function fedNode(report: NodeReport, before: FedNode | undefined, version: number): FedNode {
  if (before?.report === report) return before
  const json = JSON.stringify(report)
  return before?.json === json ? { ...before, report } : { report, json, version }
}
