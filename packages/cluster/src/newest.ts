import type { Reflector } from '@tranche/kube-client'
import { compareResourceVersions, keyOf, keyText, type KubeObject, type ObjectKey } from '@tranche/kube-types'

/** Objects as last seen, in a watch or in the answer to a write of our own: whichever is newer. */
export interface Newest<T extends KubeObject> {
  get(key: ObjectKey): T | undefined
  /** Takes over the answer to a write. */
  learn(object: T): void
}

/**
 * Reads from `reflector`, and from answers it has not caught up with.
 *
 * @param onLearn told of every answer that is taken over
 */
export function createNewest<T extends KubeObject>(reflector: Reflector<T>, onLearn?: (object: T) => void): Newest<T> {
  const answers = new Map<string, T>()
  return {
    get(key) {
      const watched = reflector.store.get(key)
      const answer = answers.get(keyText(key))
      if (answer === undefined) return watched
      const seen = watched?.metadata.resourceVersion ?? reflector.positionOf(key.namespace ?? '')
      if (compareResourceVersions(answer.metadata.resourceVersion, seen) > 0) return answer
      answers.delete(keyText(key))
      return watched
    },
    learn(object) {
      const key = keyText(keyOf(object))
      const known = answers.get(key)
      const isOlder =
        known?.metadata.uid === object.metadata.uid &&
        compareResourceVersions(object.metadata.resourceVersion, known.metadata.resourceVersion) < 0
      if (!isOlder) answers.set(key, object)
      onLearn?.(object)
    },
  }
}
