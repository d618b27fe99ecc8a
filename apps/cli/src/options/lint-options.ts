import { invalid, misplaced, parseChoice } from './option-values.ts'
import { textOf, textsOf, type Values } from './value-of.ts'

/** Options of `lint`. */
export interface LintOptions {
  /** Files, folders, or `-` for standard input; at least one. */
  readonly files: readonly string[]
  /** Whether to include subfolders. */
  readonly recursive: boolean
  readonly output: 'text' | 'json'
  /** Hosts that the controller is started with, unparsed; empty: unknown, and hosts are not checked. */
  readonly allowHosts: readonly string[]
  readonly colors: boolean
}

/** @throws {AppError} OPTION_INVALID */
export function toLintOptions(values: Values): LintOptions {
  const files = textsOf(values, 'filename')
  if (files.length === 0) throw misplaced('lint', 'requires a file', 'add -f FILE, or -f - for standard input')
  if (files.includes('')) throw invalid('--filename', '', 'give the path of a file, or - for standard input')
  return {
    files: [...new Set(files)],
    recursive: values['recursive'] === true,
    output: values['output'] === undefined ? 'text' : parseChoice('--output', textOf(values, 'output') ?? '', ['json']),
    allowHosts: textsOf(values, 'allowHost'),
    colors: values['color'] !== false,
  }
}
