import { isAppError } from '@tranche/errors'
import { printable } from '../view/styled-line.ts'

/** @returns an error for a person in one line: its code, what is wrong, and what to do; no stack */
export function errorLine(error: unknown): string {
  if (!isAppError(error)) return `unexpected error: ${printable(error instanceof Error ? error.message : String(error))}`
  return printable(`${error.code}: ${error.message.replace(/[.\s]+$/, '')}.${error.hint === undefined ? '' : ` ${error.hint}`}`)
}
