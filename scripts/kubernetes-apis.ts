/**
 * Writes test/chart/kubernetes-apis.json: the fields of the kinds that the chart renders, with their types, in ten versions of Kubernetes.
 * `node scripts/kubernetes-apis.ts FOLDER` reads the JSON schemas that the Python package kubernetes-validate 1.37.0 (Apache-2.0) has
 * made from the OpenAPI document of each version; FOLDER is the unpacked package. `pnpm format` comes after it.
 */
import { readFileSync, writeFileSync } from 'node:fs'

const source =
  'Fields and types from the OpenAPI documents of Kubernetes, by the schemas in the Python package kubernetes-validate 1.37.0. Written by scripts/kubernetes-apis.ts.'
const versions = ['1.28', '1.29', '1.30', '1.31', '1.32', '1.33', '1.34', '1.35', '1.36', '1.37']
const admission = [
  'MutatingAdmissionPolicy',
  'MutatingAdmissionPolicyBinding',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
]
const kinds = [
  ...['ConfigMap', 'Pod', 'Secret', 'Service', 'ServiceAccount'].map((kind) => `v1 ${kind}`),
  'apps/v1 Deployment',
  'policy/v1 PodDisruptionBudget',
  ...['Ingress', 'NetworkPolicy'].map((kind) => `networking.k8s.io/v1 ${kind}`),
  ...['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'].map((kind) => `rbac.authorization.k8s.io/v1 ${kind}`),
  'apiextensions.k8s.io/v1 CustomResourceDefinition',
  ...[...admission, 'MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'].map(
    (kind) => `admissionregistration.k8s.io/v1 ${kind}`,
  ),
]

interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly string[]
  readonly oneOf?: readonly Schema[]
  readonly items?: Schema
  readonly additionalProperties?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
}

/** Versions that have an entry, by type of the entry. */
type Entry = Map<string, string[]>

const found = { kinds: new Map<string, Entry>(), types: new Map<string, Map<string, Entry>>() }
const [folder] = process.argv.slice(2)
if (folder === undefined) throw new Error('give the folder of the unpacked package')
for (const version of versions) read(version, definitionsOf(version))
const types = sorted(found.types).map(([name, fields]) => [shortName(name), Object.fromEntries(sorted(fields).map(textOf))])
const written = { source, versions, kinds: Object.fromEntries(sorted(found.kinds).map(textOf)), types: Object.fromEntries(types) as object }
writeFileSync('test/chart/kubernetes-apis.json', `${JSON.stringify(written, null, 2)}\n`)

function definitionsOf(version: string): Readonly<Record<string, Schema>> {
  const path = `${folder}/kubernetes_validate/kubernetes-json-schema/v${version}.0-local/_definitions.json`
  return (JSON.parse(readFileSync(path, 'utf8')) as { readonly $defs: Readonly<Record<string, Schema>> }).$defs
}

function read(version: string, definitions: Readonly<Record<string, Schema>>): void {
  const seen = new Set<string>()
  for (const [name, { properties }] of Object.entries(definitions)) {
    const kind = `${properties?.['apiVersion']?.enum?.[0]} ${properties?.['kind']?.enum?.[0]}`
    if (!kinds.includes(kind)) continue
    add(found.kinds, kind, shortName(name), version)
    visit(name)
  }

  function visit(name: string): void {
    if (seen.has(name)) return
    seen.add(name)
    const { properties, required = [] } = definitions[name]!
    for (const [field, schema] of Object.entries(properties ?? {})) {
      const fields = found.types.get(name) ?? new Map<string, Entry>()
      found.types.set(name, fields)
      add(fields, field, `${typeOf(schema)}${required.includes(field) ? '!' : ''}`, version)
    }
  }

  /** `string`, `[string]` for a list, `{string}` for a map, `any`, or the name of a type with fields. */
  function typeOf({ $ref, type, oneOf, items, additionalProperties }: Schema): string {
    if ($ref !== undefined) return typeOfReference($ref.split('/').at(-1) ?? '')
    if (oneOf !== undefined) return oneOf.map(typeOf).join('|')
    if (items !== undefined) return `[${typeOf(items)}]`
    if (additionalProperties !== undefined) return `{${typeOf(additionalProperties)}}`
    const [first] = [type ?? []].flat().filter((one) => one !== 'null')
    return first === undefined || first === 'object' ? 'any' : first
  }

  function typeOfReference(name: string): string {
    const schema = definitions[name]!
    if (schema.properties === undefined) return typeOf(schema)
    visit(name)
    return shortName(name)
  }
}

function add(to: Map<string, Entry>, name: string, type: string, version: string): void {
  const entry: Entry = to.get(name) ?? new Map<string, string[]>()
  to.set(name, entry)
  entry.set(type, [...(entry.get(type) ?? []), version])
}

/** The type alone if every version has it, else each type with its first and last version: `string 1.29-1.37`. */
function textOf([name, entry]: readonly [string, Entry]): readonly [string, string | readonly string[]] {
  const texts = [...entry].map(([type, known]) => {
    const isWhole = versions.slice(versions.indexOf(known[0]!), versions.indexOf(known.at(-1)!) + 1).length === known.length
    if (!isWhole) throw new Error(`${name}: ${type} is in ${known.join(', ')}`)
    return known.length === versions.length ? type : `${type} ${known[0]}-${known.at(-1)}`
  })
  return [name, texts.length === 1 ? texts[0]! : texts]
}

/** `apps/v1 DeploymentSpec` for `io.k8s.api.apps.v1.DeploymentSpec`. */
function shortName(name: string): string {
  return name.split('.').slice(-3).join('.')
}

function sorted<T>(entries: ReadonlyMap<string, T>): readonly (readonly [string, T])[] {
  return [...entries].toSorted(([a], [b]) => (a < b ? -1 : 1))
}
