import type { ApiObject, ResourceId } from '@tranche/sim-api'

/** Object and its resource. */
export interface Located {
  readonly id: ResourceId
  readonly object: ApiObject
}

/** Existing objects, and their owner references. */
export interface DependencyGraph {
  put(id: ResourceId, object: ApiObject): void
  remove(uid: string): void
  get(uid: string): Located | undefined
  /** Uids of the dependents of `uid`. */
  dependentsOf(uid: string): readonly string[]
  /** @returns resource of a kind; undefined for a kind never seen */
  resourceOf(apiVersion: string, kind: string): ServedKind | undefined
  /** Registers a kind before its first object. */
  learn(apiVersion: string, kind: string, served: ServedKind): void
}

/** Resource of a kind. */
export interface ServedKind {
  readonly id: ResourceId
  readonly namespaced: boolean
}

/** @returns an empty graph */
export function createDependencyGraph(): DependencyGraph {
  const objects = new Map<string, Located>()
  const dependents = new Map<string, Set<string>>()
  const kinds = new Map<string, ServedKind>()

  function remove(uid: string): void {
    for (const owner of objects.get(uid)?.object.metadata.ownerReferences ?? []) {
      const set = dependents.get(owner.uid)
      set?.delete(uid)
      if (set?.size === 0) dependents.delete(owner.uid)
    }
    objects.delete(uid)
  }

  function learn(apiVersion: string, kind: string, served: ServedKind): void {
    kinds.set(`${groupOf(apiVersion)}/${kind}`, served)
  }

  return {
    put(id, object) {
      const { uid, ownerReferences = [] } = object.metadata
      remove(uid)
      objects.set(uid, { id, object })
      learn(object.apiVersion, object.kind, { id, namespaced: object.metadata.namespace !== undefined })
      for (const owner of ownerReferences) {
        let set = dependents.get(owner.uid)
        if (set === undefined) dependents.set(owner.uid, (set = new Set()))
        set.add(uid)
      }
    },
    remove,
    get: (uid) => objects.get(uid),
    dependentsOf: (uid) => [...(dependents.get(uid) ?? [])],
    resourceOf: (apiVersion, kind) => kinds.get(`${groupOf(apiVersion)}/${kind}`),
    learn,
  }
}

/** Versions of a group share objects. */
function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/')
  return slash < 0 ? '' : apiVersion.slice(0, slash)
}
