/** Notes of one version in CHANGELOG.md. */
export interface ChangelogEntry {
  readonly version: string
  /** Day of the release as YYYY-MM-DD; null before it. */
  readonly date: string | null
  /** Markdown below the heading, without white space around it. */
  readonly notes: string
}

/** Headings inside a version, in the order in which they must appear. */
export const changeKinds: readonly string[] = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security']

/** @returns the entries of a changelog, in the order of the file */
export function readChangelog(text: string): readonly ChangelogEntry[] {
  const [, ...parts] = text.split(/^## /m)
  return parts.map((part) => {
    const [title = '', ...lines] = part.split('\n')
    const [version = '', date = null] = title.split(' · ')
    return { version, date, notes: lines.join('\n').trim() }
  })
}

/** @returns what is wrong with the form of a changelog, each with its fix; none if it is well-formed */
export function faultsOfChangelog(text: string): readonly string[] {
  const entries = readChangelog(text)
  return [
    ...entries.flatMap(faultsOfEntry),
    ...entries.slice(1).flatMap(({ version, date }, index) => faultsOfOrder(entries[index]!, { version, date })),
  ]
}

function faultsOfEntry({ version, date, notes }: ChangelogEntry): readonly string[] {
  const kinds = [...notes.matchAll(/^### (.+)$/gm)].map(([, kind = '']) => kind)
  const inOrder = changeKinds.filter((kind) => kinds.includes(kind))
  return [
    ...(/^\d+\.\d+\.\d+$/.test(version) ? [] : [`"${version}" is not a version; write "## 1.2.3" or "## 1.2.3 · 2026-01-31"`]),
    ...(date === null || /^\d{4}-\d\d-\d\d$/.test(date) ? [] : [`${version}: "${date}" is not a date; write YYYY-MM-DD`]),
    ...(kinds.length > 0 ? [] : [`${version}: no section; add one of ${changeKinds.join(', ')}`]),
    ...(kinds.join() === inOrder.join()
      ? []
      : [`${version}: sections ${kinds.join(', ')}; use each of ${changeKinds.join(', ')} once, in order`]),
    ...(notes
      .split(/^### .+$/m)
      .slice(1)
      .every((section) => /^- \S/m.test(section))
      ? []
      : [`${version}: an empty section; remove it`]),
  ]
}

function faultsOfOrder(above: Pick<ChangelogEntry, 'version'>, below: Pick<ChangelogEntry, 'version' | 'date'>): readonly string[] {
  return [
    ...(compareVersions(above.version, below.version) > 0
      ? []
      : [`${below.version} is below ${above.version}; put the newest version first`]),
    ...(below.date === null ? [`${below.version} has no date; only the topmost version may have none`] : []),
  ]
}

function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => version.split('.').map(Number))
  const at = left!.findIndex((part, index) => part !== right![index])
  return at === -1 ? 0 : left![at]! - right![at]!
}
