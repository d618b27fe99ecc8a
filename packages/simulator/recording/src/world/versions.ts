import type { Cause, Decision, Observations } from './observations.ts'

/** Every version of something, oldest first. */
export interface Versions<T> {
  readonly latest: T | undefined
  push(cause: Cause, value: T | undefined): void
  /** @returns the versions that whoever decided may have had before them, newest first; undefined where there may have been none */
  possible(decision: Decision, observations: Observations): Iterable<T | undefined>
}

/** Begins with none. */
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
