import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

const bin = join(import.meta.dirname, '../bin')
let home = ''
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'tranche-home-')))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

describe('compiled code', () => {
  it('is kept below the home of the user, in a folder of mode 0700', () => {
    expect(cacheOf({ HOME: home })).toBe(join(home, '.cache/tranche/compiled'))
    expect(statSync(join(home, '.cache/tranche')).mode & 0o777).toBe(0o700)
  })

  it('is kept below XDG_CACHE_HOME where it is set', () => {
    expect(cacheOf({ HOME: home, XDG_CACHE_HOME: join(home, 'xdg') })).toBe(join(home, 'xdg/tranche/compiled'))
  })

  it('is not kept without a home, or if the home is not writable', () => {
    expect(cacheOf({})).toBeUndefined()
    expect(cacheOf({ HOME: '/proc/none' })).toBeUndefined()
  })

  it.each(['.cache', '.cache/tranche', '.cache/tranche/compiled'])('is not read from a folder that a group can write to: %s', (name) => {
    mkdirSync(join(home, name), { recursive: true, mode: 0o700 })
    chmodSync(join(home, name), 0o770)
    expect(cacheOf({ HOME: home })).toBeUndefined()
  })

  it.each(['.cache', '.cache/tranche', '.cache/tranche/compiled'])('is not read through a symlink: %s', (name) => {
    mkdirSync(join(home, 'prepared'), { mode: 0o700 })
    mkdirSync(join(home, name, '..'), { recursive: true, mode: 0o700 })
    symlinkSync(join(home, 'prepared'), join(home, name))
    expect(cacheOf({ HOME: home })).toBeUndefined()
  })

  it('is not read from a folder of another user', () => {
    mkdirSync(join(home, '.cache'), { mode: 0o700 })
    expect(cacheOf({ HOME: home }, process.getuid!() + 1)).toBeUndefined()
  })

  it('is not kept in a home that another user can replace', () => {
    mkdirSync(join(home, 'shared/me'), { recursive: true, mode: 0o700 })
    chmodSync(join(home, 'shared'), 0o777)
    expect(cacheOf({ HOME: join(home, 'shared/me') })).toBeUndefined()
  })

  it('is not written to the shared temporary folder by the command', () => {
    const shared = join(home, 'tmp')
    mkdirSync(shared)
    execFileSync(process.execPath, [join(bin, 'tranche.mjs'), 'version'], { env: { HOME: join(home, 'none'), TMPDIR: shared } })
    expect(existsSync(join(shared, 'node-compile-cache'))).toBe(false)
  })
})

function cacheOf(env: Readonly<Record<string, string>>, uid = process.getuid!()): string | undefined {
  const script = `import { cacheFolder } from ${JSON.stringify(join(bin, 'compile-cache.mjs'))}
    console.log(JSON.stringify(cacheFolder(${JSON.stringify(env)}, ${uid}) ?? null))`
  const text = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
  return (JSON.parse(text) as string | null) ?? undefined
}
