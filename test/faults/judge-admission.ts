import type { RecordedDaemonSet, RecordedWrite } from '@tranche/recording'
import type { Standing } from './admission-control.ts'
import type { Violation } from './judge.ts'

/**
 * While admission stands, of one version or of two at once, no template that somebody else writes on a bound DaemonSet is stored under a
 * strategy by which the native controller would roll it out past every batch (G3); and no `RollingUpdate` is put back in the place of
 * `OnDelete` in mid-release (G11).
 *
 * @param admitted when it stood
 */
export function findPassed(writes: readonly RecordedWrite[], admitted: readonly Standing[]): readonly Violation[] {
  const known = new Map<string, RecordedDaemonSet>()
  return writes.flatMap((write) => {
    const { kind, uid = '', t, actor = '' } = write
    if (kind !== 'DaemonSet') return []
    const next = write.o as unknown as RecordedDaemonSet
    const before = known.get(uid)
    known.set(uid, next)
    if (before === undefined || !isBound(before) || isOurs(actor) || next.strategy?.type === 'OnDelete') return []
    const stood = admitted.some(({ fromMs, toMs }) => fromMs < t && (toMs === null || t < toMs))
    if (!stood) return []
    if (before.template === next.template) {
      if (before.strategy?.type !== 'OnDelete' || !isReleased(before) || !isReleased(next)) return []
      return [{ guarantee: 'G11', atMs: t, text: `the RollingUpdate of ${actor} has passed admission in mid-release` }]
    }
    return [{ guarantee: 'G3', atMs: t, text: `the template of ${actor} has passed admission, and is rolled out natively` }]
  })
}

function isBound({ annotations, labels }: RecordedDaemonSet): boolean {
  return annotations?.['tranche.dev/rollout'] !== undefined && labels?.['rollouts.kruise.io/workload-type'] === 'daemonset'
}

function isReleased({ annotations }: RecordedDaemonSet): boolean {
  return annotations?.['rollouts.kruise.io/in-progressing'] !== undefined
}

function isOurs(actor: string): boolean {
  return /^(controller|executor)-/.test(actor)
}
