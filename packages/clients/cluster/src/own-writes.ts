import type { Reflector } from '@tranche/kube-client'
import { compareResourceVersions } from '@tranche/kube-types'

/** Objects that a process wrote and its watch does not show yet, by key. */
export interface OwnWrites<T> {
  /** Stores the response to a write. */
  learn(key: string, object: T): void
  forget(key: string): void
  /** @returns the objects that the watch does not show yet */
  unseen(): ReadonlyMap<string, T>
}

/**
 * Keeps what a process wrote until its watch has reached that version. A list that was requested after the response arrived wins over it,
 * whatever the versions: an API server restored from a backup counts from an older one.
 */
export function createOwnWrites<T extends { readonly resourceVersion: string }>(
  reflector: Pick<Reflector<never>, 'positionOf' | 'listsOf'>,
  namespaceOf: (object: T) => string,
): OwnWrites<T> {
  /** With the number of the last list that was requested before the response. */
  const written = new Map<string, { readonly object: T; readonly list: number }>()
  return {
    learn: (key, object) => void written.set(key, { object, list: reflector.listsOf(namespaceOf(object)).begun }),
    forget: (key) => void written.delete(key),
    unseen() {
      const unseen = new Map<string, T>()
      for (const [key, { object, list }] of written) {
        const namespace = namespaceOf(object)
        const isShown = compareResourceVersions(reflector.positionOf(namespace), object.resourceVersion) >= 0
        if (isShown || reflector.listsOf(namespace).done > list) written.delete(key)
        else unseen.set(key, object)
      }
      return unseen
    },
  }
}
