import type { StatusCause } from '../model/status-error.ts'
import { invalid } from '../model/field-errors.ts'
import { notNegative } from './pod-template-validation.ts'

/** @returns errors unless the value at `field` is a whole number ≥ 0 or a percentage up to 100% */
export function sizeCauses(size: unknown, field: string): readonly StatusCause[] {
  if (typeof size === 'number') return notNegative(size, field)
  if (typeof size !== 'string' || !/^\d+%$/.test(size))
    return [invalid(field, size, "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%', or '93%')")]
  return sizeOf(size) > 100 ? [invalid(field, size, 'must not be greater than 100%')] : []
}

/** @returns number in a valid size: nodes or pods, or per cent */
export function sizeOf(size: unknown): number {
  return typeof size === 'string' ? Number.parseInt(size, 10) : Number(size)
}
