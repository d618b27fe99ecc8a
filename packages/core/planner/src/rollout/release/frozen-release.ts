import { type DaemonSet, daemonSetAnnotations, readJson } from '@tranche/kube-types'
import { hashOf } from '../../release/view/discover-revisions.ts'
import type { RolloutView } from '../view/rollout-view.ts'

/** Revision whose release was frozen on the DaemonSet; undefined without one. */
export function frozenRevision(daemonSet: DaemonSet | undefined): string | undefined {
  const frozen = daemonSet?.metadata.annotations?.[daemonSetAnnotations.frozen]
  return frozen === undefined ? undefined : (revisionInText(frozen) ?? undefined)
}

/** Stable revision of the release that was frozen on the DaemonSet; undefined without one, or where the history lost it. */
export function frozenStable({ daemonSet, revisions }: RolloutView): string | undefined {
  const frozen = daemonSet?.metadata.annotations?.[daemonSetAnnotations.frozen]
  const { stable } = frozen === undefined ? {} : membersOf(frozen)
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
export function openedWhenFrozen({ metadata }: DaemonSet, revision: string): OpenedWhenFrozen | null {
  const frozen = metadata.annotations?.[daemonSetAnnotations.frozen]
  const { revision: its, step, size } = frozen === undefined ? {} : membersOf(frozen)
  return its === revision && typeof step === 'number' && typeof size === 'number' ? { step, size } : null
}

/** @returns the revision in the text of the annotation; null where it holds none */
export function revisionInText(frozen: string): string | null {
  const { revision } = membersOf(frozen)
  return typeof revision === 'string' ? revision : null
}

function membersOf(frozen: string): Readonly<Partial<Record<'revision' | 'stable' | 'step' | 'size', unknown>>> {
  try {
    const value: unknown = readJson(frozen)
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}
