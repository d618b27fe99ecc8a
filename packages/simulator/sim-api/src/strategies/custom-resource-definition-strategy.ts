import type { ApiObject } from '../model/client.ts'
import type { StatusCause } from '../model/status-error.ts'
import { jsonEqual, type JsonObject, listOrEmpty, objectOrEmpty } from '../model/json.ts'
import { invalid, required } from '../model/field-errors.ts'
import { isSubdomain, NOT_A_SUBDOMAIN } from '../model/names.ts'
import type { SchemaSource, Strategy } from '../model/resource-definition.ts'
import { plainStrategy } from './strategies.ts'

/** Finalizer that keeps a deleted CustomResourceDefinition until its objects are gone. */
export const CUSTOM_RESOURCE_CLEANUP = 'customresourcecleanup.apiextensions.k8s.io'

/** CustomResourceDefinitions: completes names, checks versions, validates schemas. */
export function customResourceDefinitionStrategy(schemas: SchemaSource): Strategy {
  return {
    ...plainStrategy,
    hasGeneration: true,
    allowUnconditionalUpdate: false,
    defaults: defaultNames,
    prepareCreate(object) {
      const { status: _status, ...rest } = object
      return rest as ApiObject
    },
    validate: (object) => definitionCauses(object, schemas),
    validateUpdate: fixedNameCauses,
  }
}

function defaultNames(object: ApiObject): ApiObject {
  const spec = objectOrEmpty(object['spec'])
  const names = objectOrEmpty(spec['names'])
  const kind = String(names['kind'] ?? '')
  const filled = { ...names, singular: names['singular'] || kind.toLowerCase(), listKind: names['listKind'] || `${kind}List` }
  const conversion = spec['conversion'] ?? { strategy: 'None' }
  return { ...object, spec: { ...spec, names: filled, conversion } }
}

function definitionCauses(object: ApiObject, schemas: SchemaSource): readonly StatusCause[] {
  const spec = objectOrEmpty(object['spec'])
  const names = objectOrEmpty(spec['names'])
  const versions = listOrEmpty(spec['versions']).map(objectOrEmpty)
  const causes = [
    ...(['group', 'scope'] as const).filter((field) => !spec[field]).map((field) => required(`spec.${field}`)),
    ...groupCauses(object, spec['group']),
    ...(['plural', 'kind'] as const).filter((field) => !names[field]).map((field) => required(`spec.names.${field}`)),
    ...versionCauses(versions),
  ]
  const expected = `${String(names['plural'])}.${String(spec['group'])}`
  if (object.metadata.name !== expected)
    causes.push(invalid('metadata.name', object.metadata.name, 'must be spec.names.plural+"."+spec.group'))
  if (causes.length > 0) return causes
  for (const version of versions) schemas.custom(object, String(version['name']))
  return []
}

const APPROVAL = 'api-approved.kubernetes.io'

/** Groups of the Kubernetes project require the approval annotation. */
function groupCauses({ metadata }: ApiObject, group: unknown): readonly StatusCause[] {
  if (typeof group !== 'string' || group === '') return []
  if (!isSubdomain(group)) return [invalid('spec.group', group, NOT_A_SUBDOMAIN)]
  if (!group.includes('.')) return [invalid('spec.group', group, 'should be a domain with at least one dot')]
  if (!/(^|\.)(k8s|kubernetes)\.io$/.test(group) || metadata.annotations?.[APPROVAL] !== undefined) return []
  const why = `protected groups must have approval annotation "${APPROVAL}", see https://github.com/kubernetes/enhancements/pull/1111`
  return [required(`metadata.annotations[${APPROVAL}]`, why)]
}

function versionCauses(versions: readonly JsonObject[]): readonly StatusCause[] {
  if (versions.length === 0) return [required('spec.versions')]
  const storing = versions.filter((version) => version['storage'] === true).length
  return [
    ...(storing === 1 ? [] : [invalid('spec.versions', versions.length, 'must have exactly one version marked as storage version')]),
    ...versions.flatMap((version, index) => [
      ...(version['name'] ? [] : [required(`spec.versions[${index}].name`)]),
      ...(objectOrEmpty(version['schema'])['openAPIV3Schema'] === undefined
        ? [required(`spec.versions[${index}].schema.openAPIV3Schema`, 'schemas are required')]
        : []),
    ]),
  ]
}

function fixedNameCauses(object: ApiObject, old: ApiObject): readonly StatusCause[] {
  const spec = objectOrEmpty(object['spec'])
  const oldSpec = objectOrEmpty(old['spec'])
  const changed = (['group', 'scope'] as const).filter((field) => spec[field] !== oldSpec[field])
  const kindChanged = !jsonEqual(objectOrEmpty(spec['names'])['kind'], objectOrEmpty(oldSpec['names'])['kind'])
  return [
    ...changed.map((field) => invalid(`spec.${field}`, spec[field], 'field is immutable')),
    ...(kindChanged ? [invalid('spec.names.kind', objectOrEmpty(spec['names'])['kind'], 'field is immutable')] : []),
  ]
}
