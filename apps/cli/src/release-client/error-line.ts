import { type AppError, isAppError } from '@tranche/errors'
import { printable } from '../view/printable.ts'

/** @returns an error as one line: code, message and hint, without a stack */
export function errorLine(error: unknown): string {
  if (!isAppError(error)) return `unexpected error: ${printable(error instanceof Error ? error.message : String(error))}`
  return printable(sentence(error))
}

/** @returns an error as text; a message with several lines keeps them */
export function errorText(error: AppError): string {
  return sentence(error).split('\n').map(printable).join('\n')
}

function sentence({ code, message, hint }: AppError): string {
  const said = message.replace(/[.\s]+$/, '')
  return `${code}: ${said}${said.endsWith('?') ? '' : '.'}${hint === undefined ? '' : ` ${hint}`}`
}
