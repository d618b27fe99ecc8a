import type { ReleasePolicy } from '@tranche/api-schema'
import type { Clock } from '@tranche/clock'
import type { PatchOperation } from '@tranche/fence'
import { keyText, type ObjectKey } from '@tranche/kube-types'
import { hasReadableFields, planPolicyStatus, type PolicyView } from '@tranche/planner'
import { awaitChange, type ReconcileResult, type Reconcile, recheckAfter } from '@tranche/reconcile'

/** Input of a pass over a ReleasePolicy. */
export interface PolicyViewReading extends Omit<PolicyView, 'nowMs' | 'unusable'> {
  /** Parts that cannot be used at the moment, where that takes no request; others need an examination. @default none */
  readonly unusableNow?: Unusable
}

/** Parts of a policy that cannot be used in this installation. */
type Unusable = NonNullable<PolicyView['unusable']>

/** Cluster access of the ReleasePolicy reconciler. Writes throw WRITE_CONFLICT if another write came first. */
export interface PolicyPort {
  /** Reads from this process's watches; null if the policy is gone. */
  read(key: ObjectKey): PolicyViewReading | null
  /**
   * Checks whether the policy's Secrets are readable and its hosts are allowed.
   *
   * @returns what cannot be used
   * @throws the signal's reason once it aborts, and nothing else
   */
  examine(policy: ReleasePolicy, signal: AbortSignal): Promise<Unusable>
  patchStatus(policy: ReleasePolicy, patch: readonly PatchOperation[], signal: AbortSignal): Promise<void>
}

/** Dependencies of {@link createPolicyPass}. */
export interface PolicyParts {
  readonly cluster: PolicyPort
  readonly clock: Clock
}

/** Recheck interval while a Secret is missing, in milliseconds, because Secrets are not watched. */
export const EXAMINE_EVERY_MS = 30_000

/** Reports whether one ReleasePolicy is valid and usable, and which Rollouts use it. Releases follow its spec, never this status. */
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
    const { unusableNow = [], ...read } = reading
    const unusable = examination.unusable === null ? null : [...examination.unusable, ...unusableNow]
    const patch = planPolicyStatus({ ...read, unusable, nowMs: clock.nowMs() })
    if (patch === null) return untilExamined(examination, clock)
    await cluster.patchStatus(policy, patch, signal)
    log.info({ releasePolicy: keyText(key) }, 'wrote status of policy')
    return recheckAfter(0)
  }
}

/** Result of checking one policy. Saves requests for passes with another cause; no guarantee depends on it (G7). */
interface Examination {
  readonly uid: string
  readonly generation: number | undefined
  readonly atMs: number
  /** Null: fields have wrong types, so the policy was not checked. */
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

function untilExamined(examination: Examination, clock: Clock): ReconcileResult {
  return isLacking(examination) ? recheckAfter(Math.max(0, examination.atMs + EXAMINE_EVERY_MS - clock.monotonicMs())) : awaitChange
}

async function examine(cluster: PolicyPort, policy: ReleasePolicy, signal: AbortSignal): Promise<Unusable | null> {
  return hasReadableFields(policy) ? cluster.examine(policy, signal) : null
}
