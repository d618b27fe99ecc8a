import { spawnSync } from 'node:child_process'
import { delimiter, dirname } from 'node:path'
import { findPrograms } from '../test/chart/programs.ts'

/**
 * Runs once before all tests. If there is no kubectl on the PATH, adds the one of an npm package for Linux on x64. Without kubectl, the
 * suites that need it are skipped and the run says so; under CI that is a failure.
 */
export function setup(): void {
  if (runsKubectl()) return
  const programs = findPrograms()
  if (programs !== null) process.env['PATH'] = `${process.env['PATH'] ?? ''}${delimiter}${dirname(programs.kubectl)}`
  if (runsKubectl()) return
  if (process.env['CI'] !== undefined) throw new Error('kubectl is not installed; under CI no suite that needs it is skipped')
  console.log('skipped: the suites with kubectl, because kubectl is not installed')
}

function runsKubectl(): boolean {
  return spawnSync('kubectl', ['version', '--client'], { stdio: 'ignore' }).status === 0
}
