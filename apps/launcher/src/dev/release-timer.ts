import type { Rollout } from '@tranche/api-schema'
import { type DaemonSet, daemonSetAnnotations } from '@tranche/kube-types'

/** Records when the shown release started and ended. */
export interface ReleaseTimer {
  /** Call it with each new snapshot; it tracks one DaemonSet at a time. */
  times(daemonSet: DaemonSet, rollout: Rollout | undefined, nowMs: number): ReleaseTimes
}

/** Epoch milliseconds; null if not observed. */
export interface ReleaseTimes {
  readonly startedAtMs: number | null
  readonly endedAtMs: number | null
}

/** A release starts when the template changes, or if it is in progress when first seen. It ends when no update is in progress. */
export function createReleaseTimer(): ReleaseTimer {
  let uid: string | undefined
  let template: string | undefined
  let running = false
  let times: ReleaseTimes = { startedAtMs: null, endedAtMs: null }

  return {
    times(daemonSet, rollout, nowMs) {
      const seen = JSON.stringify(daemonSet.spec.template)
      const same = uid === daemonSet.metadata.uid
      const runs = isRunning(daemonSet, rollout)
      if (!same) times = { startedAtMs: rollout?.status?.phase === 'Progressing' ? nowMs : null, endedAtMs: null }
      else if (template !== seen) times = { startedAtMs: nowMs, endedAtMs: null }
      else if (running && !runs && times.startedAtMs !== null) times = { ...times, endedAtMs: nowMs }
      uid = daemonSet.metadata.uid
      template = seen
      running = runs || (running && times.endedAtMs === null && same)
      return times
    },
  }
}

function isRunning({ metadata, spec, status }: DaemonSet, rollout: Rollout | undefined): boolean {
  if (metadata.generation !== status?.observedGeneration && spec.updateStrategy?.type !== 'OnDelete') return true
  if (status?.updatedNumberScheduled !== status?.desiredNumberScheduled) return true
  if (rollout === undefined) return status?.numberAvailable !== status?.desiredNumberScheduled
  return rollout.status?.phase === 'Progressing' || metadata.annotations?.[daemonSetAnnotations.inProgressing] !== undefined
}
