import { abortable } from '@tranche/kube-client'

/**
 * Does `work` when those before have ended.
 *
 * @returns null where too many of the namespace wait already
 * @throws the signal's reason; whatever `work` throws
 */
export type RunInNamespaceSlot = <T>(namespace: string, signal: AbortSignal, work: () => Promise<T>) => Promise<T | null>

/** The most that wait of one namespace: each keeps an answer of up to a megabyte. */
const MOST_WAITING = 8

/** One at a time. Namespaces take turns: whatever one has waiting, another waits for one piece of its work at most. */
export function createNamespaceSlot(): RunInNamespaceSlot {
  const waiting = new Map<string, number>()
  const ownLast = new Map<string, Promise<unknown>>()
  let last: Promise<unknown> = Promise.resolve()

  return async (namespace, signal, work) => {
    const before = waiting.get(namespace) ?? 0
    if (before >= MOST_WAITING) return null
    waiting.set(namespace, before + 1)
    const own = (ownLast.get(namespace) ?? Promise.resolve()).then(() => {
      const next = last.then(() => {
        signal.throwIfAborted()
        return work()
      })
      last = next.catch(() => {})
      return next
    })
    const settled = own.catch(() => {})
    ownLast.set(namespace, settled)
    void settled.then(() => {
      const left = (waiting.get(namespace) ?? 1) - 1
      if (left > 0) return void waiting.set(namespace, left)
      waiting.delete(namespace)
      ownLast.delete(namespace)
    })
    return abortable(own, signal)
  }
}
