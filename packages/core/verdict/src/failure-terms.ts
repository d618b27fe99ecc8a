import { durationMs, type FailureAction, type FailureRules, type ReleasePlan } from '@tranche/api-schema'
import { type IntOrString, scaleIntOrPercent } from '@tranche/kube-types'

/** Failure rules of a release with all defaults applied. */
export interface FailureTerms {
  readonly action: FailureAction
  /** Number of tolerated failed nodes (≥ 0). */
  readonly limit: number
  /** Tolerated failed nodes of one batch; null without such a limit. */
  readonly perBatch: IntOrString | null
  readonly progressDeadlineMs: number
  readonly schedulingDeadlineMs: number
  /** Tolerated restarts on a node since its update (≥ 0). */
  readonly maxRestarts: number
  readonly ignoreReasons: ReadonlySet<string>
  /** Milliseconds with no more failures than tolerated after which a paused release resumes by itself; null: never. */
  readonly autoResumeMs: number | null
}

/** Defaults without a policy (docs/reference/policy.md). */
export const failureDefaults = {
  action: 'Pause',
  progressDeadlineSeconds: 600,
  schedulingDeadlineSeconds: 60,
  maxRestarts: 2,
} as const

/**
 * Applies the defaults.
 *
 * @param rules failure rules of the policy; undefined without one
 * @param plan its failureThreshold is the limit if the rules set none
 * @param desired desired nodes, the base of percentages, which round up
 */
export function failureTerms(rules: FailureRules | undefined, plan: ReleasePlan, desired: number): FailureTerms {
  const tolerated = rules?.maxFailedNodes ?? plan.failureThreshold ?? 0
  return {
    action: rules?.action ?? failureDefaults.action,
    limit: scaleIntOrPercent(tolerated, desired) ?? 0,
    perBatch: rules?.maxFailedNodesPerBatch ?? null,
    progressDeadlineMs: (rules?.progressDeadlineSeconds ?? failureDefaults.progressDeadlineSeconds) * 1000,
    schedulingDeadlineMs: (rules?.schedulingDeadlineSeconds ?? failureDefaults.schedulingDeadlineSeconds) * 1000,
    maxRestarts: rules?.maxRestarts ?? failureDefaults.maxRestarts,
    ignoreReasons: rules?.ignoreReasons === undefined ? NONE : new Set(rules.ignoreReasons),
    autoResumeMs: resumeMs(rules?.autoResume),
  }
}

const NONE: ReadonlySet<string> = new Set()

/** An invalid duration means never. */
function resumeMs(text: string | undefined): number | null {
  const ms = text === undefined ? Number.NaN : durationMs(text)
  return Number.isNaN(ms) ? null : ms
}
