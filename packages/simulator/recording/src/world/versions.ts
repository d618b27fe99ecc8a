import type { Cause, Decision, Observations } from './observations.ts'

/** Every version of an object, oldest first. */
export interface Versions<T> {
  readonly latest: T | undefined
  push(cause: Cause, value: T | undefined): void
  /** @returns versions that the deciding process may have seen, newest first; undefined where it may have seen none */
  possible(decision: Decision, observations: Observations): Iterable<T | undefined>
}

/** Starts empty. */
export function createVersions<T>(): Versions<T> {
  const versions: { readonly cause: Cause; readonly value: T | undefined }[] = []
  return {
    get latest() {
      return versions.at(-1)?.value
    },
    push: (cause, value) => void versions.push({ cause, value }),
    *possible(decision, observations) {
      for (let at = versions.length - 1; at >= 0; at--) {
        const { cause, value } = versions[at]!
        yield value
        if (observations.hasSeen(decision, cause)) return
      }
      yield undefined
    },
  }
}
