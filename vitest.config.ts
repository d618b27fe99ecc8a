import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['packages/*/test/**/*.test.ts', 'apps/*/test/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: './scripts/redis-for-tests.ts',
    testTimeout: 30_000,
    hookTimeout: 30_000,
    pool: 'threads',
    // Most tests compute, in virtual time: a core that waits is lost.
    maxWorkers: '100%',
    reporters: process.env['CI'] === undefined ? ['default'] : ['default', './scripts/closing-line-reporter.ts'],
  },
})
