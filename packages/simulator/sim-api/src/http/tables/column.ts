import type { ApiObject } from '../../model/client.ts'
import { age } from './human-duration.ts'
import { objectOrEmpty } from '../../model/json.ts'

/** Column of a Table. `priority` 0 is always shown, 1 with `-o wide`. */
export interface Column {
  readonly name: string
  readonly type: string
  readonly format?: string
  readonly description?: string
  readonly priority: number
  cell(object: ApiObject, nowMs: number): unknown
}

/** @returns column that is always shown; a string column unless `type` says otherwise */
export function column(name: string, cell: Column['cell'], type = 'string'): Column {
  return { name, type, priority: 0, cell }
}

/** @returns string column that is shown with `-o wide` */
export function wide(name: string, cell: Column['cell']): Column {
  return { name, type: 'string', priority: 1, cell }
}

/** @returns column with a number of `status`; 0 when absent */
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

/** First column of most tables. */
export const nameColumn: Column = { ...column('Name', (object) => object.metadata.name), format: 'name' }

/** Age since creation. */
export const ageColumn: Column = column('Age', (object, nowMs) => age(object.metadata.creationTimestamp, nowMs))

/** Creation time, for kinds without columns of their own. */
export const createdAtColumn: Column = column('Created At', (object) => object.metadata.creationTimestamp, 'date')
