import { type Comparison, compareFields } from './compare-fields.ts'
import { differenceOf, type FieldSet, isEmptySet, LEAF, SELF, unionOf, withoutBranches } from './field-set.ts'
import { type Manager, managerKey, type Managers, parseSet, setText, sortManagers, withFields } from './managers.ts'
import type { Shape } from './shape.ts'
import { timestamp } from '../model/timestamp.ts'

/** Writer, operation, and how the write is compared. */
export interface OwnedWrite {
  readonly shape: Shape
  /** Name of the field manager. */
  readonly manager: string
  readonly apiVersion: string
  /** Empty for the resource itself. */
  readonly subresource: string
  /** Time by the server's clock. */
  readonly timeMs: number
  /** Fields that this operation cannot write, so it never owns them. */
  readonly ignored: FieldSet
  /** Served versions of the resource; ownership in any other version is dropped. */
  readonly apiVersions: readonly string[]
  /** Object before any field is set. */
  readonly emptyObject: object
}

/**
 * Computes the owners after a create, an update or a patch. The writer owns everything that it changed; removed fields have no owner.
 *
 * @param before undefined for a new object
 * @returns the same managers when nothing changed
 */
export function updateManagers(write: OwnedWrite, managers: Managers, before: object | undefined, after: object): Managers {
  const comparison = changesOf(write, before ?? write.emptyObject, after)
  const { removed } = comparison
  const changed = unionOf(comparison.modified, comparison.added)
  if (isEmptySet(changed) && isEmptySet(removed)) return managers
  const others = withoutOwned(inServedVersions(managers, write), unionOf(changed, removed))
  const own = differenceOf(changed, notOwned)
  if (isEmptySet(own)) return sortManagers(others)
  return sortManagers(capped(taken({ ...managerOf(write), operation: 'Update' }, own, others)))
}

/** @returns difference between the objects, limited to what this operation can write */
export function changesOf({ shape, ignored }: OwnedWrite, before: object, after: object): Comparison {
  const { added, removed, modified } = compareFields(shape, before, after)
  const filtered = (set: FieldSet): FieldSet => withoutBranches(set, ignored)
  return { added: filtered(added), removed: filtered(removed), modified: filtered(modified) }
}

/** @returns managers without these fields; managers that own nothing else are dropped */
export function withoutOwned(managers: Managers, lost: FieldSet): Managers {
  if (isEmptySet(lost)) return managers
  const elements = Object.keys(lost).map((element) => `${JSON.stringify(element)}:`)
  return managers.flatMap((manager) => {
    if (!elements.some((element) => manager.fields.includes(element))) return [manager]
    const set = parseSet(manager.fields)
    return withFields(manager, differenceOf(set, lost)) ?? []
  })
}

/** @returns managers whose version is still served */
export function inServedVersions(managers: Managers, { apiVersions }: OwnedWrite): Managers {
  return managers.every(({ apiVersion }) => apiVersions.includes(apiVersion))
    ? managers
    : managers.filter(({ apiVersion }) => apiVersions.includes(apiVersion))
}

/** @returns the writer as a manager without fields */
export function managerOf({ manager, apiVersion, subresource, timeMs }: OwnedWrite): Omit<Manager, 'operation' | 'fields'> {
  return { manager: manager === '' ? 'unknown' : manager, apiVersion, subresource, time: timestamp(timeMs) }
}

const metaElements = [
  'name',
  'namespace',
  'creationTimestamp',
  'selfLink',
  'uid',
  'clusterName',
  'generation',
  'managedFields',
  'resourceVersion',
]

/** Fields that never have an owner. */
export const notOwned: FieldSet = {
  'f:apiVersion': LEAF,
  'f:kind': LEAF,
  'f:metadata': { [SELF]: LEAF, ...Object.fromEntries(metaElements.map((name) => [`f:${name}`, LEAF])) },
}

function taken(writer: Omit<Manager, 'fields'>, own: FieldSet, managers: Managers): Managers {
  const key = managerKey({ ...writer, fields: '' } as Manager)
  const known = managers.find((manager) => managerKey(manager) === key)
  const fields = setText(known === undefined ? own : unionOf(own, parseSet(known.fields)))
  return [...managers.filter((manager) => manager !== known), { ...writer, fields }]
}

/** Maximum number of update managers kept per object; older ones are merged. */
const MOST_UPDATERS = 10
const OLD_UPDATERS = 'ancient-changes'

function capped(managers: Managers): Managers {
  const updaters = managers.filter(({ operation }) => operation === 'Update')
  const surplus = updaters.length - MOST_UPDATERS
  if (surplus <= 0) return managers
  const oldest = sortManagers(updaters)
  const result = new Set(managers)
  const firstOf = new Map<string, Manager>()
  for (const manager of oldest) {
    if (updatersIn(result) <= MOST_UPDATERS) break
    const first = firstOf.get(manager.apiVersion)
    if (first === undefined) firstOf.set(manager.apiVersion, manager)
    else {
      const bucket = bucketWith(first, manager)
      result.delete(first)
      result.delete(manager)
      result.add(bucket)
      firstOf.set(manager.apiVersion, bucket)
    }
  }
  return [...result]
}

function updatersIn(managers: ReadonlySet<Manager>): number {
  return [...managers].filter(({ operation }) => operation === 'Update').length
}

function bucketWith(first: Manager, { apiVersion, time, fields }: Manager): Manager {
  const all = unionOf(parseSet(first.fields), parseSet(fields))
  return { manager: OLD_UPDATERS, operation: 'Update', apiVersion, subresource: '', time, fields: setText(all) }
}
