import type { OutputStream } from '../process/command-io.ts'
import type { OutputFormat } from '../options/access-options.ts'
import { printable } from '../view/printable.ts'

/**
 * @param out output stream: a terminal gets control characters as `\\u009b`; a file or pipe gets the value unchanged
 * @returns a value as `-o json` or `-o yaml` prints it, with a line end
 */
export async function valueText(
  value: unknown,
  format: Extract<OutputFormat, 'json' | 'yaml'>,
  out: Pick<OutputStream, 'isTTY'>,
): Promise<string> {
  const text = format === 'json' ? `${JSON.stringify(value, null, 2)}\n` : await yamlText(value)
  return out.isTTY === true ? text.replace(STEERING, escaped) : text
}

/** @returns a value as `-o json` prints it with `-w`, on one line */
export function jsonLine(value: unknown, out: Pick<OutputStream, 'isTTY'>): string {
  const text = JSON.stringify(value)
  return out.isTTY === true ? text.replace(STEERING, escaped) : text
}

async function yamlText(value: unknown): Promise<string> {
  const { stringify } = await import('yaml')
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false })
}

/** Control characters except line ends, and characters that reverse or hide text. */
const STEERING = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** Escapes each UTF-16 unit as JSON does. */
function escaped(character: string): string {
  return character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')
}

/** @returns a Rollout as `-o name` prints it, in a form that kubectl accepts */
export function rolloutName(name: string): string {
  return `rollout.rollouts.kruise.io/${printable(name)}`
}
