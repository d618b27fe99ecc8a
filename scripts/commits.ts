/**
 * Checks commit subjects: `scope: what changes`, in the imperative, at most 72 characters.
 * `pnpm check:commits` reads the commits since origin/main, and passes if there is no such ref. `--message <file>` reads the message that
 * git passes to the hook .githooks/commit-msg.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { faultsOfSubject } from './commits/subject.ts'

const [option, messageFile = ''] = process.argv.slice(2)
const subjects = option === '--message' ? [subjectIn(messageFile)] : subjectsOfBranch('origin/main')

for (const subject of subjects) {
  for (const fault of faultsOfSubject(subject)) {
    console.error(`commit "${subject}": ${fault}`)
    process.exitCode = 1
  }
}

/** Skips comments that git removes later. */
function subjectIn(file: string): string {
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.find((line) => line.trim() !== '' && !line.startsWith('#')) ?? ''
}

function subjectsOfBranch(upstream: string): readonly string[] {
  if (git('for-each-ref', `refs/remotes/${upstream}`).length === 0) return []
  return git('log', '--no-merges', '--format=%s', `${upstream}..HEAD`)
}

function git(...args: readonly string[]): readonly string[] {
  const output = execFileSync('git', args, { encoding: 'utf8' })
  return output.split('\n').filter((line) => line !== '')
}
