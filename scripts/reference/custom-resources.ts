import { readFileSync } from 'node:fs'
import { type CustomResourceDefinition, customResourceDefinitions } from '../../packages/words/api-schema/src/index.ts'
import { type FieldSchema, fieldRows, ruleRows } from './fields.ts'
import { code, MADE, page, prose, table } from './markdown.ts'

const policyPage = 'docs/reference/policy.md'

/** @returns a page for each custom resource but ReleasePolicy, by path: every field with type, default and description */
export function customResourcePages(): ReadonlyMap<string, string> {
  const crds = customResourceDefinitions.filter(({ spec }) => spec.names.kind !== 'ReleasePolicy')
  return new Map(crds.map((crd) => [`${crd.spec.names.kind.toLowerCase()}.md`, pageOf(crd)]))
}

/** @returns docs/reference/policy.md with the fields of the status; the text around them, with those of the spec, is unchanged */
export function writtenPolicyStatus(): { readonly path: string; readonly text: string } {
  const crd = customResourceDefinitions.find(({ spec }) => spec.names.kind === 'ReleasePolicy')
  const parts = crd === undefined ? [] : statusParts(crd)
  const text = readFileSync(policyPage, 'utf8').replace(
    /(<!-- status -->\n)[\s\S]*?(<!-- end -->)/,
    (_all, begin: string, end: string) => `${begin}\n${page(parts)}\n${end}`,
  )
  return { path: policyPage, text }
}

function pageOf({ metadata, spec }: CustomResourceDefinition): string {
  const [version] = spec.versions
  if (version === undefined) throw new Error(`${metadata.name} has no version`)
  const schema: FieldSchema = version.schema.openAPIV3Schema
  const members = schema.properties ?? {}
  return page([
    `# ${spec.names.kind}`,
    MADE,
    `${prose(schema.description ?? '')} \`apiVersion: ${spec.group}/${version.name}\`, \`kind: ${spec.names.kind}\`, in a namespace.`,
    '## Spec',
    fields(members['spec'], 'spec'),
    ...rulesPart(members['spec'], 'spec'),
    '## Status',
    'Written by the controller; shown by `kubectl get -o yaml`.',
    ...statusParts({ spec }),
  ])
}

/** Fields of the status, and the columns of `kubectl get`. */
function statusParts({ spec }: Pick<CustomResourceDefinition, 'spec'>): readonly string[] {
  const [version] = spec.versions
  const status: FieldSchema | undefined = version?.schema.openAPIV3Schema.properties?.['status']
  const columns = version?.additionalPrinterColumns ?? []
  const rows = columns.map(({ name, jsonPath, description = '' }) => [code(name), code(jsonPath), description])
  return [
    fields(status, 'status'),
    ...rulesPart(status, 'status'),
    '## Columns',
    table(['column of `kubectl get`', 'field', 'means'], rows),
  ]
}

function fields(schema: FieldSchema | undefined, path: string): string {
  return table(['field', 'type', 'required, or default', 'means'], fieldRows(schema ?? {}, path))
}

function rulesPart(schema: FieldSchema | undefined, path: string): readonly string[] {
  const rows = ruleRows(schema ?? {}, path)
  return rows.length === 0
    ? []
    : ['The API server also rejects an object that breaks one of these rules, with this message:', table(['at', 'says'], rows)]
}
