import { type ApiObject, type ApiOwner, isStatus, type SimClient } from '@tranche/sim-api'
import type { DependencyGraph, ServedKind } from './dependency-graph.ts'

/** Deletion waits until the dependents are gone. */
export const FOREGROUND = 'foregroundDeletion'
/** Deletion waits until the dependents are orphaned. */
export const ORPHAN = 'orphan'

/** Owners of one object, by their effect on it. */
export interface OwnerClasses {
  /** Owners that keep it. */
  readonly solid: readonly ApiOwner[]
  /** Owners that do not exist, or not in its namespace. */
  readonly dangling: readonly ApiOwner[]
  /** Owners that wait for its deletion. */
  readonly waiting: readonly ApiOwner[]
}

/**
 * Reads an owner from the server when no watch has reported it as referenced, because the watches lag independently. An owner of an
 * unserved kind counts as solid, and so does a namespaced owner of a cluster-scoped object: neither can be read.
 */
export async function classifyOwners(client: SimClient, graph: DependencyGraph, object: ApiObject): Promise<OwnerClasses> {
  const solid: ApiOwner[] = []
  const dangling: ApiOwner[] = []
  const waiting: ApiOwner[] = []
  for (const owner of object.metadata.ownerReferences ?? []) {
    const served = graph.resourceOf(owner.apiVersion, owner.kind)
    const isBeyondReach = served === undefined || (served.namespaced && object.metadata.namespace === undefined)
    if (isBeyondReach) {
      solid.push(owner)
      continue
    }
    const found = knownOwner(graph, owner, object) ?? (await liveOwner(client, served, owner, object.metadata.namespace))
    if (found === undefined) dangling.push(owner)
    else if (waitsFor(found, FOREGROUND)) waiting.push(owner)
    else solid.push(owner)
  }
  return { solid, dangling, waiting }
}

/** @returns whether the object is terminating and this finalizer keeps it */
export function waitsFor({ metadata }: ApiObject, finalizer: typeof FOREGROUND | typeof ORPHAN): boolean {
  return metadata.deletionTimestamp !== undefined && metadata.finalizers?.includes(finalizer) === true
}

/** @returns whether an object may own another: it is in the same namespace, or cluster-scoped */
export function isInReach(owner: ApiObject, dependent: ApiObject): boolean {
  return owner.metadata.namespace === undefined || owner.metadata.namespace === dependent.metadata.namespace
}

/** @returns owner as reported by a watch; undefined when none has reported it as referenced */
export function knownOwner(graph: DependencyGraph, { uid, kind, name }: ApiOwner, dependent: ApiObject): ApiObject | undefined {
  const found = graph.get(uid)?.object
  return found !== undefined && found.kind === kind && found.metadata.name === name && isInReach(found, dependent) ? found : undefined
}

async function liveOwner(
  client: SimClient,
  { id, namespaced }: ServedKind,
  { name, uid }: ApiOwner,
  namespace: string | undefined,
): Promise<ApiObject | undefined> {
  try {
    const found = await client.get(id, name, namespaced ? namespace : undefined)
    return found.metadata.uid === uid ? found : undefined
  } catch (error) {
    if (isStatus(error, 404)) return undefined
    throw error
  }
}
