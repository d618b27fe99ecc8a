import { jsonEqual, type JsonObject, objectOrEmpty } from '../model/json.ts'
import { appliedFields, withNamedFields } from './applied-fields.ts'
import { compareFields } from './compare-fields.ts'
import { differenceOf, type FieldSet, intersectionOf, isEmptySet, unionOf, withoutBranches } from './field-set.ts'
import { type Manager, managerKey, type Managers, parseSet, setText, sortManagers } from './managers.ts'
import { mergeFields } from './merge-fields.ts'
import { removeFields } from './remove-fields.ts'
import type { Shape } from './shape.ts'
import { changesOf, inServedVersions, managerOf, notOwned, type OwnedWrite, updateManagers, withoutOwned } from './update-managers.ts'

/** Configuration to apply. */
export interface Application {
  readonly write: OwnedWrite
  readonly config: JsonObject
  /** Undefined when the object does not exist yet. */
  readonly live: JsonObject | undefined
  readonly managers: Managers
  /** Whether to take over fields that other managers own. */
  readonly force: boolean
}

/** Result of an application. */
export type Applied =
  | { readonly kind: 'applied'; readonly object: JsonObject; readonly managers: Managers }
  /** Other managers own some of the fields, with other values. */
  | { readonly kind: 'conflict'; readonly conflicts: readonly Conflict[] }

/** Conflict: fields of another manager that the configuration would change. */
export interface Conflict {
  readonly manager: Manager
  readonly fields: FieldSet
}

/** Field manager of kubectl's apply; it also owns the fields of earlier client-side applies. */
const KUBECTL = 'kubectl'
/** Manager of fields written before managers were tracked. */
const BEFORE_FIRST_APPLY = 'before-first-apply'
/** Annotation in which client-side apply stores the last applied configuration. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

/**
 * Merges a configuration into an object. Removes the fields that the same manager applied before and no longer applies, unless another
 * manager owns them.
 */
export function applyConfig(application: Application): Applied {
  const known = { ...application, managers: knownManagers(application) }
  const first = applied(known)
  if (application.write.manager !== KUBECTL) return first
  return withLastApplied(first.kind === 'conflict' ? allowLastApplied(known, first.conflicts) : first, application.config)
}

function knownManagers({ write, live, managers }: Application): Managers {
  if (managers.length > 0 || live === undefined) return inServedVersions(managers, write)
  return updateManagers({ ...write, manager: BEFORE_FIRST_APPLY }, [], undefined, live)
}

function applied({ write, config, live = {}, managers, force }: Application): Applied {
  const writer: Omit<Manager, 'fields'> = { ...managerOf(write), operation: 'Apply' }
  const key = managerKey({ ...writer, fields: '' } as Manager)
  const before = managers.find((manager) => managerKey(manager) === key)
  const others = managers.filter((manager) => manager !== before)
  const own = withoutBranches(appliedFields(write.shape, config), write.ignored)
  const merged = objectOrEmpty(mergeFields(write.shape, live, config))
  const owned = others.reduce((set, { fields }) => unionOf(set, parseSet(fields)), own)
  const next = before === undefined ? merged : objectOrEmpty(pruned(write.shape, merged, { last: parseSet(before.fields), owned }))

  const { added, modified, removed } = changesOf(write, live, next)
  const changed = unionOf(added, modified)
  const conflicts = force ? [] : conflictsOf(others, changed)
  if (conflicts.length > 0) return { kind: 'conflict', conflicts }
  const lost = unionOf(changed, removed)
  const fields = differenceOf(own, notOwned)
  const time = jsonEqual(live, next) ? before?.time : writer.time
  const entry: Managers = isEmptySet(fields) ? [] : [{ ...writer, time, fields: setText(fields) }]
  return { kind: 'applied', object: next, managers: sortManagers([...withoutOwned(others, lost), ...entry]) }
}

function conflictsOf(others: Managers, changed: FieldSet): readonly Conflict[] {
  return others
    .map((manager) => ({ manager, fields: intersectionOf(parseSet(manager.fields), changed) }))
    .filter(({ fields }) => !isEmptySet(fields))
    .toSorted((a, b) => (managerKey(a.manager) < managerKey(b.manager) ? -1 : 1))
}

/** Removes fields that were applied last and have no owner now; fields that this manager never owned stay. */
function pruned(shape: Shape, merged: JsonObject, { last, owned }: { readonly last: FieldSet; readonly owned: FieldSet }): unknown {
  const named = (set: FieldSet): FieldSet => withNamedFields(shape, set)
  const all = named(appliedFields(shape, merged))
  const cut = removeFields(shape, merged, named(last)) ?? {}
  const kept = unionOf(named(appliedFields(shape, cut)), named(owned))
  const rest = removeFields(shape, merged, differenceOf(all, kept)) ?? {}
  const gone = intersectionOf(differenceOf(all, named(appliedFields(shape, rest))), named(last))
  return removeFields(shape, merged, gone)
}

/** A client-side applier has no conflicts about fields in its annotation that the object still has. */
function allowLastApplied(application: Application, conflicts: readonly Conflict[]): Applied {
  const allowed = lastAppliedFields(application)
  const left = conflicts
    .map(({ manager, fields }) => ({ manager, fields: differenceOf(fields, allowed) }))
    .filter(({ fields }) => !isEmptySet(fields))
  return left.length > 0 ? { kind: 'conflict', conflicts: left } : applied({ ...application, force: true })
}

function lastAppliedFields({ write, live = {} }: Application): FieldSet {
  const last = lastAppliedOf(live)
  if (last === undefined || last['apiVersion'] !== write.apiVersion) return {}
  const { modified, added, removed } = compareFields(write.shape, last, live)
  return [modified, added, removed].reduce(differenceOf, appliedFields(write.shape, last))
}

function lastAppliedOf(object: JsonObject): JsonObject | undefined {
  const text = objectOrEmpty(objectOrEmpty(object['metadata'])['annotations'])[LAST_APPLIED]
  if (typeof text !== 'string' || text === '') return undefined
  try {
    return objectOrEmpty(JSON.parse(text))
  } catch {
    return undefined
  }
}

/** Updates the annotation, because client-side appliers still read it. */
function withLastApplied(result: Applied, config: JsonObject): Applied {
  if (result.kind === 'conflict') return result
  const metadata = objectOrEmpty(result.object['metadata'])
  const annotations = objectOrEmpty(metadata['annotations'])
  if (!annotations[LAST_APPLIED]) return result
  const next = { ...annotations, [LAST_APPLIED]: `${JSON.stringify(inOrder(withoutAnnotation(config)))}\n` }
  return { ...result, object: { ...result.object, metadata: { ...metadata, annotations: next } } }
}

function withoutAnnotation(config: JsonObject): JsonObject {
  const metadata = objectOrEmpty(config['metadata'])
  if (metadata['annotations'] === undefined) return config
  const { [LAST_APPLIED]: _last, ...annotations } = objectOrEmpty(metadata['annotations'])
  const { annotations: _annotations, ...rest } = metadata
  return { ...config, metadata: Object.keys(annotations).length > 0 ? { ...rest, annotations } : rest }
}

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder)
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(fields.map(([name, item]) => [name, inOrder(item)]))
}
