/** What a checkout says about its version. */
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { type ChangelogEntry, readChangelog } from '../community/changelog.ts'
import type { CommandRunner } from './run-command.ts'
import type { VersionPlaces } from './version-faults.ts'

/** Facts of the checked-out commit. */
export interface RepositoryFacts extends VersionPlaces {
  readonly commit: string
  /** Time of the commit. */
  readonly created: Date
  /** Tags at the commit. */
  readonly tags: readonly string[]
  /** Changed files, as git lists them. */
  readonly changed: readonly string[]
  /** Changes of the version, for its page. */
  readonly notes: string
}

/** Reads the facts of the checkout in the current folder. */
export async function readFacts(run: CommandRunner): Promise<RepositoryFacts> {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string }
  const chart = parse(readFileSync('charts/tranche/Chart.yaml', 'utf8')) as { readonly version: string; readonly appVersion: string }
  const entries: readonly ChangelogEntry[] = readChangelog(readFileSync('CHANGELOG.md', 'utf8'))
  const lines = async (...args: readonly string[]): Promise<readonly string[]> =>
    (await run('git', args)).split('\n').filter((line) => line !== '')
  const [commit = '', seconds = ''] = await lines('log', '-1', '--format=%H%n%ct')
  return {
    version,
    chartVersion: chart.version,
    appVersion: chart.appVersion,
    changelog: entries[0],
    commit,
    created: new Date(Number(seconds) * 1_000),
    tags: await lines('tag', '--points-at', 'HEAD'),
    changed: await lines('status', '--porcelain'),
    notes: entries[0]?.notes ?? '',
  }
}
