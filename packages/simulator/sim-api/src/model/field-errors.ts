import type { StatusCause } from './status-error.ts'

/** @returns cause: the value at `field` is invalid, with the reason */
export function invalid(field: string, value: unknown, why: string): StatusCause {
  return { reason: 'FieldValueInvalid', message: `Invalid value: ${textOf(value)}: ${why}`, field }
}

/** @returns cause: `field` is required */
export function required(field: string, why = ''): StatusCause {
  return { reason: 'FieldValueRequired', message: why === '' ? 'Required value' : `Required value: ${why}`, field }
}

/** @returns cause: `field` must not be set */
export function notAllowed(field: string, why: string): StatusCause {
  return { reason: 'FieldValueForbidden', message: `Forbidden: ${why}`, field }
}

/** @returns cause: the value at `field` is not among `supported` */
export function notSupported(field: string, value: unknown, supported: readonly string[]): StatusCause {
  const list = supported.map((item) => JSON.stringify(item)).join(', ')
  return { reason: 'FieldValueNotSupported', message: `Unsupported value: ${textOf(value)}: supported values: ${list}`, field }
}

/** @returns cause: the value at `field` is longer than `limit` bytes */
export function tooLong(field: string, limit: number): StatusCause {
  return { reason: 'FieldValueTooLong', message: `Too long: may not be more than ${limit} bytes`, field }
}

/** @returns cause: the value at `field` is a duplicate */
export function duplicate(field: string, value: unknown): StatusCause {
  return { reason: 'FieldValueDuplicate', message: `Duplicate value: ${textOf(value)}`, field }
}

function textOf(value: unknown): string {
  return value === undefined ? 'null' : JSON.stringify(value)
}
