import type { ApiObject } from '../model/client.ts'
import { builtInShape } from '../ownership/built-in-shape.ts'
import { customShape } from '../ownership/custom-shape.ts'
import { emptyObject } from '../ownership/empty-object.ts'
import { type FieldSet, LEAF } from '../ownership/field-set.ts'
import { type Managers, managersText, readManagers } from '../ownership/managers.ts'
import { Owners, ownersOf } from '../ownership/owners.ts'
import { anyShape, type Shape } from '../ownership/shape.ts'
import type { OwnedWrite } from '../ownership/update-managers.ts'
import type { Served } from '../resources/registry.ts'
import { findBuiltinKind } from '../schema/builtin-definitions.ts'
import type { JsonSchema } from '../model/json-schema.ts'
import { openApiSchemaOf } from '../schema/schema-source.ts'
import { isObject } from '../model/json.ts'
import type { Engine } from '../engine/engine.ts'
import { apiVersionOf } from './list.ts'
import type { ApiRequest } from '../model/request.ts'

/** @returns writer of a request, and how its write is compared */
export function ownedWriteOf(engine: Engine, request: ApiRequest, served: Served): OwnedWrite {
  const version = request.version ?? served.definition.version
  const subresource = request.ownedAs ?? request.subresource ?? ''
  return { ...wayOf(served, version, subresource), manager: managerName(request), timeMs: engine.clock.nowMs() }
}

/** Parts that are common to all writers of one operation. */
type Way = Omit<OwnedWrite, 'manager' | 'timeMs'>

const ways = new WeakMap<Served, Map<string, Way>>()

function wayOf(served: Served, version: string, subresource: string): Way {
  let known = ways.get(served)
  if (known === undefined) ways.set(served, (known = new Map()))
  const name = `${version}/${subresource}`
  let way = known.get(name)
  if (way === undefined) known.set(name, (way = newWay(served, version, subresource)))
  return way
}

function newWay(served: Served, version: string, subresource: string): Way {
  const { group, versions } = served.definition
  return {
    shape: shapeOf(served, version),
    apiVersion: apiVersionOf({ group, version }),
    subresource,
    ignored: ignoredFields(served, subresource),
    apiVersions: versions.map((candidate) => apiVersionOf({ group, version: candidate })),
    emptyObject: emptyObject(served.definition),
  }
}

/**
 * Computes the field owners of an object after a create, an update or a patch.
 *
 * @param sent `object`: desired object before the server prepares it; `managedFields`: as received with it
 */
export function ownersAfter(
  write: OwnedWrite,
  served: Served,
  current: ApiObject | undefined,
  sent: { readonly object: ApiObject; readonly managedFields: unknown },
): Owners {
  const owners = current === undefined ? Owners.none : ownersOf(current)
  const given = write.subresource === '' ? givenOwners(sent.managedFields, owners) : owners
  return given.after(write, current, served.definition.strategy.asSent?.(sent.object) ?? sent.object)
}

/** @returns whether both are equal, ignoring their times */
export function sameManagers(one: Managers, other: Managers): boolean {
  const text = (managers: Managers): string => managersText(managers.map((manager) => ({ ...manager, time: undefined })))
  return one === other || text(one) === text(other)
}

/** A request may replace managed fields; an empty list, or one empty entry, clears them. */
function givenOwners(managedFields: unknown, owners: Owners): Owners {
  if (!Array.isArray(managedFields)) return owners
  const isReset = managedFields.length === 0 || (managedFields.length === 1 && isObject(managedFields[0]) && isEmpty(managedFields[0]))
  if (isReset) return Owners.none
  const managers = readManagers(managedFields) ?? []
  return managers.length === 0 ? owners : Owners.of(managers)
}

function isEmpty(value: object): boolean {
  return Object.keys(value).length === 0
}

/** Field manager: its own name, else the first word of its User-Agent. */
function managerName({ options, actor }: ApiRequest): string {
  if (options?.fieldManager) return options.fieldManager
  const program = actor.fieldManager ?? actor.userAgent ?? actor.name.split(':')[0]!
  return program.split('/')[0]!.replaceAll(UNPRINTABLE, '').slice(0, LONGEST_NAME)
}

const UNPRINTABLE = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu
const LONGEST_NAME = 128

/** The main resource writes no status, and the status subresource nothing else. */
function ignoredFields({ id, definition }: Served, subresource: string): FieldSet {
  if (subresource === '') return definition.subresources.includes('status') ? status : LEAF
  if (subresource !== 'status') return LEAF
  if (definition.customResourceDefinition !== undefined) return specAndMetadata
  return id.group === '' && id.resource === 'pods' ? specOfPods : spec
}

const status: FieldSet = { 'f:status': LEAF }
const spec: FieldSet = { 'f:spec': LEAF }
const specAndMetadata: FieldSet = { 'f:spec': LEAF, 'f:metadata': LEAF }
const specOfPods: FieldSet = { 'f:spec': LEAF, 'f:metadata': { 'f:deletionTimestamp': LEAF, 'f:ownerReferences': LEAF } }

function shapeOf({ definition }: Served, version: string): Shape {
  const { group, kind, customResourceDefinition } = definition
  if (customResourceDefinition !== undefined)
    return customShape(openApiSchemaOf(customResourceDefinition, version) as JsonSchema | undefined)
  const builtIn = findBuiltinKind(group, version, kind)
  return builtIn === undefined ? anyShape : builtInShape(builtIn.definition)
}
