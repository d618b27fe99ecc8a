import type { Pod } from '@tranche/kube-types'
import { isTerminal } from '@tranche/sim-api'
import { isAvailable, isReady, isTerminating, minReadyMsOf } from './pod-facts.ts'
import type { Situation } from './rolling-state.ts'
import { allowsSurge } from './strategy.ts'

/** Placement actions on one node. */
export interface NodePlacement {
  /** Whether to create a pod. */
  readonly create: boolean
  /** Pods to delete: duplicates, pods that may not stay, unbound pods of a node that is gone. */
  readonly remove: readonly Pod[]
  /** Ended pods to delete, the failed ones with back-off. */
  readonly ended: readonly Pod[]
}

/**
 * Ensures one pod where one should run, and none elsewhere. With surge, an old and a new pod coexist until the new one is available or the
 * old one is not ready.
 *
 * @see reference: "Placement decision per node"
 */
export function placementOf(situation: Situation): NodePlacement {
  const { target, eligibility, pods } = situation
  const living = pods.filter((pod) => !isTerminating(pod))
  // The pod garbage collector removes bound pods of a deleted node.
  if (eligibility === undefined) return { create: false, remove: living.filter((pod) => !pod.spec?.nodeName), ended: [] }
  if (eligibility.shouldRun && pods.length === 0) return { create: true, remove: [], ended: [] }
  if (!eligibility.shouldContinue) return { create: false, remove: living, ended: [] }
  const running = living.filter((pod) => !isTerminal(pod))
  const ended = living.filter(isTerminal)
  if (!allowsSurge(target.daemonSet)) return { create: false, remove: running.slice(1), ended }
  return { create: eligibility.shouldRun && running.length === 0, remove: surplus(situation, running), ended }
}

/** All but the first new and the first old pod, and the old one once the new one takes over. Only the hash decides here. */
function surplus({ target, nowMs }: Situation, running: readonly Pod[]): readonly Pod[] {
  const isNew = (pod: Pod): boolean => pod.metadata.labels?.['controller-revision-hash'] === target.hash
  const [fresh, ...otherFresh] = running.filter(isNew)
  const [old, ...otherOld] = running.filter((pod) => !isNew(pod))
  const surplusPods = [...otherFresh, ...otherOld]
  if (fresh === undefined || old === undefined) return surplusPods
  const takesOver = !isReady(old) || isAvailable(fresh, minReadyMsOf(target.daemonSet), nowMs)
  return takesOver ? [...surplusPods, old] : surplusPods
}
