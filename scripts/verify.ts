/**
 * Runs the same checks as CI: generates all generated files, runs every check, and asserts that generating changed nothing.
 * The checks are root tasks of turbo.json; that of the types uses no result of an earlier run. Two run at a time; a check with unchanged inputs is not run again.
 * `--without-tests` leaves out the two checks that are tests, which `pnpm test` runs too.
 */
import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, rmSync } from 'node:fs'

const tests = process.argv.includes('--without-tests') ? [] : ['architecture', 'docs']
const checks = ['types:full', 'lint', 'format', 'unused', 'manifests', ...tests, 'prose', 'commits'].map((name) => `check:${name}`)

const runsFolder = '.turbo/runs'

const startedMs = performance.now()
const outcomes = [await generate(), await runChecks()]
const passed = outcomes.every(Boolean)
console.log(`verify ${passed ? 'passed' : 'FAILED'} in ${seconds(performance.now() - startedMs)}`)
process.exitCode = passed ? 0 : 1

/** Also works on a tree with uncommitted changes: it checks whether generating changes any file. */
async function generate(): Promise<boolean> {
  const before = changedFiles()
  const fromMs = performance.now()
  const { exitCode, output } = await run(process.execPath, ['scripts/generate.ts'])
  say(exitCode === 0, 'generate', performance.now() - fromMs)
  if (exitCode !== 0) console.log(output.trimEnd())

  const after = changedFiles()
  const moved = [...new Set([...before.keys(), ...after.keys()])].filter((file) => before.get(file) !== after.get(file))
  say(moved.length === 0, 'tree unchanged')
  if (moved.length > 0)
    console.log(`  generated files differ from the checked-in ones; run pnpm generate and commit:\n  ${moved.join('\n  ')}`)
  return exitCode === 0 && moved.length === 0
}

async function runChecks(): Promise<boolean> {
  rmSync(runsFolder, { recursive: true, force: true })
  const options = ['--concurrency=2', '--continue=always', '--output-logs=errors-only', '--log-prefix=none', '--summarize']
  const { exitCode, output } = await run('node_modules/.bin/turbo', ['run', ...checks, ...options])
  const tasks = readTasks()
  for (const task of tasks) {
    say(
      task.execution.exitCode === 0,
      task.taskId.replace('//#', ''),
      task.execution.endTime - task.execution.startTime,
      task.cache.status === 'HIT',
    )
  }
  if (exitCode !== 0 || tasks.length < checks.length) console.log(`\n${output.trim()}\n`)
  return exitCode === 0 && tasks.length === checks.length
}

interface TaskSummary {
  readonly taskId: string
  readonly cache: { readonly status: 'HIT' | 'MISS' }
  readonly execution: { readonly startTime: number; readonly endTime: number; readonly exitCode: number }
}

function readTasks(): readonly TaskSummary[] {
  try {
    const [file] = readdirSync(runsFolder)
    const { tasks } = JSON.parse(readFileSync(`${runsFolder}/${file}`, 'utf8')) as { tasks: TaskSummary[] }
    return tasks.toSorted((a, b) => checks.indexOf(a.taskId.slice(3)) - checks.indexOf(b.taskId.slice(3)))
  } catch {
    return []
  }
}

/** Every file that differs from the last commit, with a digest of its current content. */
function changedFiles(): ReadonlyMap<string, string> {
  const paths = execFileSync('git', ['status', '--porcelain', '-z', '--untracked-files=all', '--no-renames'], { encoding: 'utf8' })
  const files = paths.split('\0').filter((line) => line !== '')
  return new Map(files.map((line) => [line.slice(3), digest(line.slice(3))]))
}

function digest(file: string): string {
  try {
    return createHash('sha256').update(readFileSync(file)).digest('hex')
  } catch {
    return 'absent'
  }
}

async function run(command: string, args: readonly string[]): Promise<{ readonly exitCode: number; readonly output: string }> {
  const env = { ...process.env, TURBO_TELEMETRY_DISABLED: '1', FORCE_COLOR: '0' }
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text))
  return new Promise((resolve) => {
    child.on('error', (error) => resolve({ exitCode: 1, output: `${command}: ${error.message}` }))
    child.on('close', (code) => resolve({ exitCode: code ?? 1, output }))
  })
}

function say(good: boolean, name: string, durationMs?: number, cached = false): void {
  const time = durationMs === undefined ? '' : cached ? 'unchanged' : seconds(durationMs)
  console.log(`${good ? 'ok  ' : 'FAIL'} ${name.padEnd(20)} ${time}`.trimEnd())
}

function seconds(durationMs: number): string {
  return `${(durationMs / 1000).toFixed(1)} s`
}
