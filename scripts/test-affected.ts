/**
 * Runs the fast tests that a change can affect: `pnpm test:affected [--since REF] [--list] [options of vitest]`. A change is everything
 * since the merge base of HEAD and REF (default origin/main), including uncommitted and untracked files.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { affectedTests } from './affected-tests.ts'

const args = process.argv.slice(2)
const since = take('--since', 1)[0] ?? 'origin/main'
const isList = take('--list', 0).length > 0
const tests = affectedTests(execFileSync('git', ['merge-base', 'HEAD', since], { encoding: 'utf8' }).trim())

if (tests === 'none') console.log(`nothing changed since ${since}`)
else {
  console.log(tests === 'all' ? 'affected: all tests' : `affected: ${tests.join(' ')}`)
  if (!isList) {
    const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--project', 'fast', ...(tests === 'all' ? [] : tests), ...args]
    process.exitCode = spawnSync(process.execPath, vitest, { stdio: 'inherit' }).status ?? 1
  }
}

/** Removes an option and its values from the arguments. @returns its values, or its name if it has none */
function take(option: string, values: 0 | 1): readonly string[] {
  const at = args.indexOf(option)
  return at === -1 ? [] : args.splice(at, values + 1).slice(-1)
}
