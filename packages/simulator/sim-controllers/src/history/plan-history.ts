import { canonicalJson, type ControllerRevision } from '@tranche/kube-types'

/** Required change of a DaemonSet's history for its template. */
export type HistoryPlan =
  /** No revision holds the template: create one with this number. */
  | { readonly kind: 'create'; readonly number: number; readonly old: readonly ControllerRevision[] }
  /** `current` holds the template and has the highest number. */
  | ({ readonly kind: 'keep' } & Found)
  /** `current` holds the template but is not the newest: renumber it. Name, labels and data stay. */
  | ({ readonly kind: 'renumber'; readonly number: number } & Found)

interface Found {
  readonly current: ControllerRevision
  /** Other revisions that hold the template, to be merged into `current`. */
  readonly duplicates: readonly ControllerRevision[]
  /** Revisions that hold another template. */
  readonly old: readonly ControllerRevision[]
}

/**
 * Selects the current revision. Pure; the order of `revisions` matters only for equal numbers (the later wins).
 *
 * @param template the DaemonSet's stored pod template
 * @param revisions the DaemonSet's revisions
 * @see reference: ControllerRevision, "Match", "Number" and "Dedupe"
 */
export function planHistory(template: unknown, revisions: readonly ControllerRevision[]): HistoryPlan {
  const text = textOf(template as object, () => templatePatch(template))
  const matching = revisions.filter((revision) => dataText(revision) === text)
  const old = revisions.filter((revision) => !matching.includes(revision))
  const number = Math.max(0, ...old.map((revision) => revision.revision)) + 1
  const current = matching.reduce<ControllerRevision | undefined>(
    (best, next) => (best && best.revision > next.revision ? best : next),
    undefined,
  )
  if (current === undefined) return { kind: 'create', number, old }
  const found: Found = { current, duplicates: matching.filter((revision) => revision !== current), old }
  return current.revision < number ? { kind: 'renumber', number, ...found } : { kind: 'keep', ...found }
}

/** @returns `data` of a revision for this template: a strategic merge patch that replaces the template */
export function templatePatch(template: unknown): unknown {
  return { spec: { template: { $patch: 'replace', ...(template as object) } } }
}

/**
 * Selects old revisions to delete: the lowest numbers first, until `limit` are left. Revisions of existing pods are kept, so more than
 * `limit` may remain.
 *
 * @param limit `spec.revisionHistoryLimit` (≥ 0)
 * @param liveHashes `controller-revision-hash` of every pod of the DaemonSet, including terminating ones
 */
export function planCleanup(
  old: readonly ControllerRevision[],
  limit: number,
  liveHashes: ReadonlySet<string>,
): readonly ControllerRevision[] {
  let excess = old.length - limit
  if (excess <= 0) return []
  const doomed: ControllerRevision[] = []
  for (const revision of old.toSorted((a, b) => a.revision - b.revision)) {
    if (excess <= 0) break
    if (liveHashes.has(hashOfRevision(revision))) continue
    doomed.push(revision)
    excess--
  }
  return doomed
}

/** @returns `controller-revision-hash` of this revision's pods; the revision's name when it has no label */
export function hashOfRevision(revision: ControllerRevision): string {
  return revision.metadata.labels?.['controller-revision-hash'] ?? revision.metadata.name
}

/** Cache of canonical texts of templates and of `data`, which never change in an object from the server. */
const texts = new WeakMap<object, string>()

function dataText(revision: ControllerRevision): string {
  return textOf(revision, () => revision.data)
}

function textOf(holder: object, value: () => unknown): string {
  let text = texts.get(holder)
  if (text === undefined) texts.set(holder, (text = canonicalJson(value())))
  return text
}
