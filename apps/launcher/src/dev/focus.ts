import type { Rollout } from '@tranche/api-schema'
import { type DaemonSet, keyOf, keyText, type ObjectKey } from '@tranche/kube-types'

/**
 * Chooses the DaemonSet to show: one in mid-release first, then that of the demo, then one with a Rollout, then any. Ties go by
 * name.
 *
 * @param preferred key of the demo DaemonSet
 */
export function chooseFocus(daemonSets: readonly DaemonSet[], rollouts: readonly Rollout[], preferred: ObjectKey): DaemonSet | undefined {
  const rank = (daemonSet: DaemonSet): number => {
    const rollout = namingRollout(daemonSet, rollouts)
    if (rollout?.status?.phase === 'Progressing') return 0
    if (keyText(keyOf(daemonSet)) === keyText(preferred)) return 1
    return rollout === undefined ? 3 : 2
  }
  return [...daemonSets].sort((a, b) => rank(a) - rank(b) || byKey(a, b))[0]
}

/** @returns the Rollout that names this DaemonSet; the oldest if there are several */
export function namingRollout(daemonSet: DaemonSet, rollouts: readonly Rollout[]): Rollout | undefined {
  return rollouts
    .filter((rollout) => rollout.metadata.namespace === daemonSet.metadata.namespace && namesDaemonSet(rollout, daemonSet.metadata.name))
    .sort((a, b) => byText(a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? '') || byKey(a, b))[0]
}

function namesDaemonSet({ spec }: Rollout, name: string): boolean {
  return spec.workloadRef.kind === 'DaemonSet' && spec.workloadRef.name === name
}

function byKey(a: Pick<DaemonSet, 'metadata'>, b: Pick<DaemonSet, 'metadata'>): number {
  return byText(`${a.metadata.namespace}/${a.metadata.name}`, `${b.metadata.namespace}/${b.metadata.name}`)
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
