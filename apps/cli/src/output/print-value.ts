import type { OutputFormat } from '../options/access-options.ts'
import { printable } from '../view/styled-line.ts'

/** @returns a value as `-o json` or `-o yaml` prints it, with its line end */
export async function valueText(value: unknown, format: Extract<OutputFormat, 'json' | 'yaml'>): Promise<string> {
  if (format === 'json') return `${JSON.stringify(value, null, 2)}\n`
  const { stringify } = await import('yaml')
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false })
}

/** @returns a Rollout as `-o name` prints it, so that kubectl takes it */
export function rolloutName(name: string): string {
  return `rollout.rollouts.kruise.io/${printable(name)}`
}
