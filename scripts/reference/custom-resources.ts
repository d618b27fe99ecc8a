import { type CustomResourceDefinition, customResourceDefinitions } from '../../packages/words/api-schema/src/index.ts'
import { type FieldSchema, fieldRows, ruleRows } from './fields.ts'
import { code, MADE, page, prose, table } from './markdown.ts'

/** @returns a page for each custom resource, by path: every field with type, default and description */
export function customResourcePages(): ReadonlyMap<string, string> {
  return new Map(customResourceDefinitions.map((crd) => [`${crd.spec.names.kind.toLowerCase()}.md`, pageOf(crd)]))
}

function pageOf({ metadata, spec }: CustomResourceDefinition): string {
  const [version] = spec.versions
  if (version === undefined) throw new Error(`${metadata.name} has no version`)
  const schema: FieldSchema = version.schema.openAPIV3Schema
  const members = schema.properties ?? {}
  const columns = version.additionalPrinterColumns.map(({ name, jsonPath, description = '' }) => [code(name), code(jsonPath), description])
  return page([
    `# ${spec.names.kind}`,
    MADE,
    `${prose(schema.description ?? '')} \`apiVersion: ${spec.group}/${version.name}\`, \`kind: ${spec.names.kind}\`, in a namespace.`,
    '## Spec',
    fields(members['spec'], 'spec'),
    ...rulesPart(members['spec'], 'spec'),
    '## Status',
    'Written by the controller; shown by `kubectl get -o yaml`.',
    fields(members['status'], 'status'),
    ...rulesPart(members['status'], 'status'),
    '## Columns',
    table(['column of `kubectl get`', 'field', 'means'], columns),
  ])
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
