import type { StatusCause } from './status-error.ts'

/** @returns a cause: the value at `field` is wrong, and why */
export function invalid(field: string, value: unknown, why: string): StatusCause {
  return { reason: 'FieldValueInvalid', message: `Invalid value: ${textOf(value)}: ${why}`, field }
}

/** @returns a cause: `field` must be given */
export function required(field: string, why = ''): StatusCause {
  return { reason: 'FieldValueRequired', message: why === '' ? 'Required value' : `Required value: ${why}`, field }
}

/** @returns a cause: `field` may not be given */
export function notAllowed(field: string, why: string): StatusCause {
  return { reason: 'FieldValueForbidden', message: `Forbidden: ${why}`, field }
}

/** @returns a cause: the value at `field` is none of `supported` */
export function notSupported(field: string, value: unknown, supported: readonly string[]): StatusCause {
  const list = supported.map((item) => JSON.stringify(item)).join(', ')
  return { reason: 'FieldValueNotSupported', message: `Unsupported value: ${textOf(value)}: supported values: ${list}`, field }
}

/** @returns a cause: what stands at `field` is longer than `limit` bytes */
export function tooLong(field: string, limit: number): StatusCause {
  return { reason: 'FieldValueTooLong', message: `Too long: may not be more than ${limit} bytes`, field }
}

/** @returns a cause: the value at `field` stands elsewhere already */
export function duplicate(field: string, value: unknown): StatusCause {
  return { reason: 'FieldValueDuplicate', message: `Duplicate value: ${textOf(value)}`, field }
}

function textOf(value: unknown): string {
  return value === undefined ? 'null' : JSON.stringify(value)
}
