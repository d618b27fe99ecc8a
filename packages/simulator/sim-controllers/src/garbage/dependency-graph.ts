import type { ApiObject, ResourceId } from '@tranche/sim-api'

/** An object and where it is served. */
export interface Located {
  readonly id: ResourceId
  readonly object: ApiObject
}

/** Which objects exist, and who points at whom by owner reference. */
export interface DependencyGraph {
  put(id: ResourceId, object: ApiObject): void
  remove(uid: string): void
  get(uid: string): Located | undefined
  /** Uids of the objects that have `uid` among their owners. */
  dependentsOf(uid: string): readonly string[]
  /** @returns where objects of this kind are served; undefined for a kind never seen */
  resourceOf(apiVersion: string, kind: string): ServedKind | undefined
  /** Makes a kind known before its first object. */
  learn(apiVersion: string, kind: string, served: ServedKind): void
}

/** Where the objects of a kind are served. */
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

/** Versions of a group serve the same objects. */
function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/')
  return slash < 0 ? '' : apiVersion.slice(0, slash)
}
