import type { NodeReport, StreamMessage } from '@tranche/api-schema'
import type { ObjectKey } from '@tranche/kube-types'
import type { FedNodes, NodeSource } from '../src/stream/node-feed.ts'

/** Nodes of one Rollout, which a test changes. */
export class FakeNodes implements NodeSource {
  /** Number of reads. */
  reads = 0
  /** By name; undefined while there is no Rollout. */
  nodes: Map<string, NodeReport> | undefined
  unbound: ObjectKey | undefined
  changesAtMs = Number.POSITIVE_INFINITY
  readonly #listeners = new Set<() => void>()

  constructor(...names: readonly string[]) {
    this.nodes = new Map(names.map((name) => [name, aNode(name)]))
  }

  /** Number of open feeds. */
  get feeds(): number {
    return this.#listeners.size
  }

  read(): FedNodes | undefined {
    this.reads += 1
    if (this.nodes === undefined) return undefined
    return { nodes: this.list(), changesAtMs: this.changesAtMs, unbound: this.unbound }
  }

  subscribe(_key: ObjectKey, changed: () => void): () => void {
    this.#listeners.add(changed)
    return () => void this.#listeners.delete(changed)
  }

  /** Sorted by name, as `GET nodes` returns them. */
  list(): readonly NodeReport[] {
    return [...(this.nodes?.values() ?? [])].sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  /** Changes or adds nodes. */
  set(...nodes: readonly NodeReport[]): void {
    this.nodes ??= new Map()
    for (const node of nodes) this.nodes.set(node.name, node)
    this.changed()
  }

  remove(name: string): void {
    this.nodes?.delete(name)
    this.changed()
  }

  changed(): void {
    for (const listener of this.#listeners) listener()
  }
}

/** A node that runs the stable revision. */
export function aNode(name: string, fields: Partial<NodeReport> = {}): NodeReport {
  return { name, zone: 'a', state: 'old', role: 'stable', ...fields }
}

/** Nodes of a client that applies the messages of a stream. */
export class NodeClient {
  readonly nodes = new Map<string, NodeReport>()
  resets = 0
  /** Whether the last message says that more follow at once. */
  isPartial = false

  apply(message: StreamMessage): void {
    if (message.type !== 'nodes') return
    if (message.reset) {
      this.nodes.clear()
      this.resets += 1
    }
    for (const node of message.nodes) this.nodes.set(node.name, node)
    for (const name of message.gone) this.nodes.delete(name)
    this.isPartial = message.more === true
  }

  list(): readonly NodeReport[] {
    return [...this.nodes.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
  }
}
