import { describe, expect, it } from 'vitest'
import { downloadsOf, faultsOfAddresses, imageOf, npmNameOf } from '../../scripts/release/addresses.ts'
import { faultsOfVariables, releaseVariables, secretVariables } from '../../scripts/release/credentials.ts'
import { readinessFaults, versionFaults } from '../../scripts/release/version-faults.ts'

describe('versionFaults', () => {
  const places = { version: '1.2.3', chartVersion: '1.2.3', appVersion: '1.2.3', changelog: { version: '1.2.3', date: null } }

  it('finds nothing if every place has the version', () => {
    expect(versionFaults(places)).toEqual([])
  })

  it.each([
    ['another version of the chart', { chartVersion: '1.2.2' }, 'Chart.yaml: version is 1.2.2; write 1.2.3'],
    ['another version of the image in the chart', { appVersion: '1.2.2' }, 'Chart.yaml: appVersion is 1.2.2; write 1.2.3'],
    ['another section', { changelog: { version: '1.2.2', date: null } }, 'CHANGELOG.md: the topmost section is 1.2.2; write "## 1.2.3"'],
    ['no section', { changelog: undefined }, 'CHANGELOG.md: the topmost section is missing'],
  ])('finds %s', (_what, change, fault) => {
    expect(versionFaults({ ...places, ...change })).toEqual([expect.stringContaining(fault)])
  })
})

describe('readinessFaults', () => {
  const ready = { version: '1.2.3', date: '2026-01-31', tags: ['v1.2.3'], changed: [] }

  it('finds nothing on a clean, tagged commit with a dated section', () => {
    expect(readinessFaults(ready)).toEqual([])
  })

  it.each([
    ['a section without a date', { date: null }, 'write "## 1.2.3 · YYYY-MM-DD"'],
    ['a commit without a tag', { tags: [] }, 'the commit has no tag; make it: git tag -s v1.2.3'],
    ['a commit with another tag', { tags: ['v1.2.2'] }, 'the commit has the tags v1.2.2'],
    ['changed files', { changed: [' M README.md', '?? x'] }, '2 changed files, such as  M README.md'],
  ])('finds %s', (_what, change, fault) => {
    expect(readinessFaults({ ...ready, ...change })).toEqual([expect.stringContaining(fault)])
  })
})

describe('addresses', () => {
  const addresses = { registry: 'registry.example:5000/team', repository: 'Some-Owner/tranche' }

  it('are the registry with a path, and the repository', () => {
    expect(faultsOfAddresses(addresses)).toEqual([])
    expect(imageOf(addresses)).toBe('registry.example:5000/team/tranche')
    expect(downloadsOf(addresses, '1.2.3')).toBe('https://github.com/Some-Owner/tranche/releases/download/v1.2.3')
  })

  it('put the npm package under the scope of the owner, never under the plain name', () => {
    expect(npmNameOf(addresses)).toBe('@some-owner/tranche')
  })

  it.each([
    [{}, ['--registry is missing', '--repository is missing']],
    [{ ...addresses, registry: 'https://registry.example/team' }, ['--registry is "https://registry.example/team"']],
    [{ ...addresses, registry: 'registry.example' }, ['give a host and a path']],
    [{ ...addresses, repository: 'tranche' }, ['give an owner and a name']],
  ])('of %j are rejected, each with its fix', (given, faults) => {
    expect(faultsOfAddresses(given)).toEqual(faults.map((fault) => expect.stringContaining(fault)))
  })
})

describe('faultsOfVariables', () => {
  const names = Object.keys(releaseVariables)
  const all = { ...Object.fromEntries(names.map((name) => [name, 'x'])), BUILD_IMAGE: `debian@sha256:${'a'.repeat(64)}` }

  it('names every missing variable at once, and what it is for', () => {
    expect(faultsOfVariables({})).toEqual(names.map((name) => expect.stringMatching(new RegExp(`^${name} is not set: \\S`))))
    expect(faultsOfVariables(all)).toEqual([])
  })

  it('counts an empty variable as missing', () => {
    expect(faultsOfVariables({ ...all, GH_TOKEN: '' })).toEqual([expect.stringContaining('GH_TOKEN is not set')])
  })

  it('knows every token as a secret', () => {
    expect(names.filter((name) => name.endsWith('TOKEN')).toSorted()).toEqual(secretVariables.toSorted())
  })

  it('rejects a build image without a digest', () => {
    expect(faultsOfVariables({ ...all, BUILD_IMAGE: 'debian:12' })).toEqual(['BUILD_IMAGE is "debian:12"; give its digest: NAME@sha256:…'])
  })
})
