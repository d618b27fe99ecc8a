/**
 * Breaks the fence on purpose, one fault at a time, and asserts that the named tests notice: `pnpm test:mutants`.
 *
 * ```text
 * pnpm test:mutants F2 G5                   only the faults of these rules
 * pnpm test:mutants packages/core/fleet   only the faults in these folders or files
 * pnpm test:mutants -o json                 ends with the line {"mutants": n, "caught": m}
 * pnpm test:mutants --bench                 breaks whole guarantees, and asserts that the fault bench notices by itself
 * pnpm test:mutants --bench G3 G5.2         only the faults with these guarantees or ids
 * pnpm test:mutants --bench -o markdown     ends with a table in Markdown; `--seeds N` and `--from N` choose the worlds
 * ```
 *
 * Works on copies of the sources in a temporary folder; the tree itself is never touched. Exits with 1 if a fault survives.
 */
import { type ChildProcess, execFileSync, fork } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  globSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { mutants } from './mutants/all.ts'
import { type BenchResult, isAsItMust, tryBluntMutants } from './mutants/bench/try-blunt-mutants.ts'
import type { Mutant } from './mutants/mutant.ts'
import type { RunRequest, TestRun } from './mutants/runner.ts'

/** Result of a mutant. */
type MutantResult = { readonly kind: 'caught' } | { readonly kind: 'survived' } | { readonly kind: 'unusable'; readonly why: string }

const COPIES = 2

const { values, positionals } = parseArgs({
  options: {
    output: { type: 'string', short: 'o', default: 'text' },
    bench: { type: 'boolean', default: false },
    seeds: { type: 'string', default: '5' },
    from: { type: 'string', default: '1' },
  },
  allowPositionals: true,
})
const chosen = mutants.filter(
  ({ rule, file }) => positionals.length === 0 || positionals.some((one) => one === rule || `${file}/`.startsWith(`${one}/`)),
)
const home = mkdtempSync(join(realpathSync(tmpdir()), 'tranche-mutants-'))
const running = new Set<ChildProcess>()
process.on('exit', cleanUp)
process.on('SIGINT', () => process.exit(130))
process.on('SIGTERM', () => process.exit(143))

if (values.bench) await tryBench()
else await tryTests()

async function tryTests(): Promise<void> {
  const mutantResults = await tryAll(chosen)
  sayHowMany(mutantResults.length, mutantResults.filter(({ kind }) => kind === 'caught').length)
}

async function tryBench(): Promise<void> {
  const worlds = { seeds: Number(values.seeds), from: Number(values.from) }
  const results = await tryBluntMutants({ only: positionals, ...worlds, onResult: (result) => console.log(benchLine(result)) })
  const mutants = results.filter(({ guarantee }) => guarantee !== '')
  if (values.output === 'markdown') console.log(benchTable(mutants))
  sayHowMany(mutants.length, mutants.filter(isAsItMust).length)
  if (!results.every(isAsItMust)) process.exitCode = 1
}

function sayHowMany(tried: number, caught: number): void {
  console.log(values.output === 'json' ? JSON.stringify({ mutants: tried, caught }) : `${caught} of ${tried} mutants caught`)
  process.exitCode = caught === tried && tried > 0 ? 0 : 1
}

function benchLine(result: BenchResult): string {
  const { id, fault, worlds, caught, seeds, said } = result
  const line = `${id.padEnd(7)}${`${caught} of ${seeds}`.padEnd(10)}${worlds.padEnd(12)}${fault}`
  return isAsItMust(result) ? line : [`${line}   <<< UNEXPECTED`, ...said.map((text) => `         ${text}`)].join('\n')
}

function benchTable(results: readonly BenchResult[]): string {
  const order = results.toSorted((a, b) => a.id.localeCompare(b.id, 'en', { numeric: true }))
  const rows = order.map(({ id, fault, worlds, caught, seeds }) => `| ${id} | ${fault} | \`${worlds}\` | ${caught} of ${seeds} |`)
  return ['| mutant | fault | worlds | caught |', '|---|---|---|---|', ...rows].join('\n')
}

async function tryAll(list: readonly Mutant[]): Promise<readonly MutantResult[]> {
  const copies = await Promise.all(Array.from({ length: Math.min(COPIES, list.length) }, (_, at) => makeCopy(join(home, String(at)))))
  const unsound = await findUnsound(copies, list)
  // A costly mutant at the end would leave one copy idle. The cost is unknown, but mutants with the same tests stay together.
  const queue = list.toSorted((a, b) => a.tests.join().localeCompare(b.tests.join()))
  const ends = await Promise.all(
    copies.map(async (copy) => {
      const mutantResults: MutantResult[] = []
      for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
        const mutantResult = await tryMutant(copy, mutant, unsound)
        console.log(
          `${mutant.rule.padEnd(18)}${mutantResult.kind.padEnd(10)}${mutant.fault}${mutantResult.kind === 'unusable' ? `: ${mutantResult.why}` : ''}`,
        )
        mutantResults.push(mutantResult)
      }
      copy.runner.disconnect()
      return mutantResults
    }),
  )
  return ends.flat()
}

/** Test files that fail without any fault, and would therefore catch everything. */
async function findUnsound(copies: readonly Copy[], list: readonly Mutant[]): Promise<readonly string[]> {
  const queue = [...new Set(list.flatMap(({ tests }) => tests))].filter((file) => existsSync(file))
  const ends = await Promise.all(
    copies.map(async (copy) => {
      const unsound: string[] = []
      for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
        const { failed, broken } = await runTests(copy, { changed: [], files: [file] })
        unsound.push(...failed, ...broken)
      }
      return unsound
    }),
  )
  return ends.flat()
}

async function tryMutant(copy: Copy, { file, find, replace, tests }: Mutant, unsound: readonly string[]): Promise<MutantResult> {
  const missing = [file, ...tests].filter((path) => !existsSync(path))
  if (missing.length > 0) return { kind: 'unusable', why: `${missing.join(', ')} does not exist` }
  const failing = tests.filter((test) => unsound.includes(test))
  if (failing.length > 0) return { kind: 'unusable', why: `${failing.join(', ')} fails without any fault` }
  const path = join(copy.folder, file)
  const sound = readFileSync(path, 'utf8')
  const places = sound.split(find).length - 1
  if (places !== 1) return { kind: 'unusable', why: `its text occurs ${places} times in ${file}` }
  writeFileSync(
    path,
    sound.replace(find, () => replace),
  )
  const run = await runTests(copy, { changed: [file], files: tests })
  writeFileSync(path, sound)
  copy.stale.push(file)
  if (run.broken.length > 0) return { kind: 'unusable', why: 'the tests do not load' }
  return run.failed.length > 0 ? { kind: 'caught' } : { kind: 'survived' }
}

/** A copy of the sources, and the process that runs tests in it. */
interface Copy {
  readonly folder: string
  readonly runner: ChildProcess
  /** Restored files, which the runner does not know yet. */
  readonly stale: string[]
}

async function makeCopy(folder: string): Promise<Copy> {
  copySources(folder)
  const runner = fork(resolve('scripts/mutants/runner.ts'), { cwd: folder, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  running.add(runner)
  await new Promise((ready) => runner.once('message', ready))
  return { folder, runner, stale: [] }
}

function runTests({ runner, stale }: Copy, request: RunRequest): Promise<TestRun> {
  return new Promise((done, fail) => {
    const died = (code: number | null): void => fail(new Error(`the test runner ended with ${code}`))
    runner.once('exit', died)
    runner.once('message', (run: TestRun) => {
      runner.off('exit', died)
      done(run)
    })
    runner.send({ ...request, changed: [...stale.splice(0), ...request.changed] } satisfies RunRequest)
  })
}

/** Copies every source file, and the links to libraries so that a package finds the copies of the others. */
function copySources(folder: string): void {
  for (const file of sourceFiles()) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    cpSync(file, join(folder, file))
  }
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  const workspaces = globSync(['packages/*/*/node_modules', 'apps/*/node_modules', 'test/*/node_modules'])
  for (const modules of workspaces) {
    const isModule = (source: string): boolean => !/\/node_modules\/\./.test(source)
    if (existsSync(modules)) cpSync(modules, join(folder, modules), { recursive: true, verbatimSymlinks: true, filter: isModule })
  }
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
