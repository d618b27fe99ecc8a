import type { ChangelogEntry } from '../community/changelog.ts'

/** Every place that names the version. */
export interface VersionPlaces {
  /** `version` of package.json, with which the others are compared. */
  readonly version: string
  readonly chartVersion: string
  readonly appVersion: string
  /** Topmost section of CHANGELOG.md. */
  readonly changelog: Pick<ChangelogEntry, 'version' | 'date'> | undefined
}

/** @returns the places that differ from package.json, each with its fix */
export function versionFaults({ version, chartVersion, appVersion, changelog }: VersionPlaces): readonly string[] {
  const chart = { version: chartVersion, appVersion }
  return [
    ...Object.entries(chart).flatMap(([field, found]) =>
      found === version ? [] : [`charts/tranche/Chart.yaml: ${field} is ${found}; write ${version}, the version of package.json`],
    ),
    ...(changelog?.version === version
      ? []
      : [`CHANGELOG.md: the topmost section is ${changelog?.version ?? 'missing'}; write "## ${version}", the version of package.json`]),
  ]
}

/** Facts that only a release needs. A dry run reports what is missing, and continues. */
export interface ReadinessFacts {
  readonly version: string
  readonly date: string | null
  /** Tags at the commit. */
  readonly tags: readonly string[]
  /** Changed files, as git lists them. */
  readonly changed: readonly string[]
}

/** @returns what a release still needs, each with its fix */
export function readinessFaults({ version, date, tags, changed }: ReadinessFacts): readonly string[] {
  return [
    ...(date === null ? [`CHANGELOG.md: ${version} has no date; write "## ${version} · YYYY-MM-DD"`] : []),
    ...(tags.includes(`v${version}`)
      ? []
      : [`git: the commit has ${tags.length === 0 ? 'no tag' : `the tags ${tags.join(', ')}`}; make it: git tag -s v${version}`]),
    ...(changed.length === 0 ? [] : [`git: ${changed.length} changed files, such as ${changed[0]}; commit or remove them`]),
  ]
}
