import { configDefaults, defineConfig } from 'vitest/config'
import { LongestFirst } from './scripts/longest-first.ts'
import { testsOfPackage } from './scripts/tests-of-package.ts'

/** Every folder that holds tests. */
const folders = ['packages/*/*/test', 'apps/*/test', 'test']
const slow = folders.map((folder) => `${folder}/**/*.slow.test.ts`)

/**
 * Two tiers, told apart by the name of the file: `pnpm test` runs `fast`, and `pnpm test:slow` runs `slow`, whose tests start processes,
 * install charts, or play many seeds.
 */
export default defineConfig({
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'fast',
          include: folders.map((folder) => `${folder}/**/*.test.ts`),
          exclude: [...configDefaults.exclude, ...slow],
          // Files of one thread share their modules: loading and compiling those again for each file takes half of the time.
          isolate: false,
        },
      },
      { extends: true, test: { name: 'slow', include: slow } },
    ],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    pool: 'threads',
    // Most tests compute, in virtual time: a core that waits is lost.
    maxWorkers: '100%',
    watchTriggerPatterns: [{ pattern: /\.ts$/, testsToRun: testsOfPackage }],
    sequence: { sequencer: LongestFirst },
    reporters: process.env['CI'] === undefined ? ['default'] : ['default', './scripts/closing-line-reporter.ts'],
  },
})
