import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { archiveName, type CliArchive, packArchive, platformOfArchive, sha256Of } from '../../scripts/release/archives.ts'
import { archivesOf, copyDarwinArchives } from '../../scripts/release/build-parts.ts'
import { checksumsOf } from '../../scripts/release/checksums.ts'
import { homebrewFormula } from '../../scripts/release/homebrew.ts'
import { krewManifest } from '../../scripts/release/krew.ts'
import { contentOf, filesOfArchive } from '../../scripts/release/layer-files.ts'
import { npmManifest } from '../../scripts/release/npm-package.ts'
import { PROVENANCE, provenanceOf, signatureOf } from '../../scripts/release/provenance.ts'
import { pathsOf } from '../../scripts/release/release-job.ts'
import { releasePage } from '../../scripts/release/release-page.ts'

const addresses = { registry: 'registry.example/team', repository: 'owner/name' }
const archives: readonly CliArchive[] = (['linux-amd64', 'linux-arm64', 'darwin-arm64'] as const).map((platform, index) => ({
  platform,
  file: archiveName('1.2.3', platform),
  sha256: String(index).repeat(64),
}))

describe('an archive', () => {
  const content = { executable: Buffer.from('program'), texts: { LICENSE: Buffer.from('terms') } }
  const created = new Date('2026-01-31T00:00:00Z')

  it('has the program, which may be started, and the licences', async () => {
    const files = await filesOfArchive(await packArchive(content, created))
    expect(files.map(({ path, mode }) => [path, mode])).toEqual([
      ['LICENSE', 0o644],
      ['tranche', 0o755],
    ])
    expect(contentOf(files, 'tranche').toString()).toBe('program')
    expect(() => contentOf(files, 'NOTICE')).toThrow('no file NOTICE')
  })

  it('is the same for the same content and time', async () => {
    const [first, second, later] = await Promise.all([
      packArchive(content, created),
      packArchive(content, created),
      packArchive(content, new Date('2026-02-01T00:00:00Z')),
    ])
    expect(second.equals(first)).toBe(true)
    expect(later.equals(first)).toBe(false)
  })

  it('has its platform in its name, and other files have none', () => {
    expect(platformOfArchive('tranche-1.2.3-darwin-arm64.tar.gz', '1.2.3')).toBe('darwin-arm64')
    expect(platformOfArchive('tranche-1.2.2-darwin-arm64.tar.gz', '1.2.3')).toBeUndefined()
    expect(platformOfArchive('SHA256SUMS', '1.2.3')).toBeUndefined()
  })
})

describe('archives of macOS', () => {
  const names = ['tranche-1.2.3-darwin-amd64.tar.gz', 'tranche-1.2.3-darwin-arm64.tar.gz']

  it('are copied from their folder, and listed with their digests', () => {
    const { job, files } = jobWith(names)
    expect(copyDarwinArchives(job)).toEqual(names)
    expect(readdirSync(files)).toEqual(names)
    expect(archivesOf(job).map(({ platform, sha256 }) => [platform, sha256])).toEqual([
      ['darwin-amd64', sha256Of(names[0]!)],
      ['darwin-arm64', sha256Of(names[1]!)],
    ])
  })

  it('are missed by name if the folder lacks one', () => {
    const { job, files } = jobWith(names.slice(1))
    expect(() => copyDarwinArchives(job)).toThrow('lacks tranche-1.2.3-darwin-amd64.tar.gz; build them on macOS: pnpm build:archive')
    expect(readdirSync(files)).toEqual([])
  })

  it('are not needed', () => {
    const { job } = jobWith([])
    expect(copyDarwinArchives({ ...job, darwin: null })).toEqual([])
  })

  function jobWith(found: readonly string[]) {
    const folder = mkdtempSync(join(tmpdir(), 'tranche-darwin-test-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const job = { version: '1.2.3', folder, darwin: join(folder, 'darwin') }
    const { files } = pathsOf(job)
    for (const path of [files, job.darwin]) mkdirSync(path)
    for (const name of found) writeFileSync(join(job.darwin, name), name)
    return { job, files }
  }
})

describe('krewManifest', () => {
  const manifest = parse(krewManifest('1.2.3', archives, addresses)) as {
    readonly spec: { readonly version: string; readonly platforms: readonly { readonly sha256: string; readonly uri: string }[] }
  }

  it('has one platform for each archive, with its address and digest', () => {
    expect(manifest.spec.platforms).toEqual(
      archives.map(({ platform, file, sha256 }) => ({
        selector: { matchLabels: { os: platform.split('-')[0], arch: platform.split('-')[1] } },
        uri: `https://github.com/owner/name/releases/download/v1.2.3/${file}`,
        sha256,
        bin: 'tranche',
        files: [
          { from: 'tranche', to: '.' },
          { from: 'LICENSE', to: '.' },
        ],
      })),
    )
  })

  it('has what the index of krew requires: a version with v, and a description of at most 50 characters', () => {
    expect(manifest).toMatchObject({
      apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
      kind: 'Plugin',
      metadata: { name: 'tranche' },
      spec: { version: 'v1.2.3', shortDescription: expect.stringMatching(/^.{1,50}$/) },
    })
  })
})

describe('homebrewFormula', () => {
  const formula = homebrewFormula('1.2.3', archives, addresses)

  it('has address and digest of each archive below its system and processor', () => {
    const found = [...formula.matchAll(/on_(macos|linux) do|on_(arm|intel) do\n\s+url "(.+)"\n\s+sha256 "(.+)"/g)].map(
      ([, system, cpu, url, digest]) => (system === undefined ? [cpu, url?.split('/').at(-1), digest] : system),
    )
    const [amd64, arm64, darwin] = archives as readonly [CliArchive, CliArchive, CliArchive]
    expect(found).toEqual([
      'macos',
      ['arm', darwin.file, darwin.sha256],
      'linux',
      ['arm', arm64.file, arm64.sha256],
      ['intel', amd64.file, amd64.sha256],
    ])
  })

  it('leaves out a system without an archive', () => {
    expect(homebrewFormula('1.2.3', archives.slice(0, 1), addresses)).not.toContain('on_macos')
  })

  it('closes each block that it opens', () => {
    const opened = [...formula.matchAll(/^ *(class|def) |\bdo( \||$)/gm)].length
    expect([...formula.matchAll(/^ *end$/gm)]).toHaveLength(opened)
  })
})

describe('checksumsOf', () => {
  it('writes what sha256sum --check reads, sorted by name', () => {
    const files = ['b', 'a'].map((name) => ({ name, bytes: Buffer.from(name) }))
    expect(checksumsOf(files)).toBe(`${sha256Of('a')}  a\n${sha256Of('b')}  b\n`)
  })
})

describe('npmManifest', () => {
  it('names the package under the scope, and the repository that npm compares with the provenance', () => {
    const manifest = JSON.parse(npmManifest('{"name":"tranche","version":"1.2.3","bin":{}}', addresses)) as object
    expect(manifest).toMatchObject({
      name: '@owner/tranche',
      version: '1.2.3',
      bin: {},
      repository: { type: 'git', url: 'git+https://github.com/owner/name.git' },
      publishConfig: { access: 'public' },
    })
  })
})

describe('a statement', () => {
  const subject = [{ name: 'a', digest: { sha256: 'a'.repeat(64) } }]
  const workflow = {
    ref: 'owner/name/.github/workflows/release.yml@refs/tags/v1.2.3',
    runId: '7',
    attempt: '2',
    image: `registry.example/debian@sha256:${'b'.repeat(64)}`,
  }

  it('of provenance names the workflow, its run, the commit and the build image', () => {
    expect(provenanceOf(subject, { version: '1.2.3', commit: 'c0ffee', addresses, workflow })).toEqual({
      _type: 'https://in-toto.io/Statement/v1',
      subject,
      predicateType: PROVENANCE,
      predicate: {
        buildDefinition: {
          buildType: 'https://actions.github.io/buildtypes/workflow/v1',
          externalParameters: {
            workflow: { ref: 'refs/tags/v1.2.3', repository: 'https://github.com/owner/name', path: '.github/workflows/release.yml' },
          },
          resolvedDependencies: [
            { uri: 'git+https://github.com/owner/name@refs/tags/v1.2.3', digest: { gitCommit: 'c0ffee' } },
            { uri: 'oci://registry.example/debian', digest: { sha256: 'b'.repeat(64) } },
          ],
        },
        runDetails: {
          builder: { id: 'https://github.com/owner/name/.github/workflows/release.yml@refs/tags/v1.2.3' },
          metadata: { invocationId: 'https://github.com/owner/name/actions/runs/7/attempts/2' },
        },
      },
    })
  })

  it('of a dry run names no workflow', () => {
    const { predicate } = provenanceOf(subject, { version: '1.2.3', commit: 'c0ffee', addresses, workflow: null })
    expect(JSON.stringify(predicate)).toContain('dry-run')
    expect(JSON.stringify(predicate)).not.toContain('workflow')
  })

  it('of a signature is about one digest', () => {
    expect(signatureOf('d1').subject).toEqual([{ name: '', digest: { sha256: 'd1' } }])
  })
})

describe('releasePage', () => {
  const digests = { version: '1.2.3', addresses, image: 'sha256:11', chart: 'sha256:22' }

  it('names image and chart by digest, below the changes', () => {
    const page = releasePage('- A change.', digests)
    expect(page).toMatch(/^- A change\.\n/)
    expect(page).toContain('registry.example/team/tranche:1.2.3@sha256:11')
    expect(page).toContain('oci://registry.example/team/charts/tranche')
    expect(page).toContain('sha256:22')
  })

  it('installs that version of the chart, and links to pages that exist at the tag', () => {
    const page = releasePage('- A change.', digests)
    expect(page).toContain('\nhelm install tranche oci://registry.example/team/charts/tranche --version 1.2.3 --namespace tranche-system')
    const linked = [...page.matchAll(/\]\(https:\/\/github\.com\/owner\/name\/blob\/v1\.2\.3\/([^#)]+)(?:#([^)]+))?\)/g)]
    expect(linked.map(([, path]) => path)).toEqual(['upgrade', 'support', 'install'].map((name) => `docs/operations/${name}.md`))
    for (const [, path = '', anchor] of linked) {
      const headings = [...readFileSync(path, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
        title.toLowerCase().replaceAll(' ', '-'),
      )
      if (anchor !== undefined) expect(headings).toContain(anchor)
    }
  })

  it('turns links of the changelog into links into the tag, and keeps others', () => {
    const page = releasePage('[a](docs/a.md#b) [c](https://example.com)', digests)
    expect(page).toContain('[a](https://github.com/owner/name/blob/v1.2.3/docs/a.md#b) [c](https://example.com)')
  })
})
