import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const script = resolve('scripts/sign-off.ts')
let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tranche-sign-off-'))
  git('init', '-q', '-b', 'main')
  commit('start: add nothing')
})
afterAll(() => rmSync(folder, { recursive: true }))

describe('the check of sign-offs', () => {
  it('accepts commits that their author signed off, by whatever name and case', () => {
    const from = git('rev-parse', 'HEAD')
    commit('a: add one', '--signoff')
    commit('b: add two\n\nWhy.\n\nSigned-off-by: A. U. Thor <Author@Example.com>\nReviewed-by: Other <other@example.com>')
    expect(check(`${from}..HEAD`)).toMatchObject({ status: 0, stdout: `2 commits of ${from}..HEAD are signed off\n` })
  })

  it.each([
    ['without the line', 'c: add three', 'no Signed-off-by line'],
    [
      'signed off by another person',
      'c: add three\n\nSigned-off-by: Other <other@example.com>',
      'signed off by Other <other@example.com>, but written by <author@example.com>',
    ],
    [
      'with the line outside of the trailers',
      'c: add three\n\nSigned-off-by: A <author@example.com>\n\nMore text.',
      'no Signed-off-by line',
    ],
  ])('rejects a commit %s, with the fix', (_what, message, fault) => {
    commit(message)
    const { status, stderr } = check('HEAD~1..HEAD')
    expect([status, stderr]).toEqual([1, expect.stringContaining(`"c: add three": ${fault}`)])
    expect(stderr).toContain('git rebase --signoff')
  })

  it('reads only commits of the range, and no merges', () => {
    git('checkout', '-q', '-b', 'side')
    commit('d: add four', '--signoff')
    git('checkout', '-q', 'main')
    commit('e: add five', '--signoff')
    const from = git('rev-parse', 'HEAD')
    git('merge', '-q', '--no-ff', '-m', 'Merge side', 'side')
    expect(check(`${from}..HEAD`)).toMatchObject({ status: 0, stdout: `1 commits of ${from}..HEAD are signed off\n` })
  })

  it('explains a range that git does not know', () => {
    const { status, stderr } = check('--all')
    expect([status, stderr]).toEqual([2, expect.stringContaining('git knows no range "--all"')])
  })
})

function check(range: string) {
  return spawnSync(process.execPath, [script, range], { cwd: folder, encoding: 'utf8' })
}

function commit(message: string, ...options: string[]): void {
  git('commit', '-q', '--allow-empty', ...options, '-m', message)
}

function git(...args: string[]): string {
  const identity = ['-c', 'user.name=Author', '-c', 'user.email=author@example.com', '-c', 'core.hooksPath=/dev/null']
  return execFileSync('git', [...identity, ...args], { cwd: folder, encoding: 'utf8' }).trim()
}
