import type { BatchRelease, WaitingFor } from '@tranche/api-schema'
import { type StepAnalyses, stepAnalyses } from '@tranche/analysis'
import { parseTime, timeText } from '@tranche/kube-types'
import { policyTerms } from '../view/release-policy.ts'
import { isForeign, summarizeBatchRelease } from './batch-release-summary.ts'
import { isReturn } from './release-spec.ts'
import type { RolloutState } from '../view/rollout-state.ts'
import type { RolloutView } from '../view/rollout-view.ts'

/** State of a step between ready and its pause. */
export type Soak =
  /** The batch stayed ready for the policy's soak time, and its analyses succeeded. */
  | { readonly kind: 'done' }
  /** `recheckAfterMs`: milliseconds until the clock alone changes it; null where it does not. */
  | { readonly kind: 'waiting'; readonly waitingFor: WaitingFor; readonly recheckAfterMs: number | null }

/**
 * Whether a batch that is or was ready may leave its step. It must stay ready without a break for `soak.step` of the policy;
 * then the analyses of the step must succeed.
 *
 * @param state its present step decides
 */
export function soakOf(view: RolloutView, state: RolloutState): Soak {
  const release = releaseOf(view)
  const step = state.canary.currentStepIndex
  const { readyBatch, readySince, message } = summarizeBatchRelease(view)
  const soakSeconds = policyTerms(view).stepSoakSeconds ?? 0
  const readyMs = parseTime(readySince)
  if (release === undefined || readyBatch !== step - 1 || readySince === null || readyMs === null) {
    const again = soakSeconds > 0 ? '; its soak starts again when it is' : ''
    return waiting('BatchNotReady', `is not ready any more: ${message ?? 'not known'}${again}`)
  }
  const endMs = readyMs + soakSeconds * 1000
  if (soakSeconds > 0 && endMs > view.nowMs) {
    const end = timeText(endMs)
    return waiting('Soak', `is ready since ${readySince} and must stay so until ${end}`, {
      since: readySince,
      recheckAfterMs: endMs - view.nowMs,
    })
  }
  const analyses = presentAnalyses(view, release, state)
  return analyses.kind === 'done'
    ? analyses
    : waiting('Analysis', `is ready since ${readySince}; ${analyses.message}`, { since: readySince })
}

/**
 * Analyses of a step that began, or began again, while it paused or after its approval: the policy was changed, or a retry restarted them.
 *
 * @returns null where all have succeeded
 */
export function analysesLeft(view: RolloutView, state: RolloutState): Extract<Soak, { readonly kind: 'waiting' }> | null {
  const release = releaseOf(view)
  if (release === undefined || view.fleet.desired === 0) return null
  const analyses = presentAnalyses(view, release, state)
  return analyses.kind === 'done' ? null : waiting('Analysis', analyses.message)
}

/** By the policy and the retry in force now, which the BatchRelease may not have yet: runs of others do not count. */
function presentAnalyses(view: RolloutView, release: BatchRelease, { canary, acceptedActions: { retry } }: RolloutState): StepAnalyses {
  const { analysis: _before, retry: _last, ...others } = release.spec.tranche ?? {}
  const { analysis } = isReturn(canary) ? {} : policyTerms(view)
  const tranche = { ...others, ...(analysis !== undefined && { analysis }), ...(retry !== undefined && { retry }) }
  return stepAnalyses({ ...release, spec: { ...release.spec, tranche } }, canary.currentStepIndex)
}

function releaseOf(view: RolloutView): BatchRelease | undefined {
  return isForeign(view) ? undefined : view.release
}

function waiting(
  reason: string,
  message: string,
  { since, recheckAfterMs = null }: { readonly since?: string; readonly recheckAfterMs?: number | null } = {},
): Extract<Soak, { readonly kind: 'waiting' }> {
  return { kind: 'waiting', waitingFor: { reason, message, nodes: [], ...(since !== undefined && { since }) }, recheckAfterMs }
}
