import type { ControllerRevision } from '@tranche/kube-types'
import { canonicalJson } from './canonical-json.ts'

/** What a DaemonSet's history needs, given its template. Each kind is at most one write. */
export type HistoryPlan =
  /** No revision holds the template: create one with this number. */
  | { readonly kind: 'create'; readonly number: number; readonly old: readonly ControllerRevision[] }
  /** `current` holds the template and has the highest number. */
  | { readonly kind: 'keep'; readonly current: ControllerRevision; readonly old: readonly ControllerRevision[] }
  /** `current` holds the template but is not the newest: give it this number. Name, labels, data stay. */
  | {
      readonly kind: 'renumber'
      readonly current: ControllerRevision
      readonly number: number
      readonly old: readonly ControllerRevision[]
    }

/**
 * Decides which revision is current. Pure; the order of `revisions` decides only between equal numbers (the later wins).
 *
 * Revisions with the same data beside the chosen one count as `old`; merging them would be done here.
 *
 * @param template the DaemonSet's stored pod template
 * @param revisions the DaemonSet's revisions
 * @see reference: ControllerRevision, "Match" and "Number"
 */
export function planHistory(template: unknown, revisions: readonly ControllerRevision[]): HistoryPlan {
  const patch = templatePatch(template)
  const text = canonicalJson(patch)
  const matching = revisions.filter((revision) => dataText(revision) === text)
  const number = Math.max(0, ...revisions.filter((revision) => !matching.includes(revision)).map((revision) => revision.revision)) + 1
  const current = matching.reduce<ControllerRevision | undefined>(
    (best, next) => (best && best.revision > next.revision ? best : next),
    undefined,
  )
  const old = revisions.filter((revision) => revision !== current)
  if (current === undefined) return { kind: 'create', number, old }
  if (current.revision < number) return { kind: 'renumber', current, number, old }
  return { kind: 'keep', current, old }
}

/** @returns `data` of a revision that records this template: a strategic patch that puts the template back whole */
export function templatePatch(template: unknown): unknown {
  return { spec: { template: { $patch: 'replace', ...(template as object) } } }
}

/**
 * Decides which old revisions to delete: the lowest numbers first, until `limit` are left. Revisions that pods still
 * carry are passed over, so that more than `limit` may stay.
 *
 * @param limit `spec.revisionHistoryLimit` (≥ 0)
 * @param liveHashes `controller-revision-hash` of every pod of the DaemonSet, terminating ones included
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

/** @returns the `controller-revision-hash` that pods of this revision carry; a revision without the label goes by its name */
export function hashOfRevision(revision: ControllerRevision): string {
  return revision.metadata.labels?.['controller-revision-hash'] ?? revision.metadata.name
}

/** Canonical texts of `data`, which never changes while a revision lives. */
const texts = new WeakMap<ControllerRevision, string>()

function dataText(revision: ControllerRevision): string {
  let text = texts.get(revision)
  if (text === undefined) texts.set(revision, (text = canonicalJson(revision.data)))
  return text
}
