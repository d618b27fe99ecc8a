import type { RecordedDaemonSet, RecordedWrite } from '@tranche/recording'
import type { Standing } from './admission-control.ts'
import type { Violation } from './judge.ts'

/**
 * While admission stands, of one version or of two at once, no template that somebody else writes on a bound DaemonSet is stored under a
 * strategy by which the native controller would roll it out past every batch (G3); and no `RollingUpdate` is put back in the place of
 * `OnDelete` in mid-release (G11). Who has disabled or deleted the Rollout wants nothing of the kind: what they apply then is their own, also
 * while the release lets go.
 *
 * @param admitted when it stood
 */
export function findPassed(writes: readonly RecordedWrite[], admitted: readonly Standing[]): readonly Violation[] {
  const known = new Map<string, RecordedDaemonSet>()
  const letGo = new Set<string>()
  return writes.flatMap((write) => {
    const { kind, uid = '', t, actor = '' } = write
    if (kind === 'Rollout') followRollout(letGo, write)
    if (kind !== 'DaemonSet') return []
    const next = write.o as unknown as RecordedDaemonSet
    const before = known.get(uid)
    known.set(uid, next)
    if (before === undefined || !isBound(before) || isOurs(actor) || next.strategy?.type === 'OnDelete') return []
    if (letGo.has(`${write.namespace}/${before.annotations?.['tranche.dev/rollout']}`)) return []
    const stood = admitted.some(({ fromMs, toMs }) => fromMs < t && (toMs === null || t < toMs))
    if (!stood) return []
    if (before.template === next.template) {
      if (before.strategy?.type !== 'OnDelete' || !isReleased(before) || !isReleased(next)) return []
      return [{ guarantee: 'G11', atMs: t, text: `the RollingUpdate of ${actor} has passed admission in mid-release` }]
    }
    return [{ guarantee: 'G3', atMs: t, text: `the template of ${actor} has passed admission, and is rolled out natively` }]
  })
}

/** @param letGo Rollouts that their owner has disabled, or deletes */
function followRollout(letGo: Set<string>, { namespace, type, o }: RecordedWrite): void {
  const { metadata, spec } = o as {
    readonly metadata: { readonly name?: string; readonly deletionTimestamp?: string }
    readonly spec?: { readonly disabled?: boolean }
  }
  const key = `${namespace}/${metadata.name}`
  if (type === 'DELETED' || spec?.disabled === true || metadata.deletionTimestamp !== undefined) letGo.add(key)
  else letGo.delete(key)
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
