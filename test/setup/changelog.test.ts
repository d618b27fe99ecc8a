import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { faultsOfChangelog, readChangelog } from '../../scripts/community/changelog.ts'

const text = readFileSync('CHANGELOG.md', 'utf8')
const entries = readChangelog(text)
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
const added = '\n\n### Added\n\n- A thing.\n'

describe('CHANGELOG.md', () => {
  it('is well-formed', () => {
    expect(faultsOfChangelog(text)).toEqual([])
  })

  it('begins with the version of package.json and the chart', () => {
    const chart = parse(readFileSync('charts/tranche/Chart.yaml', 'utf8')) as { version: string; appVersion: string }
    expect([entries[0]?.version, chart.version, chart.appVersion]).toEqual([version, version, version])
  })

  it('has a dated section for each tagged version', () => {
    const tags = execFileSync('git', ['tag', '--list', 'v[0-9]*'], { encoding: 'utf8' })
      .split('\n')
      .filter((tag) => tag !== '')
    const dated = entries.filter(({ date }) => date !== null).map((entry) => `v${entry.version}`)
    expect(tags.filter((tag) => !dated.includes(tag))).toEqual([])
  })
})

describe('faultsOfChangelog', () => {
  it('accepts dated versions below one without a date', () => {
    expect(faultsOfChangelog(`## 0.10.0${added}\n## 0.9.1 · 2026-01-31${added}`)).toEqual([])
  })

  it.each([
    ['a title that is no version', `## Unreleased${added}`, '"Unreleased" is not a version'],
    ['another form of date', `## 1.0.0 · 31 Jan 2026${added}`, 'is not a date'],
    ['a version without notes', '## 1.0.0\n', 'no section'],
    ['an unknown section', '## 1.0.0\n\n### Improved\n\n- A thing.\n', 'use each of Added'],
    ['sections in another order', '## 1.0.0\n\n### Fixed\n\n- A.\n\n### Added\n\n- B.\n', 'in order'],
    ['an empty section', '## 1.0.0\n\n### Added\n\n### Fixed\n\n- B.\n', 'an empty section'],
    ['the older version first', `## 0.9.0${added}\n## 0.10.0 · 2026-01-31${added}`, 'put the newest version first'],
    ['a second version without date', `## 0.2.0${added}\n## 0.1.0${added}`, '0.1.0 has no date'],
  ])('finds %s', (_what, changelog, fault) => {
    expect(faultsOfChangelog(changelog).join('; ')).toContain(fault)
  })
})

describe('release-notes', () => {
  const run = (...args: string[]) => spawnSync(process.execPath, ['scripts/release-notes.ts', ...args], { encoding: 'utf8' })

  it('prints the section of a version', () => {
    expect(run(version)).toMatchObject({ status: 0, stdout: `${entries[0]?.notes}\n` })
  })

  it('rejects an unknown version, and names the known ones', () => {
    const { status, stderr } = run('9.9.9')
    expect([status, stderr]).toEqual([1, expect.stringContaining(`use one of ${entries[0]?.version}`)])
  })

  it('accepts with --released exactly the versions that have a date', () => {
    expect(entries.map((entry) => run(entry.version, '--released').status)).toEqual(entries.map(({ date }) => (date === null ? 1 : 0)))
  })
})
