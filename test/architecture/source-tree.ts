import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { descriptions } from '../../scripts/packages.ts'

/** A source file of a package. */
export interface SourceFile {
  /** Path from the root of the repository. */
  readonly path: string
  readonly text: string
  /** `text` with blanks in place of comments, and all line breaks. */
  readonly code: string
}

/** @returns folder of a package or an app, from the root of the repository */
export function folderOf(name: string): string {
  const folder = Object.keys(descriptions).find((one) => basename(one) === name)
  if (folder === undefined) throw new Error(`${name} is not in scripts/packages.ts`)
  return folder
}

/** @returns all TypeScript files of one folder (`src`, `test` …) of a package, by path; none if the folder does not exist */
export function filesOf(name: string, part: string): readonly SourceFile[] {
  const root = `${folderOf(name)}/${part}`
  if (!existsSync(root)) return []
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(tsx?|mts)$/.test(file) && !file.includes('node_modules'))
    .toSorted()
    .map((file) => parseSource(`${root}/${file}`, readFileSync(`${root}/${file}`, 'utf8')))
}

/** @returns a source file with this text */
export function parseSource(path: string, text: string): SourceFile {
  return { path, text, code: withoutComments(text) }
}

/** @returns names of the modules that the file imports or re-exports, as written */
export function importsOf(file: SourceFile): readonly string[] {
  const pattern = /(?:^|\n)\s*(?:import|export)\s(?:[^'"`=(]*?\sfrom\s*)?['"]([^'"\n]+)['"]|\bimport\(\s*['"]([^'"\n]+)['"]/g
  return [...file.code.matchAll(pattern)].map((match) => match[1] ?? match[2] ?? '')
}

/** @returns names of the workspace's packages and apps that the file imports */
export function ownImportsOf(file: SourceFile): readonly string[] {
  return importsOf(file).flatMap((module) => (module.startsWith('@tranche/') ? [module.split('/')[1] ?? ''] : []))
}

/** Matches strings and regular expressions, as far as a pattern can. A slash that divides two values does not start one. */
export const literals =
  /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\[\s\S])*`|(?<=(?:[(,=:[!&|?{};>]|\breturn)\s*|^\s*)\/(?![/*])(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[dgimsuvy]*/gm

/** Keeps literals: `//` inside a quoted string (a URL) or at the end of a regular expression is not a comment. */
function withoutComments(text: string): string {
  const pattern = new RegExp(`(${literals.source})|\\/\\*[\\s\\S]*?\\*\\/|\\/\\/.*$`, 'gm')
  return text.replace(pattern, (match, literal: string | undefined) => literal ?? match.replace(/[^\n]/g, ' '))
}
