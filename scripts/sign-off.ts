/**
 * Checks that the author of each commit has signed it off, as CONTRIBUTING.md asks of pull requests.
 * `pnpm check:sign-off` reads the commits since origin/main; `pnpm check:sign-off A..B` those of another range. Merges need no sign-off.
 */
import { execFileSync } from 'node:child_process'
import { commitFormat, faultOfSignOff, readCommits } from './community/sign-off.ts'

const [range = 'origin/main..HEAD'] = process.argv.slice(2)

try {
  const output = execFileSync('git', ['log', '--no-merges', `--format=${commitFormat}`, '--end-of-options', range, '--'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const commits = readCommits(output)
  const faults = commits.map(faultOfSignOff).filter((fault) => fault !== null)
  for (const fault of faults) console.error(fault)
  if (faults.length === 0) console.log(`${commits.length} commits of ${range} are signed off`)
  else process.exitCode = 1
} catch {
  console.error(`git knows no range "${range}"; give one such as origin/main..HEAD`)
  process.exitCode = 2
}
