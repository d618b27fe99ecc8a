import { durationMs, type FailureAction, type FailureRules, type ReleasePlan } from '@tranche/api-schema'
import { type IntOrString, scaleIntOrPercent } from '@tranche/kube-types'

/** The rules of a release with every default put in. */
export interface FailureTerms {
  readonly action: FailureAction
  /** Failed nodes that are tolerated (≥ 0). */
  readonly limit: number
  /** The same of the nodes that one batch brought; null: no limit of its own. */
  readonly perBatch: IntOrString | null
  readonly progressDeadlineMs: number
  readonly schedulingDeadlineMs: number
  /** Restarts on a node since its update that are tolerated (≥ 0). */
  readonly maxRestarts: number
  readonly ignoreReasons: ReadonlySet<string>
  /** For how long no more nodes than tolerated must have failed before a paused release goes on by itself; null: never. */
  readonly autoResumeMs: number | null
}

/** What holds where no policy says otherwise (product §5). */
export const failureDefaults = {
  action: 'Pause',
  progressDeadlineSeconds: 600,
  schedulingDeadlineSeconds: 60,
  maxRestarts: 2,
} as const

/**
 * Puts the defaults in.
 *
 * @param rules of the policy; undefined without one
 * @param plan whose failureThreshold is what is tolerated where the rules do not say
 * @param desired desired nodes, of which percent are taken, rounded up
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

/** What cannot be read never lifts anything. */
function resumeMs(text: string | undefined): number | null {
  const ms = text === undefined ? Number.NaN : durationMs(text)
  return Number.isNaN(ms) ? null : ms
}
