import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { packageChart } from '../../scripts/release/chart-package.ts'
import { contentOf, filesOfArchive } from '../../scripts/release/layer-files.ts'
import { runCommand } from '../../scripts/release/run-command.ts'
import { findPrograms } from '../chart/programs.ts'

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string }
const addresses = { registry: 'registry.example/team', repository: 'owner/name' }

it('pnpm release without a tag or credentials names what is missing, and builds nothing', () => {
  const output = temporary()
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/release.ts', '--output', join(output, 'release')], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'] },
  })
  expect([status, stdout.includes('build')]).toEqual([1, false])
  expect(stderr).toMatch(/^check: (version|credentials) failed: (CHANGELOG|git|--registry)(.|\n)*Nothing was published\.\n$/)
})

const helm = findPrograms()?.helm
describe.skipIf(helm === undefined)('a packaged chart', () => {
  it('names the registry of its image, and is the same each time', async () => {
    const source = { version, addresses, created: new Date('2026-01-31T00:00:00Z'), helm: helm! }
    const [first, second] = await Promise.all([temporary(), temporary()].map((folder) => packageChart(folder, source, runCommand)))
    const bytes = readFileSync(first!)
    expect(readFileSync(second!).equals(bytes)).toBe(true)
    // Helm stamps the time of packaging on the files, and the time of the package on what it pushes.
    expect([timeOfFirstFile(bytes), statSync(first!).mtime]).toEqual([source.created, source.created])
    const files = await filesOfArchive(bytes)
    expect(contentOf(files, 'tranche/values.yaml').toString()).toContain('registry: registry.example/team\n')
    expect(contentOf(files, 'tranche/Chart.yaml').toString()).toContain(`image: registry.example/team/tranche:${version}`)
  })
})

/** The time in the header of the first file of an archive: octal digits at a fixed place. */
function timeOfFirstFile(archive: Buffer): Date {
  return new Date(Number.parseInt(gunzipSync(archive).toString('latin1', 136, 147), 8) * 1_000)
}

function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tranche-release-command-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}
