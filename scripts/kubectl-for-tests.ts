import { spawnSync } from 'node:child_process'
import { delimiter, dirname } from 'node:path'
import { findPrograms } from '../test/chart/programs.ts'

/**
 * Makes kubectl available to the test file that calls this, and to the programs that it starts. If there is no kubectl on the PATH, adds
 * the one of an npm package for Linux on x64.
 *
 * @returns whether there is one; otherwise the caller skips its tests, and a line says so
 * @throws {Error} under CI, where no suite may be skipped
 */
export function kubectlForTests(): boolean {
  if (runsKubectl()) return true
  const programs = findPrograms()
  if (programs !== null) process.env['PATH'] = `${process.env['PATH'] ?? ''}${delimiter}${dirname(programs.kubectl)}`
  if (runsKubectl()) return true
  if (process.env['CI'] !== undefined) throw new Error('kubectl is not installed; under CI no suite is skipped')
  console.log('skipped: the suites with kubectl, because kubectl is not installed')
  return false
}

function runsKubectl(): boolean {
  return spawnSync('kubectl', ['version', '--client'], { stdio: 'ignore' }).status === 0
}
