import type { DaemonSet } from '@tranche/kube-types'
import { hashOf } from '../../release/view/discover-revisions.ts'
import { frozenMembers } from '../../release/view/frozen-annotation.ts'
import type { RolloutView } from '../view/rollout-view.ts'

/** Stable revision of the release that was frozen on the DaemonSet; undefined without one, or where the history lost it. */
export function frozenStable({ daemonSet, revisions }: RolloutView): string | undefined {
  const stable = frozenMembers(daemonSet)?.stable
  return revisions.map(hashOf).find((hash) => hash === stable)
}

/** Steps and nodes that a release had opened when it was frozen. */
export interface OpenedWhenFrozen {
  /** Step number, from 1. */
  readonly step: number
  /** Number of nodes of the step. */
  readonly size: number
}

/** @returns null where no release of this revision was frozen on the DaemonSet, or by a version that did not record it */
export function openedWhenFrozen(daemonSet: DaemonSet, revision: string): OpenedWhenFrozen | null {
  const { revision: its, step, size } = frozenMembers(daemonSet) ?? {}
  return its === revision && typeof step === 'number' && typeof size === 'number' ? { step, size } : null
}
