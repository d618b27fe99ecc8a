import { abortable } from '@tranche/kube-client'

/**
 * Runs `work` when a slot is free for the namespace.
 *
 * @returns null if too much work of the namespace already waits
 * @throws the signal's reason; errors of `work`
 */
export type RunInNamespaceSlot = <T>(namespace: string, signal: AbortSignal, work: () => Promise<T>) => Promise<T | null>

/** Maximum amount of waiting work per namespace; each item holds an answer of up to 1 MiB. */
const MOST_WAITING = 8

/** Runs one piece of work at a time, round-robin by namespace: a namespace waits for at most one piece of work of each other namespace. */
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
