import { keyText, type ObjectKey } from '@tranche/kube-types'
import { createNodeFeed, type FeedParts, type NodeFeed, type OwnedFeed } from './node-feed.ts'

/** Node feeds of all open streams. Streams on the same Rollout share one feed; without a stream nothing is computed. */
export interface NodeFeeds {
  /** @param changed called after each new version */
  open(key: ObjectKey, changed: () => void): OpenFeed
  close(): void
}

/** A feed in use by one reader. */
export interface OpenFeed {
  readonly feed: NodeFeed
  close(): void
}

/** Creates feeds over synced watches. */
export function createNodeFeeds(parts: FeedParts): NodeFeeds {
  const feeds = new Map<string, { readonly feed: OwnedFeed; readers: number }>()
  return {
    open(key, changed) {
      const text = keyText(key)
      const shared = feeds.get(text) ?? { feed: createNodeFeed(parts, key), readers: 0 }
      feeds.set(text, shared)
      shared.readers += 1
      const unsubscribe = shared.feed.subscribe(changed)
      let isOpen = true
      return {
        feed: shared.feed,
        close() {
          if (!isOpen) return
          isOpen = false
          unsubscribe()
          shared.readers -= 1
          if (shared.readers > 0) return
          shared.feed.close()
          if (feeds.get(text) === shared) feeds.delete(text)
        },
      }
    },
    close() {
      for (const { feed } of feeds.values()) feed.close()
      feeds.clear()
    },
  }
}
