import { type ConfigObject, pinKey } from '@tranche/config'

/** Maximum number of names that are remembered; the oldest one is dropped first, and then found again. */
const MOST_TAKEN = 200

/** An object that has the name of a copy. */
export interface ForeignName extends ConfigObject {
  readonly namespace: string
}

/**
 * Names of copies that belong to other objects. A copy gets another name then: a user who may create objects cannot hold a release by
 * creating one.
 */
export interface ForeignNames {
  /** Remembers the name, with a salt for another one. */
  add(taken: ForeignName): void
  /** Forgets a name that belongs to no other object any more. */
  drop(taken: ForeignName): void
  /** @returns salts by `ConfigMap/name` */
  in(namespace: string): ReadonlyMap<string, string>
}

/** @param salt gives a text that no other client can foresee */
export function createForeignNames(salt: () => string): ForeignNames {
  const names = new Map<string, { readonly taken: ForeignName; readonly salt: string }>()
  const keyOf = (taken: ForeignName): string => `${taken.namespace}/${pinKey(taken)}`
  return {
    add(taken) {
      const key = keyOf(taken)
      if (names.has(key)) return
      names.set(key, { taken, salt: salt() })
      for (const oldest of names.keys()) {
        if (names.size <= MOST_TAKEN) break
        names.delete(oldest)
      }
    },
    drop: (taken) => void names.delete(keyOf(taken)),
    in: (namespace) =>
      new Map([...names.values()].flatMap((one) => (one.taken.namespace === namespace ? [[pinKey(one.taken), one.salt] as const] : []))),
  }
}
