import type { ApiMeta, ApiObject } from './client.ts'
import type { StatusCause } from './status-error.ts'
import { isObject, jsonEqual, type JsonObject, listOrEmpty, objectOrEmpty } from './json.ts'
import { badRequest } from './errors.ts'
import { invalid, notAllowed, required, tooLong } from './field-errors.ts'
import { isDnsLabel, isLabelValue, isQualifiedName, isSubdomain, NOT_A_LABEL, NOT_A_SUBDOMAIN } from './names.ts'
import type { ResourceDefinition } from './resource-definition.ts'

/**
 * Decodes `metadata` of an object from a request.
 *
 * @throws {ApiStatusError} 400 when a field has the wrong type
 */
export function readMeta(body: JsonObject): Partial<ApiMeta> {
  const meta = body['metadata'] ?? {}
  if (!isObject(meta)) throw wrongType('metadata', 'ObjectMeta')
  for (const field of ['name', 'generateName', 'namespace', 'uid', 'resourceVersion', 'creationTimestamp', 'deletionTimestamp'])
    if (!isAbsentOr('string', meta[field])) throw wrongType(`metadata.${field}`, 'string')
  for (const field of ['labels', 'annotations']) if (!isTextMap(meta[field])) throw wrongType(`metadata.${field}`, 'map[string]string')
  if (!isAbsentOrList(meta['finalizers'], (item) => typeof item === 'string')) throw wrongType('metadata.finalizers', '[]string')
  if (!isAbsentOrList(meta['ownerReferences'], isObject)) throw wrongType('metadata.ownerReferences', '[]OwnerReference')
  if (!isAbsentOrList(meta['managedFields'], isObject)) throw wrongType('metadata.managedFields', '[]ManagedFieldsEntry')
  return meta as Partial<ApiMeta>
}

/** @returns metadata of a new object: fields of its creator, and those that the server sets */
export function metaForCreate(
  meta: Partial<ApiMeta>,
  given: Pick<ApiMeta, 'name' | 'uid' | 'creationTimestamp'> & { readonly namespace?: string | undefined },
): ApiMeta {
  return {
    name: given.name,
    ...(meta.generateName && { generateName: meta.generateName }),
    ...(given.namespace !== undefined && { namespace: given.namespace }),
    uid: given.uid,
    resourceVersion: '',
    creationTimestamp: given.creationTimestamp,
    ...chosenFields(meta),
  }
}

/** @returns metadata of an updated object: mutable fields of the writer, the rest from the stored one */
export function metaForUpdate(meta: Partial<ApiMeta>, old: ApiMeta): ApiMeta {
  const { labels: _labels, annotations: _annotations, finalizers: _finalizers, ownerReferences: _owners, ...kept } = old
  return { ...kept, ...chosenFields(meta) }
}

/** @returns errors in the metadata of a new object */
export function validateMeta(definition: ResourceDefinition, object: ApiObject): readonly StatusCause[] {
  const { name, labels = {}, annotations = {}, finalizers = [], ownerReferences = [] } = object.metadata
  return [
    ...nameCauses(definition, name),
    ...labelCauses(labels, 'metadata.labels'),
    ...Object.keys(annotations).flatMap((key) =>
      isQualifiedName(key.toLowerCase()) ? [] : [invalid('metadata.annotations', key, BAD_KEY)],
    ),
    ...(sizeOf(annotations) > LARGEST_ANNOTATIONS ? [tooLong('metadata.annotations', LARGEST_ANNOTATIONS)] : []),
    ...finalizerCauses(definition, finalizers),
    ...ownerCauses(listOrEmpty(ownerReferences)),
  ]
}

/** @returns errors in a map of labels; `field` is its path */
export function labelCauses(labels: Readonly<Record<string, unknown>>, field: string): readonly StatusCause[] {
  return Object.entries(labels).flatMap(([key, value]) => [
    ...(isQualifiedName(key) ? [] : [invalid(field, key, BAD_KEY)]),
    ...(isLabelValue(String(value)) ? [] : [invalid(field, value, BAD_VALUE)]),
  ])
}

/** Custom resources and their definitions may have finalizers without a domain. */
function finalizerCauses({ group, customResourceDefinition }: ResourceDefinition, finalizers: readonly string[]): readonly StatusCause[] {
  const mayBePlain = customResourceDefinition !== undefined || group === 'apiextensions.k8s.io'
  return finalizers.flatMap((finalizer, index) => {
    if (!isQualifiedName(finalizer)) return [invalid(`metadata.finalizers[${index}]`, finalizer, BAD_KEY)]
    if (mayBePlain || finalizer.includes('/') || STANDARD_FINALIZERS.has(finalizer)) return []
    return [invalid(`metadata.finalizers[${index}]`, finalizer, BAD_FINALIZER)]
  })
}

/** @returns errors of a metadata change; `sent` is the object from the request */
export function validateMetaUpdate(sent: Partial<ApiMeta>, next: ApiMeta, old: ApiMeta): readonly StatusCause[] {
  const immutable = (['uid', 'deletionTimestamp', 'deletionGracePeriodSeconds'] as const)
    .filter((field) => sent[field] !== undefined && sent[field] !== null && sent[field] !== '' && !jsonEqual(sent[field], old[field]))
    .map((field) => invalid(`metadata.${field}`, sent[field], 'field is immutable'))
  return [...immutable, ...newFinalizerCauses(next, old)]
}

/** Known finalizers without a domain. */
const STANDARD_FINALIZERS: ReadonlySet<string> = new Set(['orphan', 'foregroundDeletion', 'kubernetes'])

const BAD_FINALIZER = 'name is neither a standard finalizer name nor is it fully qualified'

/** Maximum size of all annotations of one object, keys and values, in bytes. */
const LARGEST_ANNOTATIONS = 256 * 1024

function sizeOf(map: Readonly<Record<string, string>>): number {
  return Object.entries(map).reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0)
}

const BAD_KEY =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
const BAD_VALUE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"

/** Omits empty maps and lists, like the typed API. */
function chosenFields(meta: Partial<ApiMeta>): Partial<ApiMeta> {
  return {
    ...(hasFields(meta.labels) && { labels: meta.labels }),
    ...(hasFields(meta.annotations) && { annotations: meta.annotations }),
    ...(meta.ownerReferences != null && meta.ownerReferences.length > 0 && { ownerReferences: meta.ownerReferences }),
    ...(meta.finalizers != null && meta.finalizers.length > 0 && { finalizers: meta.finalizers }),
  }
}

function hasFields(map: Readonly<Record<string, string>> | null | undefined): map is Readonly<Record<string, string>> {
  return map != null && Object.keys(map).length > 0
}

function nameCauses(definition: ResourceDefinition, name: string): readonly StatusCause[] {
  if (name === '') return [required('metadata.name', 'name or generateName is required')]
  if (definition.group === '' && definition.plural === 'namespaces')
    return isDnsLabel(name) ? [] : [invalid('metadata.name', name, NOT_A_LABEL)]
  return isSubdomain(name) ? [] : [invalid('metadata.name', name, NOT_A_SUBDOMAIN)]
}

function ownerCauses(owners: readonly unknown[]): readonly StatusCause[] {
  const missing = owners.flatMap((owner) =>
    ['apiVersion', 'kind', 'name', 'uid']
      .filter((field) => !objectOrEmpty(owner)[field])
      .map((field) => invalid(`metadata.ownerReferences.${field}`, '', 'must not be empty')),
  )
  const controllers = owners.filter((owner) => objectOrEmpty(owner)['controller'] === true)
  if (controllers.length < 2) return missing
  return [...missing, invalid('metadata.ownerReferences', owners, 'Only one reference can have Controller set to true')]
}

function newFinalizerCauses(next: ApiMeta, old: ApiMeta): readonly StatusCause[] {
  if (old.deletionTimestamp === undefined) return []
  const added = (next.finalizers ?? []).filter((finalizer) => !old.finalizers?.includes(finalizer))
  if (added.length === 0) return []
  return [
    notAllowed(
      'metadata.finalizers',
      `no new finalizers can be added if the object is being deleted, found new finalizers ${JSON.stringify(added)}`,
    ),
  ]
}

function wrongType(field: string, type: string): Error {
  return badRequest(`the object provided is unrecognized: json: cannot unmarshal into field ${field} of type ${type}`)
}

function isAbsentOr(type: 'string', value: unknown): boolean {
  return value === undefined || value === null || typeof value === type
}

function isAbsentOrList(value: unknown, isItem: (item: unknown) => boolean): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.every(isItem))
}

function isTextMap(value: unknown): boolean {
  return value === undefined || value === null || (isObject(value) && Object.values(value).every((item) => typeof item === 'string'))
}
