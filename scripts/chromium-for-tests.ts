import { findProgram } from './debian-program.ts'

/**
 * Finds Debian's Chromium for the test file that calls this, and installs it if that is possible. Runs without such a file install nothing.
 *
 * @returns path of chromium; null if there is none, in which case the caller skips its tests, and a line says so
 * @throws {Error} under CI, where no suite may be skipped
 */
export async function chromiumForTests(): Promise<string | null> {
  const found = await findProgram('chromium')
  if ('program' in found) return found.program
  if (process.env['CI'] !== undefined) throw new Error(`${found.missing}; under CI no suite is skipped`)
  console.log(`skipped: the suites in a browser, because ${found.missing}`)
  return null
}
