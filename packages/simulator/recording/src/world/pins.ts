import type { RecordedDaemonSet } from '../record/recorded-write.ts'

/** Annotation of a DaemonSet: the copies of config that were offered last. */
const OFFERED = 'tranche.dev/offered-config'
/** Annotation of a DaemonSet: which template was put back. */
const REVERTED = 'tranche.dev/reverted'

/** Name of the copy of each ConfigMap that a template names. */
export function copiesIn(pins: string | undefined): ReadonlyMap<string, string> {
  const entries = (pins ?? '').split(',').filter((entry) => entry.startsWith('ConfigMap/'))
  return new Map(entries.map((entry) => entry.slice('ConfigMap/'.length).split('=', 2) as [string, string]))
}

/**
 * Whether a write by Tranche brings config into the template: only the copies differ. They are a new offer, or those of the last one, or an
 * object was not pinned before. Otherwise, it puts an earlier template back.
 */
export function pinsConfig(before: RecordedDaemonSet, next: RecordedDaemonSet): boolean {
  if (before.template === next.template || (before.unpinned ?? before.template) !== (next.unpinned ?? next.template)) return false
  const was = copiesIn(before.pins)
  const isMore = [...copiesIn(next.pins).keys()].some((name) => !was.has(name))
  const [offered, reverted] = [OFFERED, REVERTED].map((key) => next.annotations?.[key])
  if (isMore || before.annotations?.[OFFERED] !== offered) return true
  return offered === next.pins && before.annotations?.[REVERTED] === reverted
}
