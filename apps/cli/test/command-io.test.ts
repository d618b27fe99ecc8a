import { wantsColors, wantsUnicode } from '@tranche/cli'
import { describe, expect, it } from 'vitest'

const write = (): void => {}

describe('wantsColors', () => {
  it.each([
    { why: 'on a terminal', isTTY: true, env: {}, allowed: true, want: true },
    { why: 'not in a pipe', isTTY: false, env: {}, allowed: true, want: false },
    { why: 'not with --no-color', isTTY: true, env: {}, allowed: false, want: false },
    { why: 'not with NO_COLOR', isTTY: true, env: { NO_COLOR: '1' }, allowed: true, want: false },
    { why: 'with an empty NO_COLOR', isTTY: true, env: { NO_COLOR: '' }, allowed: true, want: true },
    {
      why: 'not with NO_COLOR, even where FORCE_COLOR asks',
      isTTY: true,
      env: { NO_COLOR: '1', FORCE_COLOR: '1' },
      allowed: true,
      want: false,
    },
    { why: 'in a pipe with FORCE_COLOR', isTTY: false, env: { FORCE_COLOR: '1' }, allowed: true, want: true },
    { why: 'not on a dumb terminal', isTTY: true, env: { TERM: 'dumb' }, allowed: true, want: false },
  ])('$why', ({ isTTY, env, allowed, want }) => {
    expect(wantsColors({ write, isTTY }, env, allowed)).toBe(want)
  })
})

describe('wantsUnicode', () => {
  it.each([
    { why: 'where the locale speaks UTF-8', env: { LANG: 'de_DE.UTF-8' }, want: true },
    { why: 'where no locale is set', env: {}, want: true },
    { why: 'not where another locale is set', env: { LANG: 'C' }, want: false },
    { why: 'where LC_ALL overrules LANG', env: { LC_ALL: 'en_US.utf8', LANG: 'C' }, want: true },
    { why: 'not on the console of Linux', env: { TERM: 'linux', LANG: 'en_US.UTF-8' }, want: false },
  ])('$why', ({ env, want }) => {
    expect(wantsUnicode(env)).toBe(want)
  })
})
