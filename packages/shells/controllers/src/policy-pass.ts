import type { ReleasePolicy } from '@tranche/api-schema'
import type { Clock } from '@tranche/clock'
import type { PatchOperation } from '@tranche/flight'
import { keyText, type ObjectKey } from '@tranche/kube-types'
import { hasReadableFields, planPolicyStatus, type PolicyView } from '@tranche/planner'
import { awaitChange, type Outcome, type Reconcile, recheckAfter } from '@tranche/reconcile'

/** What a pass over a ReleasePolicy reads. */
export type PolicyViewReading = Omit<PolicyView, 'nowMs' | 'unusable'>

/** What of a policy cannot be used here. */
type Unusable = NonNullable<PolicyView['unusable']>

/** What the ReleasePolicy reconciler needs from the cluster. Writes that lose a race throw WRITE_CONFLICT. */
export interface PolicyPort {
  /** Reads from this process's own watches; null when the policy is gone. */
  read(key: ObjectKey): PolicyViewReading | null
  /**
   * Looks whether the Secrets that the policy names can be read and its hosts be asked, here and now.
   *
   * @returns what cannot be used
   * @throws the signal's reason once it aborts, and nothing else
   */
  examine(policy: ReleasePolicy, signal: AbortSignal): Promise<Unusable>
  patchStatus(policy: ReleasePolicy, patch: readonly PatchOperation[], signal: AbortSignal): Promise<void>
}

/** What the ReleasePolicy reconciler is made of. */
export interface PolicyParts {
  readonly cluster: PolicyPort
  readonly clock: Clock
}

/** Nobody watches Secrets, so that while one is missing it is looked for so often, in milliseconds. */
export const EXAMINE_EVERY_MS = 30_000

/**
 * Says of one ReleasePolicy whether it is valid, whether all of it can be used, and who uses it. Releases go by its spec, never
 * by what is said here.
 */
export function createPolicyPass({ cluster, clock }: PolicyParts): Reconcile {
  const examinations = new Map<string, Examination>()
  return async function passOverPolicy(key, signal, log) {
    const reading = cluster.read(key)
    if (reading === null) {
      examinations.delete(keyText(key))
      return awaitChange
    }
    const { policy } = reading
    const known = examinations.get(keyText(key))
    const examination = isStillGood(known, policy, clock)
      ? known
      : { ...identityOf(policy), atMs: clock.monotonicMs(), unusable: await examine(cluster, policy, signal) }
    examinations.set(keyText(key), examination)
    const patch = planPolicyStatus({ ...reading, unusable: examination.unusable, nowMs: clock.nowMs() })
    if (patch === null) return untilExamined(examination, clock)
    await cluster.patchStatus(policy, patch, signal)
    log.info({ releasePolicy: keyText(key) }, 'wrote status of policy')
    return recheckAfter(0)
  }
}

/** What was found of one policy. Saves requests for the passes that something else asked for, and guards nothing (G7). */
interface Examination {
  readonly uid: string
  readonly generation: number | undefined
  readonly atMs: number
  /** Null: fields of it have other types than they should, so that it was not examined. */
  readonly unusable: Unusable | null
}

function identityOf({ metadata: { uid, generation } }: ReleasePolicy): Pick<Examination, 'uid' | 'generation'> {
  return { uid, generation }
}

function isStillGood(known: Examination | undefined, { metadata }: ReleasePolicy, clock: Clock): known is Examination {
  if (known === undefined || known.uid !== metadata.uid || known.generation !== metadata.generation) return false
  return !isLacking(known) || clock.monotonicMs() < known.atMs + EXAMINE_EVERY_MS
}

function isLacking({ unusable }: Examination): boolean {
  return unusable !== null && unusable.length > 0
}

function untilExamined(examination: Examination, clock: Clock): Outcome {
  return isLacking(examination) ? recheckAfter(Math.max(0, examination.atMs + EXAMINE_EVERY_MS - clock.monotonicMs())) : awaitChange
}

async function examine(cluster: PolicyPort, policy: ReleasePolicy, signal: AbortSignal): Promise<Unusable | null> {
  return hasReadableFields(policy) ? cluster.examine(policy, signal) : null
}
