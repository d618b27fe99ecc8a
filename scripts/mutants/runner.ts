/**
 * Runs test files in the folder in which it was started, whenever its parent asks: it receives `{changed, files}` and sends a `TestRun`.
 * One process serves many mutants, so that each costs only its tests and not the start of a test runner.
 */
import { resolve } from 'node:path'
import { createVitest, type TestModule } from 'vitest/node'

/** Request of the parent. Paths are from the root of the repository. */
export interface RunRequest {
  /** Source files that have changed since the last run. */
  readonly changed: readonly string[]
  readonly files: readonly string[]
}

/** Result of a run of test files. Paths are from the root of the repository. */
export interface TestRun {
  /** Files with a test that failed. */
  readonly failed: readonly string[]
  /** Files that could not be loaded. */
  readonly broken: readonly string[]
}

const root = process.cwd()
const vitest = await createVitest('test', {
  root,
  config: false,
  watch: false,
  reporters: [{}],
  pool: 'threads',
  maxWorkers: 1,
  // One failure is enough, and its shrunk form is not needed.
  bail: 1,
  setupFiles: [resolve(import.meta.dirname, 'setup.ts')],
  testTimeout: 60_000,
})
await vitest.standalone()

process.on('message', (request: RunRequest) => void answer(request))
process.on('disconnect', () => process.exit(0))
process.send?.('ready')

async function answer({ changed, files }: RunRequest): Promise<void> {
  for (const file of changed) vitest.invalidateFile(resolve(root, file))
  const project = vitest.getRootProject()
  const specifications = files.map((file) => project.createSpecification(resolve(root, file)))
  const { testModules: known } = await vitest.runTestSpecifications(specifications, false)
  // Vitest keeps a file that did not load among the known ones, in later runs too.
  const testModules = known.filter(({ relativeModuleId }) => files.includes(relativeModuleId))
  const namesOf = (modules: readonly TestModule[]): readonly string[] => modules.map(({ relativeModuleId }) => relativeModuleId)
  const failed = testModules.filter((module) => module.state() === 'failed')
  const isBroken = (module: TestModule): boolean => module.errors().length > 0
  const run: TestRun = { failed: namesOf(failed.filter((module) => !isBroken(module))), broken: namesOf(failed.filter(isBroken)) }
  process.send?.(run)
}
