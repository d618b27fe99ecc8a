import { spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildDashboard } from '../../scripts/dashboard/build.ts'

let folder: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tranche-test-'))
  await buildDashboard(folder)
})
afterAll(() => rmSync(folder, { recursive: true }))

describe('the built page', () => {
  it('names its assets by absolute paths below /dashboard/, since it has deep links and no <base>', () => {
    const named = [...readFileSync(join(folder, 'index.html'), 'utf8').matchAll(/ (?:src|href)="([^"]+)"/g)].map(([, path]) => path)
    expect(named.length).toBeGreaterThan(0)
    expect(named.filter((path) => !/^\/dashboard\/assets\/[^/]+-[\w-]{8}\.\w+$/.test(path ?? ''))).toEqual([])
  })

  it('has no inline script or style, and names no other server, as its policy requires', () => {
    const html = readFileSync(join(folder, 'index.html'), 'utf8')
    expect(html).not.toMatch(/<script(?![^>]* src=)|<style| style=| on\w+=|<base|https?:\/\//)
  })

  it('has a compressed copy of each larger asset, with the same content', () => {
    const assets = globSync('assets/*.{js,css}', { cwd: folder }).map((name) => join(folder, name))
    const larger = assets.filter((file) => statSync(file).size >= 1_024)
    expect(assets.length).toBeGreaterThan(0)
    for (const file of larger) {
      const content = readFileSync(file, 'utf8')
      expect(brotliDecompressSync(readFileSync(`${file}.br`)).toString()).toBe(content)
      expect(gunzipSync(readFileSync(`${file}.gz`)).toString()).toBe(content)
    }
  })
})

it('pnpm start builds the page once, and says so in one line', () => {
  const build = () => spawnSync(process.execPath, ['scripts/build-dashboard.ts', '--if-needed'], { encoding: 'utf8' })
  rmSync('apps/dashboard/dist/sources.sha256', { force: true })
  const [first, second] = [build(), build()]
  expect([first.status, first.stdout]).toEqual([0, ''])
  expect(first.stderr).toBe('Building the dashboard, since it is not built or its sources have changed; this takes a few seconds.\n')
  expect([second.status, second.stdout, second.stderr]).toEqual([0, '', ''])
})
