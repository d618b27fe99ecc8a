import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

let folder: string
let executable: string

describe('the command line as one file', () => {
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'tranche-one-file-'))
    const architecture = process.arch === 'arm64' ? 'arm64' : 'amd64'
    execFileSync(process.execPath, ['scripts/build-executable.ts', '--architecture', architecture, '--output', folder], { stdio: 'pipe' })
    executable = join(folder, `tranche-linux-${architecture}`)
  }, 240_000)
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it('runs without Node.js, writes its programs once to a folder of the user alone, and says nothing else', async () => {
    const home = homeOf('first')
    const runs = [await run(home, 'version'), await run(home, 'version')]
    expect(runs).toEqual(
      Array.from({ length: 2 }, () => ({ code: 0, output: expect.stringMatching(/^tranche \d+\.\d+\.\d+ \(Node\.js .*\)\n$/) })),
    )
    const programs = join(home, '.cache/tranche/programs')
    expect(readdirSync(programs)).toHaveLength(1)
    expect(statSync(programs).mode & 0o077).toBe(0)
  })

  it('starts several times at once, the first time too', async () => {
    const home = homeOf('together')
    const runs = await Promise.all(Array.from({ length: 4 }, () => run(home, 'version')))
    expect(runs.map(({ code }) => code)).toEqual([0, 0, 0, 0])
    expect(readdirSync(join(home, '.cache/tranche/programs'))).toHaveLength(1)
  })

  it('removes programs of other versions that were not started for a month', async () => {
    const home = homeOf('tidy')
    const programs = join(home, '.cache/tranche/programs')
    for (const [name, days] of [
      ['unused', 31],
      ['recent', 29],
    ] as const) {
      mkdirSync(join(programs, name), { recursive: true, mode: 0o700 })
      const at = Date.now() / 1_000 - days * 86_400
      utimesSync(join(programs, name), at, at)
    }
    execFileSync('chmod', ['-R', 'go-rwx', join(home, '.cache')])
    expect((await run(home, 'version')).code).toBe(0)
    expect(readdirSync(programs).includes('unused')).toBe(false)
    expect(readdirSync(programs).includes('recent')).toBe(true)
  })

  // So the same commit gives the same file.
  it('contains no path of the machine that built it', () => {
    expect(readFileSync(executable).includes('tranche-executable-')).toBe(false)
  })

  it('runs without a home, and leaves nothing behind', async () => {
    const temporary = homeOf('temporary')
    expect(await run(undefined, 'version', { TMPDIR: temporary })).toMatchObject({ code: 0 })
    expect(readdirSync(temporary)).toEqual([])
  })

  it('drives a release in a simulated cluster until it is Healthy', async () => {
    const { code, output } = await run(homeOf('release'), 'dev --demo --exit --nodes 3 --speed 10 --no-color')
    expect([code, output]).toEqual([0, expect.stringContaining('is Healthy: 3 of 3 nodes updated')])
  })
})

function homeOf(name: string): string {
  const home = join(folder, name)
  if (!existsSync(home)) mkdirSync(home, { mode: 0o700 })
  return home
}

/** Runs it with no environment but the home. @returns its exit code, and the output of both streams */
async function run(
  home: string | undefined,
  command: string,
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly code: number; readonly output: string }> {
  const child = spawn(executable, command.split(' '), {
    env: { ...env, ...(home !== undefined && { HOME: home }) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = Promise.all([text(child.stdout), text(child.stderr)])
  const [code] = (await once(child, 'close')) as [number]
  return { code, output: (await output).join('') }
}
