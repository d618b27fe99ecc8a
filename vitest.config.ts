import { availableParallelism } from 'node:os'
import { configDefaults, defineConfig } from 'vitest/config'
import { LongestFirst } from './scripts/longest-first.ts'
import { testsOfPackage } from './scripts/tests-of-package.ts'

/** Every folder that holds tests. */
const folders = ['packages/*/*/test', 'apps/*/test', 'test']
const named = (suffix: string): readonly string[] => folders.map((folder) => `${folder}/**/*.${suffix}.test.ts`)

/**
 * Three tiers, told apart by the name of the file. `pnpm test` runs `fast`. `pnpm test:slow` runs `slow`, whose tests start processes, install
 * charts, or play many seeds. `pnpm test:dashboard` runs `browser`, whose tests take a person's way through the dashboard.
 */
export default defineConfig({
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'fast',
          include: folders.map((folder) => `${folder}/**/*.test.ts`),
          exclude: [...configDefaults.exclude, ...named('slow'), ...named('browser')],
          // Files of one thread share their modules: loading and compiling those again for each file takes half of the time.
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'slow',
          include: [...named('slow')],
          // Many of these tests wait for processes that they start.
          maxWorkers: Math.ceil(1.5 * availableParallelism()),
          sequence: { groupOrder: 1 },
        },
      },
      { extends: true, test: { name: 'browser', include: [...named('browser')] } },
    ],
    // Ends a test that hangs. Nothing is measured by it: a machine may be several times slower than another.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    pool: 'threads',
    // Most tests compute, in virtual time: a core that waits is lost.
    maxWorkers: '100%',
    watchTriggerPatterns: [{ pattern: /\.ts$/, testsToRun: testsOfPackage }],
    sequence: { sequencer: LongestFirst },
    reporters: process.env['CI'] === undefined ? ['default'] : ['default', './scripts/closing-line-reporter.ts'],
  },
})
