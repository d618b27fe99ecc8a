import { execFileSync } from 'node:child_process'
import { matchesGlob } from 'node:path'
import { expect, it } from 'vitest'
import config from '../../vitest.config.ts'

/** A project of vitest.config.ts. */
interface Tier {
  readonly name: string
  readonly include: readonly string[]
  readonly exclude: readonly string[]
}

it('every test file runs in exactly one tier: *.slow.test.ts in slow, *.browser.test.ts in browser, every other in fast', () => {
  const found = testFiles().map((file) => ({ file, tiers: tiersOf(file) }))
  const wanted = testFiles().map((file) => ({ file, tiers: [/\.(slow|browser)\.test\.ts$/.exec(file)?.[1] ?? 'fast'] }))
  expect(found).toEqual(wanted)
  expect(new Set(found.flatMap(({ tiers }) => tiers))).toEqual(new Set(['fast', 'slow', 'browser']))
})

/** Files with the name of a test, including untracked ones. */
function testFiles(): readonly string[] {
  const tracked = ['ls-files', '-z', '--cached', '--others', '--exclude-standard']
  const named = execFileSync('git', tracked, { encoding: 'utf8', maxBuffer: 1 << 28 })
    .split('\0')
    .filter((file) => /\.(test|tests|spec)\.[cm]?[jt]sx?$/.test(file))
  const deleted = new Set(execFileSync('git', ['ls-files', '-z', '--deleted'], { encoding: 'utf8' }).split('\0'))
  return named.filter((file) => !deleted.has(file))
}

function tiersOf(file: string): readonly string[] {
  const matches = (globs: readonly string[]): boolean => globs.some((glob) => matchesGlob(file, glob))
  return tiers().flatMap(({ name, include, exclude }) => (matches(include) && !matches(exclude) ? [name] : []))
}

function tiers(): readonly Tier[] {
  const projects = (config.test?.projects ?? []) as readonly { readonly test: Partial<Tier> }[]
  return projects.map(({ test: { name = '', include = [], exclude = [] } }) => ({ name, include, exclude }))
}
