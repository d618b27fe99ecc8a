import { type ApiObject, type ApiOwner, isStatus, type SimClient } from '@tranche/sim-api'
import type { DependencyGraph, ServedKind } from './dependency-graph.ts'

/** Deletion waits until the dependents are gone. */
export const FOREGROUND = 'foregroundDeletion'
/** Deletion waits until the dependents have let go. */
export const ORPHAN = 'orphan'

/** The owners of one object, by what they mean for it. */
export interface OwnerClasses {
  /** They keep it. */
  readonly solid: readonly ApiOwner[]
  /** They do not exist, or not in its namespace. */
  readonly dangling: readonly ApiOwner[]
  /** They wait for it to go. */
  readonly waiting: readonly ApiOwner[]
}

/**
 * An owner that no watch has shown as the reference names it is asked for: the watches lag, each by itself. An owner of a
 * kind that is not served counts as solid, and so does a namespaced one of an object that lies in no namespace: neither can
 * be looked up.
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

/** @returns whether the object is being deleted and this finalizer holds it */
export function waitsFor({ metadata }: ApiObject, finalizer: typeof FOREGROUND | typeof ORPHAN): boolean {
  return metadata.deletionTimestamp !== undefined && metadata.finalizers?.includes(finalizer) === true
}

/** @returns whether an object may own another: from its own namespace, or from none */
export function isInReach(owner: ApiObject, dependent: ApiObject): boolean {
  return owner.metadata.namespace === undefined || owner.metadata.namespace === dependent.metadata.namespace
}

/** @returns the owner as a watch has shown it; undefined when none has shown it as the reference names it */
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
