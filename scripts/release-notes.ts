/**
 * Prints the section of CHANGELOG.md of a version, for the page of its release.
 * `pnpm release:notes 0.1.0`; `--released` fails if the section has no date yet.
 */
import { readFileSync } from 'node:fs'
import { readChangelog } from './community/changelog.ts'

const args = process.argv.slice(2)
const version = args.find((arg) => !arg.startsWith('--'))
const entries = readChangelog(readFileSync('CHANGELOG.md', 'utf8'))
const entry = entries.find((one) => one.version === version)

if (entry === undefined) fail(`CHANGELOG.md has no version "${version ?? ''}"; use one of ${entries.map((one) => one.version).join(', ')}`)
else if (args.includes('--released') && entry.date === null)
  fail(`${version} has no date; write "## ${version} · YYYY-MM-DD" in CHANGELOG.md`)
else console.log(entry.notes)

function fail(message: string): void {
  console.error(message)
  process.exitCode = 1
}
