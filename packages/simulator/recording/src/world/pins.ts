import type { RecordedDaemonSet } from '../record/recorded-write.ts'

/** Annotation of a DaemonSet: the copies of config that were offered last. */
const OFFERED = 'tranche.dev/offered-config'

/** Name of the copy of each ConfigMap that a template names. */
export function copiesIn(pins: string | undefined): ReadonlyMap<string, string> {
  const entries = (pins ?? '').split(',').filter((entry) => entry.startsWith('ConfigMap/'))
  return new Map(entries.map((entry) => entry.slice('ConfigMap/'.length).split('=', 2) as [string, string]))
}

/**
 * Whether a write of ours brings config into the template: only the copies differ, and they are a new offer, or an object was not pinned before.
 * Otherwise, it puts an earlier template back.
 */
export function pinsConfig(before: RecordedDaemonSet, next: RecordedDaemonSet): boolean {
  if (before.template === next.template || (before.unpinned ?? before.template) !== (next.unpinned ?? next.template)) return false
  const was = copiesIn(before.pins)
  const isMore = [...copiesIn(next.pins).keys()].some((name) => !was.has(name))
  return isMore || before.annotations?.[OFFERED] !== next.annotations?.[OFFERED]
}
