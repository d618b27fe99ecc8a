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

/** Creates a store without nodes. A state that arrives in parts is shown once it is whole. */
export function createNodeStore(): WritableNodeStore {
  const listeners = new Set<() => void>()
  let current: NodesSnapshot = { rollout: null, nodes: undefined }
  let draft: Map<string, NodeReport> | null = null
  const set = (next: NodesSnapshot): void => {
    current = next
    draft = null
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
      if (message.reset) draft = new Map()
      draft ??= new Map(current.nodes)
      for (const node of message.nodes) draft.set(node.name, node)
      for (const name of message.gone) draft.delete(name)
      if (message.more !== true) set({ ...current, nodes: draft })
    },
  }
}
