import type { RecordedWrite } from '../../record/recorded-write.ts'
import { followAbsences, type Absences } from '../../world/absences.ts'
import { millisecondsOf, type RecordedTerms } from '../../world/terms.ts'
import type { Deletion } from '../../world/world.ts'
import type { Judge, JudgeParts } from '../judge-parts.ts'

/** How long a pod must have been available before its deletion is judged: an executor may not have seen it before. In milliseconds. */
const AVAILABLE_MS = 60_000

/**
 * Judges what a policy with `downtime.perDay` asks for. G4: where the agent of a node was away for that long in the last 24
 * hours because of our deletions, its pod is not deleted. Exceptions: a rollback, and a pod that has been available for less than a minute.
 */
export function createDowntimeJudge(parts: JudgeParts): Judge {
  return new DowntimeJudge(parts)
}

class DowntimeJudge implements Judge {
  readonly #parts: JudgeParts
  readonly #absences: Absences

  constructor(parts: JudgeParts) {
    this.#parts = parts
    this.#absences = followAbsences(parts.query.clockSteps)
  }

  onDeletion(deletion: Deletion): void {
    const { daemonSet, decision, pod, atMs } = deletion
    const terms = [...daemonSet.terms.possible(decision, this.#parts.observations), daemonSet.terms.latest]
    const allowed = terms.map(allowedMs)
    const isAsked = allowed.every((ms) => ms !== null)
    const wasAvailable = pod.readySinceMs !== null && pod.readySinceMs + daemonSet.mostMinReadyMs() <= decision.atMs - AVAILABLE_MS
    const awayMs = this.#absences.surely(daemonSet, pod.node, decision.atMs)
    if (isAsked && wasAvailable && awayMs >= Math.max(...allowed)) {
      const text = `a pod is deleted on a node whose agent was away for ${Math.round(awayMs / 1000)} s in the last 24 hours`
      this.#parts.breach({
        guarantee: 'G4',
        atMs,
        node: pod.node,
        text: `${text}, and the policy allows ${daemonSet.terms.latest?.downtime?.perDay}`,
      })
    }
    this.#absences.onDeletion(deletion, isAsked)
  }

  onWrite(write: RecordedWrite): void {
    this.#absences.onWrite(write)
  }
}

/** What a release must keep, in milliseconds; null where it need not: a rollback waits for nothing. */
function allowedMs(terms: RecordedTerms | undefined): number | null {
  const { downtime, canaryRevision, stableRevision } = terms ?? {}
  const isRollback = canaryRevision !== undefined && canaryRevision === stableRevision
  return downtime?.perDay === undefined || isRollback ? null : millisecondsOf(downtime.perDay)
}
