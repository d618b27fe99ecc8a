import { findRedis } from './redis-server.ts'

/**
 * Finds redis-server for the test file that calls this, and installs it if that is possible. Runs without such a file install nothing.
 *
 * @returns path of redis-server; null if there is none, in which case the caller skips its tests, and a line says so
 * @throws {Error} under CI, where no suite may be skipped
 */
export async function redisForTests(): Promise<string | null> {
  const found = await findRedis()
  if ('program' in found) return found.program
  if (process.env['CI'] !== undefined) throw new Error(`${found.missing}; under CI no suite is skipped`)
  console.log(`skipped: the suites on Redis, because ${found.missing}`)
  return null
}
