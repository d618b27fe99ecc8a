import type { Reflector } from '@tranche/kube-client'
import { compareResourceVersions, keyOf, keyText, type KubeObject, type ObjectKey } from '@tranche/kube-types'

/** Objects as last seen, in a watch or in the response to this process's own write: whichever is newer. */
export interface OverlayStore<T extends KubeObject> {
  get(key: ObjectKey): T | undefined
  /** Stores the response to a write. */
  learn(object: T): void
}

/** Response to a write. */
interface Answer<T> {
  readonly object: T
  /** Number of the last list that was requested before. */
  readonly list: number
}

/**
 * Reads from `reflector`, and from responses that it has not caught up with. A list that was requested after a response arrived wins over
 * the response, whatever the versions: an API server restored from a backup counts from an older one.
 *
 * @param onLearn called for every stored response
 */
export function createOverlayStore<T extends KubeObject>(
  reflector: Pick<Reflector<T>, 'store' | 'positionOf' | 'listsOf'>,
  onLearn?: (object: T) => void,
): OverlayStore<T> {
  const answers = new Map<string, Answer<T>>()

  /** @returns the response, unless a list has superseded it */
  function answerFor(key: ObjectKey): T | undefined {
    const answer = answers.get(keyText(key))
    if (answer === undefined) return undefined
    if (reflector.listsOf(key.namespace ?? '').done <= answer.list) return answer.object
    answers.delete(keyText(key))
    return undefined
  }

  return {
    get(key) {
      const watched = reflector.store.get(key)
      const answer = answerFor(key)
      if (answer === undefined) return watched
      const seen = watched?.metadata.resourceVersion ?? reflector.positionOf(key.namespace ?? '')
      if (compareResourceVersions(answer.metadata.resourceVersion, seen) > 0) return answer
      answers.delete(keyText(key))
      return watched
    },
    learn(object) {
      const key = keyOf(object)
      const known = answerFor(key)
      const isOlder =
        known?.metadata.uid === object.metadata.uid &&
        compareResourceVersions(object.metadata.resourceVersion, known.metadata.resourceVersion) < 0
      if (!isOlder) answers.set(keyText(key), { object, list: reflector.listsOf(key.namespace ?? '').begun })
      onLearn?.(object)
    },
  }
}
