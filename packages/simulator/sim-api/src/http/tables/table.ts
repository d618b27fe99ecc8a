import type { ApiObject } from '../../model/client.ts'
import type { ResourceDefinition } from '../../model/resource-definition.ts'
import { list, text } from './cells.ts'
import { age } from './human-duration.ts'
import { compileJsonPath } from './json-path.ts'
import { ageColumn, type Column, nameColumn } from './column.ts'
import { builtinColumns } from './table-columns.ts'
import { withManagedFields } from '../../ownership/owners.ts'
import { objectOrEmpty } from '../../model/json.ts'

/** Object content in each row. @see meta/v1 TableOptions */
export type IncludeObject = 'None' | 'Metadata' | 'Object'

/** List metadata, repeated in a Table. */
export interface TableMetadata {
  readonly resourceVersion?: string
  readonly continue?: string
  readonly remainingItemCount?: number
}

/** @returns columns of a resource in one version: its own, those of its CustomResourceDefinition, or name and age */
export function columnsOf(definition: ResourceDefinition, version: string): readonly Column[] {
  const custom = definition.customResourceDefinition
  if (custom === undefined) return builtinColumns({ group: definition.group, resource: definition.plural })
  const entry = list(objectOrEmpty(custom['spec'])['versions']).find((candidate) => candidate['name'] === version)
  const printed = list(entry?.['additionalPrinterColumns'])
  return printed.length === 0 ? [nameColumn, ageColumn] : [nameColumn, ...printed.map(printerColumn)]
}

/** @returns Table with one row per object; `withColumns` false omits the definitions, as later watch frames do */
export function toTable(
  objects: readonly ApiObject[],
  columns: readonly Column[],
  options: { readonly metadata: TableMetadata; readonly nowMs: number; readonly include: IncludeObject; readonly withColumns?: boolean },
): object {
  const { metadata, nowMs, include, withColumns = true } = options
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata,
    columnDefinitions: withColumns
      ? columns.map(({ name, type, format = '', description = '', priority }) => ({ name, type, format, description, priority }))
      : null,
    rows: objects.map((object) => ({ cells: columns.map((column) => column.cell(object, nowMs)), ...rowObject(object, include) })),
  }
}

/** @returns the object as PartialObjectMetadata */
export function partialMetadata(object: ApiObject): object {
  return { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: withManagedFields(object).metadata }
}

function rowObject(object: ApiObject, include: IncludeObject): { readonly object?: object } {
  if (include === 'None') return {}
  return { object: include === 'Object' ? withManagedFields(object) : partialMetadata(object) }
}

function printerColumn(entry: Readonly<Record<string, unknown>>): Column {
  const find = compileJsonPath(text(entry['jsonPath']))
  const type = text(entry['type'])
  return {
    name: text(entry['name']),
    type,
    ...(typeof entry['format'] === 'string' && { format: entry['format'] }),
    description: text(entry['description']) || `Custom resource definition column (in JSONPath format): ${text(entry['jsonPath'])}`,
    priority: Number(entry['priority'] ?? 0),
    cell: (object, nowMs) => printerCell(find(object), type, nowMs),
  }
}

/** Shows the first of several values. A missing value, or one whose type is not the column's, is blank. */
function printerCell(values: readonly unknown[], type: string, nowMs: number): unknown {
  const [value] = values
  if (value === undefined || value === null) return null
  switch (type) {
    case 'date':
      return dateCell(value, nowMs)
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : null
    case 'number':
      return typeof value === 'number' ? value : null
    case 'boolean':
      return typeof value === 'boolean' ? value : null
    default:
      return typeof value === 'string' ? value : JSON.stringify(value)
  }
}

function dateCell(value: unknown, nowMs: number): string | null {
  if (typeof value !== 'string') return null
  return Number.isNaN(Date.parse(value)) ? '<invalid>' : age(value, nowMs)
}
