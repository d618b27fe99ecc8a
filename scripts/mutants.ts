/**
 * Breaks the fence on purpose, one fault at a time, and asserts that the named tests notice: `pnpm test:mutants`.
 *
 *   pnpm test:mutants F2 G5     only the faults of these rules
 *   pnpm test:mutants -o json   ends with the line {"mutants": n, "caught": m}
 *
 * Works on copies of the sources in a temporary folder; the tree itself is never touched. Exit 1 where a fault survives.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type Mutant, mutants } from './mutant-list.ts'

/** What has become of a mutant. */
type Fate = { readonly kind: 'caught' } | { readonly kind: 'survived' } | { readonly kind: 'unusable'; readonly why: string }

/** What a run of test files has come to. */
interface TestRun {
  /** Files with a test that failed. */
  readonly failed: readonly string[]
  /** Files that could not be loaded. */
  readonly broken: readonly string[]
}

const COPIES = 2

const { values, positionals } = parseArgs({ options: { output: { type: 'string', short: 'o', default: 'text' } }, allowPositionals: true })
const chosen = mutants.filter(({ rule }) => positionals.length === 0 || positionals.includes(rule))
const home = mkdtempSync(join(realpathSync(tmpdir()), 'tranche-mutants-'))
const running = new Set<ChildProcess>()
process.on('exit', cleanUp)
process.on('SIGINT', () => process.exit(130))
process.on('SIGTERM', () => process.exit(143))

const fates = await tryAll(chosen)
const caught = fates.filter(({ kind }) => kind === 'caught').length
console.log(values.output === 'json' ? JSON.stringify({ mutants: fates.length, caught }) : `${caught} of ${fates.length} mutants caught`)
process.exitCode = caught === fates.length && fates.length > 0 ? 0 : 1

async function tryAll(list: readonly Mutant[]): Promise<readonly Fate[]> {
  const folders = Array.from({ length: Math.min(COPIES, list.length) }, (_, at) => copySources(join(home, String(at))))
  const unsound = folders[0] === undefined ? [] : await findUnsound(folders[0], list)
  const queue = [...list]
  const ends = await Promise.all(
    folders.map(async (folder) => {
      const fatesHere: Fate[] = []
      for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
        const fate = await tryMutant(folder, mutant, unsound)
        console.log(`${mutant.rule.padEnd(4)}${fate.kind.padEnd(10)}${mutant.fault}${fate.kind === 'unusable' ? `: ${fate.why}` : ''}`)
        fatesHere.push(fate)
      }
      return fatesHere
    }),
  )
  return ends.flat()
}

/** Test files that fail without any fault: they would catch everything. */
async function findUnsound(folder: string, list: readonly Mutant[]): Promise<readonly string[]> {
  const files = [...new Set(list.flatMap(({ tests }) => tests))].filter((file) => existsSync(file))
  if (files.length === 0) return []
  const { failed, broken } = await runTests(folder, files)
  return [...failed, ...broken]
}

async function tryMutant(folder: string, { file, find, replace, tests }: Mutant, unsound: readonly string[]): Promise<Fate> {
  const missing = tests.filter((test) => !existsSync(test))
  if (missing.length > 0) return { kind: 'unusable', why: `${missing.join(', ')} does not exist` }
  const failing = tests.filter((test) => unsound.includes(test))
  if (failing.length > 0) return { kind: 'unusable', why: `${failing.join(', ')} fails without any fault` }
  const path = join(folder, file)
  const sound = readFileSync(path, 'utf8')
  const places = sound.split(find).length - 1
  if (places !== 1) return { kind: 'unusable', why: `its text stands in ${file} ${places} times` }
  writeFileSync(
    path,
    sound.replace(find, () => replace),
  )
  try {
    const run = await runTests(folder, tests)
    if (run.broken.length > 0) return { kind: 'unusable', why: 'the tests do not load' }
    return run.failed.length > 0 ? { kind: 'caught' } : { kind: 'survived' }
  } finally {
    writeFileSync(path, sound)
  }
}

function runTests(folder: string, files: readonly string[]): Promise<TestRun> {
  const report = join(folder, 'report.json')
  const options = ['--reporter=json', `--outputFile=${report}`, '--maxWorkers=1']
  rmSync(report, { force: true })
  return new Promise((done, fail) => {
    const child = spawn(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...options, ...files], { cwd: folder, stdio: 'ignore' })
    running.add(child)
    child.on('error', fail)
    child.on('exit', () => {
      running.delete(child)
      try {
        done(readReport(folder, report))
      } catch (error) {
        fail(error)
      }
    })
  })
}

function readReport(folder: string, file: string): TestRun {
  const { testResults } = JSON.parse(readFileSync(file, 'utf8')) as {
    readonly testResults: readonly { readonly name: string; readonly status: string; readonly assertionResults: readonly unknown[] }[]
  }
  const notPassed = testResults.filter(({ status }) => status === 'failed')
  const names = (list: typeof testResults): readonly string[] => list.map(({ name }) => relative(folder, name))
  return {
    failed: names(notPassed.filter(({ assertionResults }) => assertionResults.length > 0)),
    broken: names(notPassed.filter(({ assertionResults }) => assertionResults.length === 0)),
  }
}

/** Copies every source file, and the links to libraries so that a package finds the copies of the others. */
function copySources(folder: string): string {
  for (const file of sourceFiles()) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    cpSync(file, join(folder, file))
  }
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  const workspaces = ['packages', 'apps', 'test'].flatMap((top) => readdirSync(top).map((name) => `${top}/${name}/node_modules`))
  for (const modules of workspaces) {
    const isModule = (source: string): boolean => !/\/node_modules\/\./.test(source)
    if (existsSync(modules)) cpSync(modules, join(folder, modules), { recursive: true, verbatimSymlinks: true, filter: isModule })
  }
  return folder
}

function sourceFiles(): readonly string[] {
  const options = [
    'ls-files',
    '-z',
    '--cached',
    '--others',
    '--exclude-standard',
    '--',
    'packages',
    'apps',
    'test',
    '*.json',
    '*.ts',
    '*.yaml',
  ]
  const files = execFileSync('git', options, { encoding: 'utf8', maxBuffer: 1 << 28 }).split('\0')
  return files.filter((file) => file !== '' && existsSync(file))
}

function cleanUp(): void {
  for (const child of running) child.kill('SIGKILL')
  rmSync(home, { recursive: true, force: true, maxRetries: 5 })
}
