import { sizeLimits, type Waiting } from '@tranche/api-schema'
import { clipText, timeText } from '@tranche/kube-types'
import { rejectedText } from '../rejected-text.ts'
import type { BatchReleasePlan, DaemonSetPatchReason, RejectablePatch } from './view/batch-release-plan.ts'
import type { ReleaseView } from './view/release-view.ts'

/** By reason of the patch. */
const whats: Readonly<Record<RejectablePatch, string>> = {
  takeOver: 'sets updateStrategy.type to OnDelete for the release',
  reassert: 'sets updateStrategy.type to OnDelete again',
  publish: 'opens the batch',
  resume: 'publishes the end of the pause',
  restore: 'restores the update strategy',
  release: 'gives it back',
}

/** Before a patch that the API server rejected is tried again, the status says so, and nothing else. */
export function sayRejectedPatch(view: ReleaseView, plan: BatchReleasePlan): BatchReleasePlan {
  const waiting = plan.kind === 'patchDaemonSet' ? rejectedWait(view, plan.why) : null
  const stored = view.release.status?.waiting
  const isSaid = waiting === null || (stored?.reason === waiting.reason && stored.message === waiting.message)
  return isSaid ? plan : { kind: 'writeStatus', status: { waiting } }
}

/** Null where the API server did not reject this patch. */
function rejectedWait({ rejected, release, nowMs }: ReleaseView, why: DaemonSetPatchReason): Waiting | null {
  if (rejected?.why !== why) return null
  const { status } = release
  const text = rejectedText(`the patch of the DaemonSet that ${whats[rejected.why]}`, rejected.message, 'change the rule that rejects it')
  const since = status?.waiting?.reason === 'ChangeRejected' ? status.waiting.since : timeText(nowMs)
  return { reason: 'ChangeRejected', message: clipText(text, sizeLimits.message), nodes: [], since }
}
