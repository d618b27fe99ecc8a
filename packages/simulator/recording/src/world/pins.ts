import { ownValue } from './own-value.ts'
import type { RecordedDaemonSet } from '../record/recorded-write.ts'

/** Annotation of a DaemonSet: the copies of config that were offered last. */
const OFFERED = 'tranche.dev/offered-config'
/** Annotation of a DaemonSet: which template was put back. */
const REVERTED = 'tranche.dev/reverted'

/** Copies that a template names, by object: `ConfigMap/agent` is read as `ConfigMap/agent-1`, and Secrets alike. */
export function copiesIn(pins: string | undefined): ReadonlyMap<string, string> {
  const entries = (pins ?? '').split(',').filter((entry) => entry.includes('='))
  return new Map(
    entries.map((entry) => {
      const [object = '', copy = ''] = entry.split('=', 2)
      return [object, `${object.split('/', 1)[0]}/${copy}`]
    }),
  )
}

/**
 * Whether a write by Tranche brings config into the template: only the copies differ. They are a new offer, or those of the last one, or an
 * object was not pinned before. Otherwise, it puts an earlier template back.
 */
export function pinsConfig(before: RecordedDaemonSet, next: RecordedDaemonSet): boolean {
  if (before.template === next.template || (before.unpinned ?? before.template) !== (next.unpinned ?? next.template)) return false
  const was = copiesIn(before.pins)
  const isMore = [...copiesIn(next.pins).keys()].some((name) => !was.has(name))
  const [offered, reverted] = [OFFERED, REVERTED].map((key) => ownValue(next.annotations, key))
  if (isMore || before.annotations?.[OFFERED] !== offered) return true
  return offered === next.pins && before.annotations?.[REVERTED] === reverted
}
