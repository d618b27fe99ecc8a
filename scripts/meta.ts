/**
 * Writes every package.json of the workspace from one table, so that they stay consistent.
 * `node scripts/meta.ts` writes; `node scripts/meta.ts --check` exits with 1 if a file differs.
 * Dependencies, commands and scripts stay in each package.json; everything else comes from here.
 */
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { descriptions } from './packages.ts'

const check = process.argv.includes('--check')
const folders = [...globSync('packages/*/*/'), ...globSync('apps/*/')].map((folder) => folder.replace(/\/$/, ''))
const problems: string[] = []

for (const folder of Object.keys(descriptions)) if (!folders.includes(folder)) create(folder)
for (const folder of new Set([...folders, ...Object.keys(descriptions)])) align(folder)

for (const problem of problems) console.error(problem)
process.exitCode = problems.length > 0 ? 1 : 0

function create(folder: string): void {
  if (check) return void problems.push(`${folder}: listed in scripts/packages.ts but missing`)
  mkdirSync(`${folder}/src`, { recursive: true })
}

function align(folder: string): void {
  const description = descriptions[folder]
  if (description === undefined) return void problems.push(`${folder}: has no description in scripts/packages.ts`)
  const file = `${folder}/package.json`
  const before = existsSync(file) ? readFileSync(file, 'utf8') : '{}'
  const { dependencies, devDependencies, bin, scripts } = JSON.parse(before) as Record<string, Record<string, string> | undefined>
  const after = `${JSON.stringify(
    {
      name: `@tranche/${basename(folder)}`,
      version: '0.1.0',
      private: true,
      description,
      license: 'Apache-2.0',
      type: 'module',
      exports: './src/index.ts',
      ...(bin && { bin }),
      ...(scripts && { scripts }),
      ...(dependencies && { dependencies: sorted(dependencies) }),
      ...(devDependencies && { devDependencies: sorted(devDependencies) }),
    },
    null,
    2,
  )}\n`
  if (before === after) return
  if (check) problems.push(`${file}: differs from what scripts/meta.ts writes; run pnpm meta`)
  else writeFileSync(file, after)
}

function sorted(entries: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(entries).sort(([a], [b]) => (a < b ? -1 : 1)))
}
