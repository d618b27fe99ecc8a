/** Linters of the workflows, in pinned versions from the registries of their languages. */
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** What a linter says. */
export interface LintResult {
  /** Whether it found nothing. */
  readonly passed: boolean
  readonly output: string
}

/**
 * Checks syntax, expressions and options of workflows with actionlint, which Go builds from `test/workflows/go.mod`.
 *
 * @param root folder with `.github`
 */
export function runActionlint(root: string): LintResult {
  const files = globSync('.github/workflows/*.yml', { cwd: root }).map((file) => resolve(root, file))
  return run('go', ['-C', resolve('test/workflows'), 'tool', 'actionlint', '-no-color', ...files])
}

/**
 * Checks the security of workflows with zizmor, without asking GitHub. pip installs it into the cache of the checkout.
 *
 * @param root folder with `.github`
 */
export function runZizmor(root: string): LintResult {
  const folder = resolve('node_modules/.cache/zizmor-1.32.0')
  const program = join(folder, 'bin/zizmor')
  if (!existsSync(program)) {
    mkdirSync(folder, { recursive: true })
    const pins = ['--require-hashes', '--requirement', 'test/workflows/requirements.txt']
    const installed = run('python3', ['-m', 'pip', 'install', '--quiet', '--no-deps', '--target', folder, ...pins])
    if (!installed.passed) return installed
  }
  const config = ['--config', resolve('.github/zizmor.yml')]
  return run(program, [
    '--offline',
    '--no-progress',
    '--quiet',
    '--color=never',
    '--persona=pedantic',
    ...config,
    join(root, '.github/workflows'),
  ])
}

function run(program: string, args: readonly string[]): LintResult {
  const { status, stdout, stderr, error } = spawnSync(program, [...args], { encoding: 'utf8' })
  return { passed: status === 0, output: error?.message ?? `${stdout}${stderr}`.trim() }
}
