import type { ApiObject } from '../client.ts'
import { age } from './human-duration.ts'
import { objectOrEmpty } from '../store/json.ts'

/** One column of a Table. `priority` 0 is always shown, 1 with `-o wide`. */
export interface Column {
  readonly name: string
  readonly type: string
  readonly format?: string
  readonly description?: string
  readonly priority: number
  cell(object: ApiObject, nowMs: number): unknown
}

/** @returns a column that is always shown; of text unless `type` says otherwise */
export function column(name: string, cell: Column['cell'], type = 'string'): Column {
  return { name, type, priority: 0, cell }
}

/** @returns a column of text that is shown with `-o wide` */
export function wide(name: string, cell: Column['cell']): Column {
  return { name, type: 'string', priority: 1, cell }
}

/** @returns a column with a number of `status`, 0 where it is absent */
export function count(name: string, field: string): Column {
  return column(name, (object) => statusOf(object)[field] ?? 0, 'integer')
}

/** @returns `spec` of an object; empty when there is none */
export function specOf(object: ApiObject): Readonly<Record<string, unknown>> {
  return objectOrEmpty(object['spec'])
}

/** @returns `status` of an object; empty when there is none */
export function statusOf(object: ApiObject): Readonly<Record<string, unknown>> {
  return objectOrEmpty(object['status'])
}

/** Most tables begin with it. */
export const nameColumn: Column = { ...column('Name', (object) => object.metadata.name), format: 'name' }

/** Time since creation. */
export const ageColumn: Column = column('Age', (object, nowMs) => age(object.metadata.creationTimestamp, nowMs))

/** The moment of creation itself, where a kind has no columns of its own. */
export const createdAtColumn: Column = column('Created At', (object) => object.metadata.creationTimestamp, 'date')
