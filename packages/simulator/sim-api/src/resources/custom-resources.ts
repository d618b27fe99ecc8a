import { type ApiObject, resources } from '../model/client.ts'
import type { Change } from '../store/change.ts'
import { isObject, jsonEqual, listOrEmpty, objectOrEmpty } from '../model/json.ts'
import type { Store } from '../store/store.ts'
import { CUSTOM_RESOURCE_CLEANUP } from '../strategies/custom-resource-definition-strategy.ts'
import { timestamp } from '../model/timestamp.ts'
import type { Registry } from './registry.ts'
import { idOf, type ResourceDefinition, type SchemaSource } from '../model/resource-definition.ts'
import { plainStrategy } from '../strategies/strategies.ts'

/** Dependencies of the CustomResourceDefinition controller. */
export interface CustomResourcesOptions {
  readonly store: Store
  readonly registry: Registry
  readonly schemas: SchemaSource
  readonly nowMs: () => number
  /** Called when a resource is no longer served, or has another schema: its watches must be reopened. */
  readonly onReplaced: (definition: ResourceDefinition) => void
}

/**
 * Follows CustomResourceDefinitions: serves their resources, maintains their status, and deletes their objects with them.
 *
 * @returns function to call with every change of the store
 */
export function followCustomResources(options: CustomResourcesOptions): (change: Change) => void {
  return (change) => {
    if (change.id.resource === 'customresourcedefinitions' && change.id.group === 'apiextensions.k8s.io') followDefinition(options, change)
    else if (change.type === 'DELETED') finishDefinition(options, change)
  }
}

/** @returns resource of a CustomResourceDefinition */
export function definitionOf(crd: ApiObject): ResourceDefinition {
  const spec = objectOrEmpty(crd['spec'])
  const names = objectOrEmpty(spec['names'])
  const versions = listOrEmpty(spec['versions']).map(objectOrEmpty)
  const stored = versions.find((version) => version['storage'] === true) ?? versions[0] ?? {}
  const served = versions.filter((version) => version['served'] !== false).map((version) => String(version['name']))
  return {
    group: String(spec['group']),
    version: String(stored['name']),
    versions: served,
    kind: String(names['kind']),
    listKind: String(names['listKind']),
    plural: String(names['plural']),
    singular: String(names['singular']),
    shortNames: listOrEmpty(names['shortNames']).map(String),
    categories: listOrEmpty(names['categories']).map(String),
    namespaced: spec['scope'] === 'Namespaced',
    subresources: ['status', 'scale'].filter((name) => isObject(objectOrEmpty(stored['subresources'])[name])),
    ...scalePathsOf(stored),
    customResourceDefinition: crd,
    strategy: {
      ...plainStrategy,
      hasGeneration: true,
      allowUnconditionalUpdate: false,
      prepareCreate: (object) => withoutStatusIfSub(object, stored),
      selectableFields: selectableFieldsOf(listOrEmpty(stored['selectableFields'])),
    },
  }
}

function followDefinition(options: CustomResourcesOptions, change: Change): void {
  const definition = definitionOf(change.object)
  if (isBuiltIn(options.registry, definition)) return
  if (change.type === 'DELETED') {
    options.registry.remove(idOf(definition))
    options.onReplaced(definition)
    return
  }
  options.registry.add(definition, (version) => options.schemas.custom(change.object, version))
  if (change.previous !== undefined && !jsonEqual(change.previous['spec'], change.object['spec'])) rereadObjects(options, definition)
  const established = establishedDefinition(change.object, definition, timestamp(options.nowMs()))
  if (!jsonEqual(established, change.object)) options.store.put(change.id, established)
  else if (change.object.metadata.deletionTimestamp !== undefined) removeObjects(options, definition, change.object)
}

/** Stored objects are read by the current schema: fields that it lacks are hidden, and reappear with a schema that has them. */
function rereadObjects({ registry, store, onReplaced }: CustomResourcesOptions, definition: ResourceDefinition): void {
  const id = idOf(definition)
  const schema = registry.get(id).schemas.get(definition.version)
  if (schema !== undefined) store.reread(id, (object) => schema.applyDefaults(schema.prune(object).object) as ApiObject)
  onReplaced(definition)
}

/** Built-in resources take precedence over a definition of the same name. */
function isBuiltIn(registry: Registry, definition: ResourceDefinition): boolean {
  const known = registry.find(idOf(definition))?.definition
  return known !== undefined && known.customResourceDefinition === undefined
}

/** Accepts all names, because there are no conflicting definitions here. */
function establishedDefinition(crd: ApiObject, definition: ResourceDefinition, now: string): ApiObject {
  const status = objectOrEmpty(crd['status'])
  const known = listOrEmpty(status['conditions']).map((condition) => objectOrEmpty(condition)['type'])
  const missing = [
    { type: 'NamesAccepted', status: 'True', lastTransitionTime: now, reason: 'NoConflicts', message: 'no conflicts found' },
    {
      type: 'Established',
      status: 'True',
      lastTransitionTime: now,
      reason: 'InitialNamesAccepted',
      message: 'the initial names have been accepted',
    },
  ].filter((condition) => !known.includes(condition.type))
  const stored = listOrEmpty(status['storedVersions'])
  const { metadata } = crd
  const finalizers = metadata.finalizers ?? []
  const isGuarded = finalizers.includes(CUSTOM_RESOURCE_CLEANUP) || metadata.deletionTimestamp !== undefined
  return {
    ...crd,
    metadata: isGuarded ? metadata : { ...metadata, finalizers: [...finalizers, CUSTOM_RESOURCE_CLEANUP] },
    status: {
      ...status,
      conditions: [...listOrEmpty(status['conditions']), ...missing],
      acceptedNames: objectOrEmpty(crd['spec'])['names'],
      storedVersions: stored.includes(definition.version) ? stored : [...stored, definition.version],
    },
  }
}

function removeObjects(options: CustomResourcesOptions, definition: ResourceDefinition, crd: ApiObject): void {
  const id = idOf(definition)
  const { keys, objects } = options.store.bucket(id).current()
  for (const object of keys.map((key) => objects.get(key)!)) {
    const { metadata } = object
    if ((metadata.finalizers ?? []).length === 0) options.store.remove(id, object)
    else if (metadata.deletionTimestamp === undefined)
      options.store.put(id, {
        ...object,
        metadata: {
          ...metadata,
          generation: (metadata.generation ?? 0) + 1,
          deletionTimestamp: timestamp(options.nowMs()),
          deletionGracePeriodSeconds: 0,
        },
      })
  }
  finishIfEmpty(options, definition, crd.metadata.name)
}

function finishDefinition(options: CustomResourcesOptions, change: Change): void {
  const definition = options.registry.find(change.id)?.definition
  const name = definition?.customResourceDefinition?.metadata.name
  if (definition !== undefined && name !== undefined) finishIfEmpty(options, definition, name)
}

function finishIfEmpty({ store }: CustomResourcesOptions, definition: ResourceDefinition, name: string): void {
  const id = resources.customResourceDefinitions
  const crd = store.bucket(id).get(name)
  if (crd?.metadata.deletionTimestamp === undefined || store.bucket(idOf(definition)).size > 0) return
  const others = (crd.metadata.finalizers ?? []).filter((finalizer) => finalizer !== CUSTOM_RESOURCE_CLEANUP)
  if (others.length === 0) store.remove(id, crd)
  else if (others.length !== crd.metadata.finalizers?.length) store.put(id, { ...crd, metadata: { ...crd.metadata, finalizers: others } })
}

function scalePathsOf(version: Readonly<Record<string, unknown>>): Pick<ResourceDefinition, 'scale'> {
  const { scale } = objectOrEmpty(version['subresources'])
  if (!isObject(scale)) return {}
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = scale
  return {
    scale: {
      specReplicas: String(specReplicasPath ?? ''),
      statusReplicas: String(statusReplicasPath ?? ''),
      ...(typeof labelSelectorPath === 'string' && { labelSelector: labelSelectorPath }),
    },
  }
}

function withoutStatusIfSub(object: ApiObject, version: Readonly<Record<string, unknown>>): ApiObject {
  if (!isObject(objectOrEmpty(version['subresources'])['status'])) return object
  const { status: _status, ...rest } = object
  return rest as ApiObject
}

/** `.spec.node` is selectable as `spec.node`. */
function selectableFieldsOf(fields: readonly unknown[]): Readonly<Record<string, (object: ApiObject) => string>> {
  const paths = fields.map((field) => String(objectOrEmpty(field)['jsonPath'] ?? '').replace(/^\./, ''))
  return Object.fromEntries(paths.map((path) => [path, (object: ApiObject) => valueAt(object, path.split('.'))]))
}

function valueAt(object: ApiObject, path: readonly string[]): string {
  let value: unknown = object
  for (const field of path) value = objectOrEmpty(value)[field]
  return value === undefined || value === null ? '' : String(value)
}
