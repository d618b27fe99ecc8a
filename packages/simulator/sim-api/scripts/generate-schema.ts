/**
 * Writes src/schema/builtin.generated.json: names, types and required-ness of the fields of the kinds the simulator serves.
 * `--check` exits 1 where the file differs. Development time only; the facts come from the model metadata of @kubernetes/client-node.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import * as models from '@kubernetes/client-node'

interface Attribute {
  readonly baseName: string
  readonly name: string
  readonly type: string
  readonly format: string
}

/** Model class and the group and version it is served in. */
const roots: readonly (readonly [model: string, group: string])[] = [
  ['V1Namespace', 'core/v1'],
  ['V1Node', 'core/v1'],
  ['V1Pod', 'core/v1'],
  ['V1Binding', 'core/v1'],
  ['CoreV1Event', 'core/v1'],
  ['V1ConfigMap', 'core/v1'],
  ['V1Secret', 'core/v1'],
  ['V1ServiceAccount', 'core/v1'],
  ['V1ResourceQuota', 'core/v1'],
  ['V1LimitRange', 'core/v1'],
  ['V1PersistentVolume', 'core/v1'],
  ['V1PersistentVolumeClaim', 'core/v1'],
  ['V1Service', 'core/v1'],
  ['V1DaemonSet', 'apps/v1'],
  ['V1Deployment', 'apps/v1'],
  ['V1ControllerRevision', 'apps/v1'],
  ['V1Lease', 'coordination/v1'],
  ['V1NetworkPolicy', 'networking/v1'],
  ['V1Ingress', 'networking/v1'],
  ['V1CustomResourceDefinition', 'apiextensions/v1'],
  ['V1Eviction', 'policy/v1'],
  ['V1PodDisruptionBudget', 'policy/v1'],
  ['V1Role', 'rbac/v1'],
  ['V1RoleBinding', 'rbac/v1'],
  ['V1ClusterRole', 'rbac/v1'],
  ['V1ClusterRoleBinding', 'rbac/v1'],
  ['V1MutatingWebhookConfiguration', 'admissionregistration/v1'],
  ['V1ValidatingWebhookConfiguration', 'admissionregistration/v1'],
  ['V1MutatingAdmissionPolicy', 'admissionregistration/v1'],
  ['V1MutatingAdmissionPolicyBinding', 'admissionregistration/v1'],
  ['V1ValidatingAdmissionPolicy', 'admissionregistration/v1'],
  ['V1ValidatingAdmissionPolicyBinding', 'admissionregistration/v1'],
  ['V1PriorityClass', 'scheduling/v1'],
  ['V1TokenReview', 'authentication/v1'],
  ['V1SelfSubjectReview', 'authentication/v1'],
  ['AuthenticationV1TokenRequest', 'authentication/v1'],
  ['V1SubjectAccessReview', 'authorization/v1'],
  ['V1LocalSubjectAccessReview', 'authorization/v1'],
  ['V1SelfSubjectAccessReview', 'authorization/v1'],
  ['V1SelfSubjectRulesReview', 'authorization/v1'],
  ['V1DeleteOptions', 'meta/v1'],
  ['V1Status', 'meta/v1'],
  ['V1ListMeta', 'meta/v1'],
]

const metaTypes = new Set([
  'ObjectMeta',
  'ListMeta',
  'DeleteOptions',
  'LabelSelector',
  'LabelSelectorRequirement',
  'FieldSelectorRequirement',
  'Condition',
])
const coreTypes = new Set(['PodTemplateSpec', 'ObjectReference'])

/** Fields that hold quantities; the metadata calls them strings. */
const quantityFields: Readonly<Record<string, readonly string[]>> = {
  ContainerStatus: ['allocatedResources'],
  EmptyDirVolumeSource: ['sizeLimit'],
  LimitRangeItem: ['default', 'defaultRequest', 'max', 'maxLimitRequestRatio', 'min'],
  NodeStatus: ['allocatable', 'capacity'],
  PersistentVolumeClaimStatus: ['allocatedResources', 'capacity'],
  PersistentVolumeSpec: ['capacity'],
  PodSpec: ['overhead'],
  PodStatus: ['allocatedResources'],
  ResourceFieldSelector: ['divisor'],
  ResourceQuotaSpec: ['hard'],
  ResourceQuotaStatus: ['hard', 'used'],
  ResourceRequirements: ['limits', 'requests'],
  VolumeResourceRequirements: ['limits', 'requests'],
}

/** Map fields whose values are base64. */
const bytesFields: Readonly<Record<string, readonly string[]>> = { Secret: ['data'], ConfigMap: ['binaryData'] }

/** Fields the metadata leaves open that hold one known type. */
const knownTypes: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  JSONSchemaProps: { items: 'apiextensions/v1.JSONSchemaProps' },
}

const modelFolder = join(dirname(createRequire(import.meta.url).resolve('@kubernetes/client-node')), 'gen/models')
const definitions: Record<string, Record<string, string>> = {}

for (const [model, group] of roots) define(model, group)
const target = new URL('../src/schema/builtin.generated.json', import.meta.url)
if (!process.argv.includes('--check')) writeFileSync(target, toText(definitions))
else if (readFileSync(target, 'utf8') !== toText(definitions)) {
  console.error('packages/simulator/sim-api/src/schema/builtin.generated.json: differs from its source; run its generator')
  process.exitCode = 1
}

function define(model: string, parentGroup: string): string {
  const kind = kindOf(model)
  const group = metaTypes.has(kind) ? 'meta/v1' : coreTypes.has(kind) ? 'core/v1' : parentGroup
  const name = `${group}.${kind}`
  if (definitions[name] !== undefined) return name
  const fields: Record<string, string> = {}
  definitions[name] = fields
  const required = requiredNames(model)
  for (const attribute of attributesOf(model))
    fields[attribute.baseName] = fieldType(kind, attribute, group) + (required.has(attribute.name) ? '!' : '')
  return name
}

function fieldType(kind: string, attribute: Attribute, group: string): string {
  const known = knownTypes[kind]?.[attribute.baseName]
  if (known !== undefined) return known
  const text = typeText(attribute.type, attribute.format, group)
  if (quantityFields[kind]?.includes(attribute.baseName)) return text.replace('string', 'quantity')
  if (bytesFields[kind]?.includes(attribute.baseName)) return text.replace('string', 'bytes')
  return text
}

function typeText(type: string, format: string, group: string): string {
  const list = /^Array<(.*)>$/.exec(type)?.[1]
  if (list !== undefined) return `[]${typeText(list, format, group)}`
  const map = /^\{ \[key: string\]: (.*); \}$/.exec(type)?.[1]
  if (map !== undefined) return `{}${typeText(map, format, group)}`
  if (type === 'number') return format === 'int32' || format === 'int64' ? format : 'number'
  if (type === 'string') return format === 'byte' ? 'bytes' : format === 'date-time' ? 'time' : 'string'
  if (type === 'Date') return 'time'
  if (type === 'V1MicroTime') return 'micro-time'
  if (type === 'IntOrString') return 'int-or-string'
  if (type === 'boolean' || type === 'any') return type
  return define(type, group)
}

function attributesOf(model: string): readonly Attribute[] {
  const type = (models as unknown as Record<string, { getAttributeTypeMap?: () => Attribute[] } | undefined>)[model]
  if (type?.getAttributeTypeMap === undefined) throw new Error(`no model ${model}`)
  return type.getAttributeTypeMap()
}

function requiredNames(model: string): ReadonlySet<string> {
  const declaration = readFileSync(join(modelFolder, `${model}.d.ts`), 'utf8')
  return new Set([...declaration.matchAll(/^ {4}'([^']+)': /gm)].map((match) => match[1]!))
}

function kindOf(model: string): string {
  return model.replace(/^(?:Core|Apiextensions|Admissionregistration|Authentication|Rbac|Resource|Storage)?V1/, '')
}

/** One definition a line, sorted, so that a change of the metadata shows as a small difference. */
function toText(all: Record<string, Record<string, string>>): string {
  const lines = Object.keys(all)
    .sort()
    .map((name) => `${JSON.stringify(name)}: ${JSON.stringify(all[name])}`)
  return `{\n${lines.join(',\n')}\n}\n`
}
