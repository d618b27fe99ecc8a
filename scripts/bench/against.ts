/** Compares this checkout with another commit, in alternating runs on one machine. */
import { execFile, execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { figure, medianOf, type Row } from './row.ts'

/** What measures, and the stage that it uses. The other commit gets these of this checkout, so that both are measured in the same way. */
const measuring = ['scripts', 'test/scenarios', 'packages/simulator/recording/src']

/**
 * Measures sets in turn here and in a worktree of the other commit, and prints the medians and their ratio.
 *
 * @param ref commit, branch or tag
 * @param runs rounds; each measures every set once on both sides
 * @returns true
 * @throws if the other commit cannot be installed without a network, or lacks what a set measures
 */
export async function compareWith(ref: string, sets: readonly string[], runs: number): Promise<true> {
  const commit = execFileSync('git', ['rev-parse', '--short=12', `${ref}^{commit}`], { encoding: 'utf8' }).trim()
  const folder = mkdtempSync(join(tmpdir(), 'tranche-against-'))
  const other = join(folder, 'checkout')
  try {
    execFileSync('git', ['worktree', 'add', '--detach', other, commit], { stdio: 'ignore' })
    install(other)
    for (const path of measuring) copyOver(path, other)
    await alternate({ commit, other }, sets, runs)
  } finally {
    execFileSync('git', ['worktree', 'remove', '--force', other], { stdio: 'ignore' })
    rmSync(folder, { recursive: true, force: true })
  }
  return true
}

/** From the store of pnpm alone: this measures, and downloads nothing. */
function install(checkout: string): void {
  const { packageManager } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly packageManager: string }
  const args = ['-y', packageManager, 'install', '--offline', '--frozen-lockfile', '--silent']
  execFileSync('npx', args, { cwd: checkout, stdio: 'inherit' })
}

/** Folders of dependencies belong to each side. */
function copyOver(path: string, other: string): void {
  cpSync(path, join(other, path), { recursive: true, filter: (source) => !source.includes('node_modules') })
}

async function alternate(side: { readonly commit: string; readonly other: string }, sets: readonly string[], runs: number): Promise<void> {
  for (const set of sets) {
    const [here, there] = [new Map<string, number[]>(), new Map<string, number[]>()]
    for (let round = 0; round < runs; round++) {
      add(here, await measureIn('.', set))
      add(there, await measureIn(side.other, set))
    }
    console.log(`${set}: ${runs} alternating runs`)
    console.log(`${'figure'.padEnd(80)}${['here', side.commit, 'ratio'].map((text) => text.padStart(14)).join('')}`)
    for (const [name, values] of here) {
      const [mine, theirs] = [medianOf(values), medianOf(there.get(name) ?? [])]
      console.log(`${name.padEnd(80)}${[mine, theirs, mine / theirs].map((value) => figure(value).padStart(14)).join('')}`)
    }
  }
}

async function measureIn(cwd: string, set: string): Promise<readonly Row[]> {
  const run = promisify(execFile)(process.execPath, ['scripts/bench.ts', set, '--runs', '1', '-o', 'json'], {
    cwd,
    maxBuffer: 64 * 1024 * 1024,
  })
  // A limit that is not kept ends the run with 1; its values are still there.
  const { stdout } = await run.catch((error: { readonly stdout?: string }) => ({ stdout: error.stdout ?? '' }))
  const line = stdout.split('\n').find((one) => one.startsWith('['))
  if (line === undefined) throw new Error(`pnpm bench ${set} printed no result in ${cwd === '.' ? 'this checkout' : 'the other commit'}`)
  return JSON.parse(line) as readonly Row[]
}

/** Names that begin with an ellipsis belong to the row before them. */
function add(values: Map<string, number[]>, rows: readonly Row[]): void {
  let head = ''
  for (const row of rows) {
    if (!row.name.startsWith('…')) head = row.name
    const name = row.name.startsWith('…') ? `${head} ${row.name}` : row.name
    values.set(name, [...(values.get(name) ?? []), medianOf(row.values)])
  }
}
