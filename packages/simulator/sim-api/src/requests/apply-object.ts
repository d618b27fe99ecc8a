import type { ApiObject } from '../model/client.ts'
import { badRequest, conflict, namelessError } from '../model/errors.ts'
import { applyConfig, type Conflict } from '../ownership/apply-config.ts'
import { configFaults } from '../ownership/config-faults.ts'
import { belowOf, type FieldSet, isMember } from '../ownership/field-set.ts'
import type { Manager } from '../ownership/managers.ts'
import { Owners, ownersOf } from '../ownership/owners.ts'
import { byElement, elementText } from '../ownership/path-element.ts'
import type { OwnedWrite } from '../ownership/update-managers.ts'
import type { Served } from '../resources/registry.ts'
import { ApiStatusError } from '../model/status-error.ts'
import { isObject, type JsonObject, objectOrEmpty } from '../model/json.ts'
import { apiVersionOf } from './list.ts'
import type { ApiRequest } from '../model/request.ts'

/** Object after an apply, and its field owners. */
export interface AppliedObject {
  readonly body: JsonObject
  readonly owners: Owners
}

/**
 * Merges the configuration of an apply patch into the stored object.
 *
 * @param current undefined when the patch creates the object
 * @throws {ApiStatusError} 400 for another kind; 409 on conflicts, or when no object has the given uid; 500 (as in API servers) for a
 *   configuration that does not fit its type
 */
export function appliedTo(write: OwnedWrite, request: ApiRequest, served: Served, current: ApiObject | undefined): AppliedObject {
  const config = readConfig(write, request, served)
  refuseUnknownUid(served, config, current)
  const managers = current === undefined ? [] : ownersOf(current).managers()
  const result = applyConfig({ write, config, live: current, managers, force: request.options?.force === true })
  if (result.kind === 'conflict') throw applyConflict(result.conflicts)
  return { body: result.object, owners: Owners.of(result.managers) }
}

function readConfig(write: OwnedWrite, request: ApiRequest, { definition }: Served): JsonObject {
  const config = request.body
  if (!isObject(config)) throw badRequest(`error decoding YAML: ${notAnObject(config)}`)
  const { group, kind, version } = definition
  const { apiVersion = '', kind: sentKind = '' } = config
  const isVersionKind = apiVersion === apiVersionOf({ group, version: request.version ?? version }) && sentKind === kind
  if (!isVersionKind) throw badRequest(`invalid object type: ${groupVersion(String(apiVersion))}, Kind=${String(sentKind)}`)
  const metadata = objectOrEmpty(config['metadata'])
  if (metadata['managedFields'] != null) throw badRequest('metadata.managedFields must be nil')
  const faults = configFaults(write.shape, config)
  if (faults.length === 0) return config
  const says = faults.length === 1 ? faults[0] : ['errors:', ...faults.map((fault) => `  ${fault}`)].join('\n')
  const name = `${String(metadata['namespace'] ?? '')}/${String(metadata['name'] ?? '')}`
  throw namelessError(`failed to create typed patch object (${name}; ${groupVersion(write.apiVersion)}, Kind=${kind}): ${says}`)
}

function notAnObject(config: unknown): string {
  const kind = Array.isArray(config) ? 'array' : typeof config
  return `error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${kind} into Go value of type map[string]interface {}`
}

/** The core group has an empty name; messages show the slash. */
function groupVersion(apiVersion: string): string {
  return apiVersion.includes('/') ? apiVersion : `/${apiVersion}`
}

function refuseUnknownUid(served: Served, config: JsonObject, current: ApiObject | undefined): void {
  const { uid, name } = objectOrEmpty(config['metadata'])
  if (current !== undefined || !uid) return
  const why = `uid mismatch: the provided object specified uid ${String(uid)}, and no existing object was found`
  throw conflict(served.id, String(name), why)
}

function applyConflict(conflicts: readonly Conflict[]): ApiStatusError {
  const single = conflicts.flatMap(({ manager, fields }) => pathsOf(fields).map((path) => ({ owner: managerText(manager), path })))
  const causes = single.map(({ owner, path }) => ({ reason: 'FieldManagerConflict', message: `conflict with ${owner}`, field: path }))
  return new ApiStatusError(409, 'Conflict', conflictMessage(single), { causes })
}

function conflictMessage(conflicts: readonly { readonly owner: string; readonly path: string }[]): string {
  const [first] = conflicts
  if (conflicts.length === 1) return `Apply failed with 1 conflict: conflict with ${first!.owner}: ${first!.path}`
  const lines = [...Map.groupBy(conflicts, ({ owner }) => owner)].flatMap(([owner, group]) => [
    `conflicts with ${owner}:`,
    ...group.map(({ path }) => `- ${path}`),
  ])
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join('\n')}`
}

function managerText({ manager, operation, apiVersion, subresource }: Manager): string {
  const name = `${JSON.stringify(manager)}${subresource === '' ? '' : ` with subresource ${JSON.stringify(subresource)}`}`
  return operation === 'Update' ? `${name} using ${apiVersion}` : name
}

/** Paths of a set's fields: those at a level before those below it. */
function pathsOf(set: FieldSet, path = ''): readonly string[] {
  const elements = Object.keys(set).sort(byElement)
  const own = elements.filter((element) => isMember(set[element])).map((element) => `${path}${elementText(element)}`)
  return [...own, ...elements.flatMap((element) => pathsOf(belowOf(set[element]!), `${path}${elementText(element)}`))]
}
