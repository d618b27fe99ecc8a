import type { SimFault } from '@tranche/api-schema'

const MOST_LISTED = 5
/** Fields that are shown elsewhere, or are over when the fault starts. */
const untold = ['kind', 'name', 'at', 'after']

/** @returns fault in one line: `Error: actors tranche-executor, status 429, for 30s` */
export function describeFault(fault: SimFault): string {
  const parts = Object.entries(fault).filter(([key]) => !untold.includes(key))
  return `${fault.kind}${parts.length === 0 ? '' : ': '}${parts.map(([key, value]) => `${key} ${textOf(value)}`).join(', ')}`
}

function textOf(value: unknown): string {
  if (!Array.isArray(value)) return typeof value === 'object' ? JSON.stringify(value) : String(value)
  const listed = value.slice(0, MOST_LISTED).map(textOf).join(' ')
  return value.length > MOST_LISTED ? `${listed} and ${value.length - MOST_LISTED} more` : listed
}
