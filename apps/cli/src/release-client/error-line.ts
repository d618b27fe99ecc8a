import { type AppError, isAppError } from '@tranche/errors'
import { printable } from '../view/styled-line.ts'

/** @returns an error for a person in one line: its code, what is wrong, and what to do; no stack */
export function errorLine(error: unknown): string {
  if (!isAppError(error)) return `unexpected error: ${printable(error instanceof Error ? error.message : String(error))}`
  return printable(sentence(error))
}

/** @returns the same where an error may take several lines: one for each thing that is wrong in a file */
export function errorText(error: AppError): string {
  return sentence(error).split('\n').map(printable).join('\n')
}

function sentence({ code, message, hint }: AppError): string {
  return `${code}: ${message.replace(/[.\s]+$/, '')}.${hint === undefined ? '' : ` ${hint}`}`
}
