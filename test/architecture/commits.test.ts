import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { faultsOfSubject } from '../../scripts/commits/subject.ts'

const hooks = '.githooks'

describe('the check of commit subjects', () => {
  it.each([
    'planner: keep accepted actions across the upgrade (G7)',
    'kube-client, executor: list BatchReleases again',
    'fault bench: hang no call that returns a value',
    'api: reset the stream',
    'scripts: need no Redis for a unit test',
    "Merge branch 'actions'",
    'Revert "planner: keep accepted actions"',
    'fixup! planner: keep accepted actions',
  ])('accepts "%s"', (subject) => {
    expect(faultsOfSubject(subject)).toEqual([])
  })

  it.each([
    ['has no scope', 'Keep accepted actions', 'no scope'],
    ['is too long', `planner: keep ${'accepted '.repeat(8)}actions`, '93 characters'],
    ['is in the past tense', 'planner: added actions', '"added" is not an imperative'],
    ['is in the third person', 'planner: keeps actions', '"keeps" is not an imperative'],
    ['is a participle', 'planner: keeping actions', '"keeping" is not an imperative'],
    ['begins with a noun phrase', 'planner: the end of a release', '"the" is not an imperative'],
    ['ends with a full stop', 'planner: keep actions.', 'full stop'],
    ['uses a banned word', 'planner: judge a status anew', '"anew": use again'],
  ])('rejects a subject that %s', (_name, subject, fault) => {
    expect(faultsOfSubject(subject).join('; ')).toContain(fault)
  })
})

describe('the hook', () => {
  it.each([
    ['accepts a good subject below comments', '# comment\n\nplanner: keep actions\n\nBecause they are lost.\n', 0],
    ['rejects a bad subject', 'Kept actions\n', 1],
  ])('%s', (_name, message, exitCode) => {
    const folder = mkdtempSync(join(tmpdir(), 'tranche-commit-'))
    try {
      writeFileSync(join(folder, 'COMMIT_EDITMSG'), message)
      const { status, stderr } = spawnSync(resolve(hooks, 'commit-msg'), [join(folder, 'COMMIT_EDITMSG')], { encoding: 'utf8' })
      expect(stderr.includes('no scope')).toBe(exitCode === 1)
      expect(status).toBe(exitCode)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
