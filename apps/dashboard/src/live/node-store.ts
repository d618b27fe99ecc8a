import type { ApiKey } from '@tranche/api-client'
import type { NodeReport, StreamMessage } from '@tranche/api-schema'
import { textOfKey } from './release-store.ts'

/** The nodes of the Rollout on the screen. The same object until something changes. */
export interface NodesSnapshot {
  /** `namespace/name`; null if no Rollout is on the screen. */
  readonly rollout: string | null
  /** By name; undefined until the first list has arrived. */
  readonly nodes: ReadonlyMap<string, NodeReport> | undefined
}

/** Nodes of one Rollout, kept current by the stream. */
export interface NodeStore {
  readonly subscribe: (onChange: () => void) => () => void
  readonly snapshot: () => NodesSnapshot
}

/** A store, and the functions that change it. */
export interface WritableNodeStore extends NodeStore {
  /** Chooses the Rollout; forgets the nodes of another one. */
  show(key: ApiKey | null): void
  apply(message: Extract<StreamMessage, { type: 'nodes' }>): void
}

/** Creates a store without nodes. */
export function createNodeStore(): WritableNodeStore {
  const listeners = new Set<() => void>()
  let current: NodesSnapshot = { rollout: null, nodes: undefined }
  const set = (next: NodesSnapshot): void => {
    current = next
    for (const listener of listeners) listener()
  }
  return {
    subscribe(onChange) {
      listeners.add(onChange)
      return () => listeners.delete(onChange)
    },
    snapshot: () => current,
    show: (key) => set({ rollout: key === null ? null : textOfKey(key), nodes: undefined }),
    apply(message) {
      // The last message of a stream that was replaced.
      if (textOfKey(message) !== current.rollout) return
      const nodes = new Map(message.reset ? [] : current.nodes)
      for (const node of message.nodes) nodes.set(node.name, node)
      for (const name of message.gone) nodes.delete(name)
      set({ ...current, nodes })
    },
  }
}
