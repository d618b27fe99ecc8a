import type { Reflector } from '@tranche/kube-client'
import { compareResourceVersions, keyOf, keyText, type KubeObject, type ObjectKey } from '@tranche/kube-types'

/** Objects as last seen, in a watch or in the answer to a write of our own: whichever is newer. */
export interface OverlayStore<T extends KubeObject> {
  get(key: ObjectKey): T | undefined
  /** Takes over the answer to a write. */
  learn(object: T): void
}

/** The answer to a write. */
interface Answer<T> {
  readonly object: T
  /** The last list that was asked for before. */
  readonly list: number
}

/**
 * Reads from `reflector`, and from answers it has not caught up with. A list that was asked for after an answer has come counts more than the
 * answer, whatever the versions: an API server that was restored from a backup counts from an older one.
 *
 * @param onLearn told of every answer that is taken over
 */
export function createOverlayStore<T extends KubeObject>(
  reflector: Pick<Reflector<T>, 'store' | 'positionOf' | 'listsOf'>,
  onLearn?: (object: T) => void,
): OverlayStore<T> {
  const answers = new Map<string, Answer<T>>()

  /** @returns the answer that no list has overtaken */
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
