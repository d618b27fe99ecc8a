import generated from './builtin.generated.json' with { type: 'json' }

/** Type without fields of its own. `any` accepts any JSON. */
export type ScalarType =
  | 'string'
  | 'boolean'
  | 'int32'
  | 'int64'
  | 'number'
  | 'bytes'
  | 'time'
  | 'micro-time'
  | 'quantity'
  | 'int-or-string'
  | 'any'

/** The type of a field of a built-in kind. */
export type FieldType =
  | { readonly kind: 'scalar'; readonly scalar: ScalarType }
  | { readonly kind: 'list' | 'map'; readonly of: FieldType }
  | { readonly kind: 'definition'; readonly definition: string }

/** One field of a {@link Definition}. */
export interface Field {
  readonly type: FieldType
  readonly required: boolean
}

/** Fields of one API type, by wire name. */
export interface Definition {
  /** Group, version and name: `apps/v1.DaemonSetSpec`. */
  readonly name: string
  readonly fields: ReadonlyMap<string, Field>
}

/** Built-in kind and the name of its definition. */
export interface BuiltinKind {
  /** Empty for the core group. */
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly definition: string
}

/** Kinds that the simulator decodes without a CustomResourceDefinition: stored ones, and those that are only sent to it. */
export const builtinKinds: readonly BuiltinKind[] = [
  ...kindsOf('', 'core', [
    'Namespace',
    'Node',
    'Pod',
    'Binding',
    'Event',
    'ConfigMap',
    'Secret',
    'ServiceAccount',
    'ResourceQuota',
    'LimitRange',
    'PersistentVolume',
    'PersistentVolumeClaim',
    'Service',
  ]),
  ...kindsOf('apps', 'apps', ['DaemonSet', 'Deployment', 'ControllerRevision']),
  ...kindsOf('coordination.k8s.io', 'coordination', ['Lease']),
  ...kindsOf('networking.k8s.io', 'networking', ['NetworkPolicy', 'Ingress']),
  ...kindsOf('apiextensions.k8s.io', 'apiextensions', ['CustomResourceDefinition']),
  ...kindsOf('policy', 'policy', ['Eviction', 'PodDisruptionBudget']),
  ...kindsOf('rbac.authorization.k8s.io', 'rbac', ['Role', 'RoleBinding', 'ClusterRole', 'ClusterRoleBinding']),
  ...kindsOf('admissionregistration.k8s.io', 'admissionregistration', [
    'MutatingWebhookConfiguration',
    'ValidatingWebhookConfiguration',
    'MutatingAdmissionPolicy',
    'MutatingAdmissionPolicyBinding',
    'ValidatingAdmissionPolicy',
    'ValidatingAdmissionPolicyBinding',
  ]),
  ...kindsOf('scheduling.k8s.io', 'scheduling', ['PriorityClass']),
  ...kindsOf('authentication.k8s.io', 'authentication', ['TokenReview', 'TokenRequest', 'SelfSubjectReview']),
  ...kindsOf('authorization.k8s.io', 'authorization', [
    'SubjectAccessReview',
    'LocalSubjectAccessReview',
    'SelfSubjectAccessReview',
    'SelfSubjectRulesReview',
  ]),
]

function kindsOf(group: string, folder: string, kinds: readonly string[]): readonly BuiltinKind[] {
  return kinds.map((kind) => ({ group, version: 'v1', kind, definition: `${folder}/v1.${kind}` }))
}

const definitions: ReadonlyMap<string, Definition> = readDefinitions()

/** @returns definition of that name; throws on an unknown name, which is a bug */
export function definitionOf(name: string): Definition {
  const definition = definitions.get(name)
  if (definition === undefined) throw new Error(`no definition ${name}`)
  return definition
}

/** @returns built-in kind; undefined for kinds of CustomResourceDefinitions */
export function findBuiltinKind(group: string, version: string, kind: string): BuiltinKind | undefined {
  return builtinKinds.find((entry) => entry.group === group && entry.version === version && entry.kind === kind)
}

function readDefinitions(): ReadonlyMap<string, Definition> {
  const texts: Readonly<Record<string, Readonly<Record<string, string | undefined>>>> = generated
  return new Map(Object.entries(texts).map(([name, fields]) => [name, { name, fields: readFields(fields) }]))
}

function readFields(texts: Readonly<Record<string, string | undefined>>): ReadonlyMap<string, Field> {
  return new Map(Object.entries(texts).map(([name, text]) => [name, readField(text!)]))
}

function readField(text: string): Field {
  return { type: readType(text.replace('!', '')), required: text.endsWith('!') }
}

function readType(text: string): FieldType {
  if (text.startsWith('[]')) return { kind: 'list', of: readType(text.slice(2)) }
  if (text.startsWith('{}')) return { kind: 'map', of: readType(text.slice(2)) }
  if (text.includes('.')) return { kind: 'definition', definition: text }
  return { kind: 'scalar', scalar: text as ScalarType }
}
