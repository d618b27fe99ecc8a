import { spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { archiveName } from '../../scripts/release/archives.ts'
import { packageChart } from '../../scripts/release/chart-package.ts'
import { releaseVariables } from '../../scripts/release/credentials.ts'
import { contentOf, filesOfArchive } from '../../scripts/release/layer-files.ts'
import { runCommand } from '../../scripts/release/run-command.ts'
import { WORKFLOW_ISSUER } from '../../scripts/release/signing.ts'
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

it('every variable of a release is in docs/contribute/releasing.md, or GitHub sets it', () => {
  const page = readFileSync('docs/contribute/releasing.md', 'utf8')
  expect(Object.keys(releaseVariables).filter((name) => !/^(ACTIONS|GITHUB)_/.test(name) && !page.includes(`\`${name}\``))).toEqual([])
})

describe('the commands in docs/operations/install.md that verify a download', () => {
  const [, section = ''] = readFileSync('docs/operations/install.md', 'utf8').split(/^## Verify a download$|^## Modes$/m)

  it('name the workflow that signs, and the issuer of its identity', () => {
    const identities = [...section.matchAll(/--certificate-identity (\S+)/g)].map(([, identity]) => identity)
    const workflow = globSync('.github/workflows/release.yml')[0]
    expect(identities).toEqual(Array(3).fill(`https://github.com/OWNER/NAME/${workflow}@refs/tags/v${version}`))
    const issuers = [...section.matchAll(/--certificate-oidc-issuer (\S+)/g)].map(([, issuer]) => issuer)
    expect(issuers).toEqual(Array(3).fill(WORKFLOW_ISSUER))
  })

  it('name files of a release, and the type of its provenance', () => {
    const names = ['SHA256SUMS.sigstore.json', `tranche-${version}.provenance.sigstore.json`, archiveName(version, 'linux-amd64')]
    expect(names.filter((name) => !section.includes(` ${name} `))).toEqual([])
    expect(section).toContain('--type slsaprovenance1')
  })
})

describe('runCommand', () => {
  it('names the program, its code and its last lines', async () => {
    const script = "for (let i = 1; i < 9; i++) console.error('line ' + i); process.exit(3)"
    await expect(runCommand(process.execPath, ['-e', script])).rejects.toThrow(/ended with 3: line 5 \| line 6 \| line 7 \| line 8$/)
  })
})

const helm = findPrograms()?.helm
describe.skipIf(helm === undefined)('a packaged chart', () => {
  it('names the registry of its image, and is the same each time', async () => {
    const source = { version, addresses, created: new Date('2026-01-31T00:00:00Z'), helm: helm! }
    const [first, second] = await Promise.all([temporary(), temporary()].map((folder) => packageChart(folder, source, runCommand)))
    const bytes = readFileSync(first!)
    expect(readFileSync(second!).equals(bytes)).toBe(true)
    const files = await filesOfArchive(bytes)
    expect(contentOf(files, 'tranche/values.yaml').toString()).toContain('registry: registry.example/team\n')
    expect(contentOf(files, 'tranche/Chart.yaml').toString()).toContain(`image: registry.example/team/tranche:${version}`)
  })
})

function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tranche-release-command-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}
