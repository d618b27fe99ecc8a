import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { archiveName } from '../../scripts/release/archives.ts'
import { releaseVariables, secretVariables } from '../../scripts/release/credentials.ts'
import { runCommand } from '../../scripts/release/run-command.ts'
import { WORKFLOW_ISSUER } from '../../scripts/release/signing.ts'

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string }

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
  it('gives a program no secret but those that it needs', async () => {
    for (const name of secretVariables) vi.stubEnv(name, 'secret')
    onTestFinished(() => void vi.unstubAllEnvs())
    const script = `console.log(${JSON.stringify(secretVariables)}.filter((name) => name in process.env).join())`
    expect(await runCommand(process.execPath, ['-e', script])).toBe('')
    expect(await runCommand(process.execPath, ['-e', script], { secrets: ['GH_TOKEN'] })).toBe('GH_TOKEN')
  })

  it('names the program, its code and its last lines', async () => {
    const script = "for (let i = 1; i < 10; i++) console.error('line ' + i); process.exit(3)"
    await expect(runCommand(process.execPath, ['-e', script])).rejects.toThrow(/ended with 3: line 6 \| line 7 \| line 8 \| line 9$/)
  })
})
