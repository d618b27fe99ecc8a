/**
 * Reads texts for people (comments, test names, messages, help, pages, descriptions) and lists what to word otherwise.
 * `pnpm check:prose` reads the repository, `pnpm check:prose docs packages/planner` a part of it; `--summary` prints counts only.
 *
 * scripts/prose-baseline.json holds the number of findings that each folder still has. The check fails where a folder has more, and
 * where it has fewer: `--update` then writes the new counts, unless their sum has risen. Log messages are not part of the baseline.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { findingsIn, type Finding } from './prose/findings.ts'

const baselineFile = 'scripts/prose-baseline.json'
const args = process.argv.slice(2)
const paths = args.filter((arg) => !arg.startsWith('--')).map((path) => path.replace(/^\.\/|\/$/g, ''))
const findings = filesUnder(paths).flatMap((file) => findingsIn(file, readFileSync(file, 'utf8')))

if (args.includes('--summary')) printSummary()
else if (args.includes('--update')) update()
else if (paths.length > 0 || !existsSync(baselineFile)) report(findings)
else compare()

function filesUnder(folders: readonly string[]): readonly string[] {
  const files = git('ls-files', '--cached', '--others', '--exclude-standard', '--', ...folders)
  return [...new Set(files)].filter((file) => existsSync(file))
}

function report(listed: readonly Finding[]): void {
  for (const { file, line, found, advice } of listed) console.log(`${file}:${line}: ${found} — ${advice}`)
  if (listed.length > 0) process.exitCode = 1
}

function printSummary(): void {
  const rules = ['word', 'sentence', 'subject', 'message'] as const
  const rows = Object.keys({ ...countsOf(findings), all: 0 }).map((folder) => {
    const inside = findings.filter(({ file }) => folder === 'all' || folderOf(file) === folder)
    return [folder, String(inside.length), ...rules.map((rule) => String(inside.filter((finding) => finding.rule === rule).length))]
  })
  for (const [folder = '', ...counts] of [['folder', 'all', ...rules], ...rows])
    console.log(folder.padEnd(32) + counts.map((count) => count.padStart(10)).join(''))
}

function compare(): void {
  const allowed = readBaseline()
  const counted = countsOf(excusable())
  const changed = [...new Set([...Object.keys(allowed), ...Object.keys(counted)])]
    .map((folder) => ({ folder, was: allowed[folder] ?? 0, is: counted[folder] ?? 0 }))
    .filter(({ was, is }) => was !== is)
  const risen = changed.filter(({ was, is }) => is > was)
  const touched = new Set(changedFiles())

  report(findings.filter(({ rule }) => rule === 'message'))
  report(excusable().filter(({ file }) => touched.has(file) && risen.some(({ folder }) => folder === folderOf(file))))
  for (const { folder, was, is } of risen) console.log(`${folder}: ${is} findings, ${was} before; pnpm check:prose ${folder} lists them`)
  for (const { folder, was, is } of changed.filter(({ was, is }) => is < was))
    console.log(`${folder}: ${is} findings, ${was} before; lower the baseline with pnpm check:prose --update`)
  if (changed.length > 0) process.exitCode = 1
}

/** Counts may move between folders, as files do. */
function update(): void {
  const counted = countsOf(excusable())
  if (!existsSync(baselineFile) || sumOf(counted) <= sumOf(readBaseline()))
    writeFileSync(baselineFile, `${JSON.stringify(counted, null, 2)}\n`)
  compare()
}

function excusable(): readonly Finding[] {
  return findings.filter(({ rule }) => rule !== 'message')
}

function readBaseline(): Readonly<Record<string, number>> {
  return JSON.parse(readFileSync(baselineFile, 'utf8')) as Record<string, number>
}

function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0)
}

/** @returns the number of findings in each folder that has any */
function countsOf(counted: readonly Finding[]): Readonly<Record<string, number>> {
  const counts = new Map<string, number>()
  for (const { file } of counted) counts.set(folderOf(file), (counts.get(folderOf(file)) ?? 0) + 1)
  return Object.fromEntries([...counts].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** @returns `packages/x`, `apps/x` or `test/x`, the first folder elsewhere, and `.` for files at the root */
function folderOf(file: string): string {
  const parts = file.split('/').slice(0, -1)
  return parts.length === 0 ? '.' : parts.slice(0, ['packages', 'apps', 'test'].includes(parts[0] ?? '') ? 2 : 1).join('/')
}

/** @returns files that differ from the commit that wrote the baseline last */
function changedFiles(): readonly string[] {
  const [base] = git('log', '-1', '--format=%H', '--', baselineFile)
  return base === undefined ? [] : [...git('diff', '--name-only', base), ...git('ls-files', '--others', '--exclude-standard')]
}

function git(...command: readonly string[]): readonly string[] {
  const output = execFileSync('git', command, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
  return output.split('\n').filter((line) => line !== '')
}
