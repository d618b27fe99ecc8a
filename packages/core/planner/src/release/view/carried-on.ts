import { type Carried, parseCarried } from '@tranche/fence'
import { type DaemonSet, daemonSetAnnotations } from '@tranche/kube-types'

/** F11: the nodes in flight that the last release left on this DaemonSet; null without any, or where they are of another one. */
export function carriedOn({ metadata }: DaemonSet): Carried | null {
  const text = metadata.annotations?.[daemonSetAnnotations.unsettled]
  const carried = text === undefined ? null : parseCarried(text)
  return carried?.workloadUid === metadata.uid ? carried : null
}
