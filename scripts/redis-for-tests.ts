import type { TestProject } from 'vitest/node'
import { findRedis } from './redis-server.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Path of a redis-server; null if there is none, in which case suites that need it are skipped. */
    readonly redisServer: string | null
  }
}

/** Runs once before all tests. Under CI a missing redis-server is a failure, because no suite may be skipped there. */
export function setup(project: TestProject): void {
  const found = findRedis()
  if ('missing' in found && process.env['CI'] !== undefined) throw new Error(`${found.missing}; under CI no suite is skipped`)
  if ('missing' in found) console.log(`skipped: the suites on Redis, because ${found.missing}`)
  project.provide('redisServer', 'program' in found ? found.program : null)
}
