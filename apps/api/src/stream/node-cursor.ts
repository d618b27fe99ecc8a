import type { ObjectKey } from '@tranche/kube-types'
import type { NodeFeed } from './node-feed.ts'
import { lineOf } from './stream-hub.ts'

/** State of one reader of a feed: which message it gets next. Holds positions only, so a slow reader costs no memory. */
export interface NodeCursor {
  /** @returns the next line; undefined if the reader is up to date */
  next(): string | undefined
}

/**
 * Creates the cursor of a new reader: it gets the whole state first, then the changes.
 *
 * @param mayRead whether the reader may see the nodes now; @see FedNodes.unbound. While it may not, the reader has an empty state.
 */
export function createNodeCursor(feed: NodeFeed, mayRead: (unbound: ObjectKey | undefined) => boolean): NodeCursor {
  /** Version that the reader has; null: none, or an empty state instead of a hidden one. */
  let known: number | null = null
  /** Last node of the state that is being sent in parts; null: none is. */
  let after: string | null = null
  let isHidden = false

  function firstPart(): string {
    known = feed.version
    return nextPart(null)
  }

  /** Nodes that change while the parts are sent are sent again as changes since the version at the first part. */
  function nextPart(last: string | null): string {
    const { line, next } = feed.part(last)
    after = next
    return line
  }

  return {
    next() {
      if (!mayRead(feed.unbound)) {
        known = null
        after = null
        if (isHidden) return undefined
        isHidden = true
        return lineOf({ type: 'nodes', ...feed.key, reset: true, nodes: [], gone: [] })
      }
      isHidden = false
      if (after !== null) return nextPart(after)
      if (known === null) return firstPart()
      if (known === feed.version) return undefined
      const changes = feed.since(known)
      if (changes === null) return firstPart()
      known = feed.version
      return changes
    },
  }
}
