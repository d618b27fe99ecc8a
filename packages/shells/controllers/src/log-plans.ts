import type { BatchRelease, FlightRecord, Rollout, RolloutStatus } from '@tranche/api-schema'
import { keyText } from '@tranche/kube-types'
import type { LogFields, Logger } from '@tranche/telemetry'
import { newAnswer, rolloutEvents, type RolloutPlan } from '@tranche/planner'

/**
 * Logs a write of the Rollout reconciler that changed the release, after the write. A Warning event of the Rollout is a line at `warn`.
 *
 * A status that changed only in its texts or counts is logged at `debug`.
 */
export function logRolloutPlan(plan: RolloutPlan, rollout: Rollout, log: Logger): void {
  const { namespace = '', name } = rollout.metadata
  const fields = { rollout: keyText({ namespace, name }), daemonSet: keyText({ namespace, name: rollout.spec.workloadRef.name }) }
  switch (plan.kind) {
    case 'patchDaemonSet':
      return log.info({ ...fields, reason: plan.why }, 'patched DaemonSet')
    case 'createRelease':
      return log.info({ ...fields, ...revisionOf(rollout.status) }, 'created BatchRelease')
    case 'deleteRelease':
      return log.info(fields, 'deleted BatchRelease')
    case 'writeStatus':
      return logStatus(plan, rollout.status, log.child(fields))
    case 'updateRelease':
      return log.debug(fields, 'updated BatchRelease')
    case 'setFinalizer':
    case 'setAnnotations':
    case 'wait':
      return
    default:
      plan satisfies never
  }
}

/** Logs the controller's write of a permit record: what it allows from now on. */
export function logRecord(release: BatchRelease, record: FlightRecord, reason: string, log: Logger): void {
  const { state, size, limit, revision, permits } = record
  log.info({ ...fieldsOf(release), revision, state, size, limit, pods: permits.length, reason }, 'wrote permit record')
}

/** @returns the log fields that identify a release */
export function fieldsOf({ metadata, spec, status }: BatchRelease): LogFields {
  const { namespace = '', name } = metadata
  const step = status?.canaryStatus === undefined ? {} : { step: status.canaryStatus.currentBatch + 1 }
  return { batchRelease: keyText({ namespace, name }), daemonSet: keyText({ namespace, name: spec.workloadRef?.name ?? name }), ...step }
}

function logStatus(
  { status, warning }: Extract<RolloutPlan, { kind: 'writeStatus' }>,
  before: RolloutStatus | undefined,
  log: Logger,
): void {
  const fields = { phase: status.phase, ...revisionOf(status), ...stepOf(status) }
  logAnswer(before, status, log)
  const events = rolloutEvents(before, status, warning).filter(({ reason }) => !answers.has(reason) || warning !== null)
  for (const { type, reason, message } of events)
    log[type === 'Warning' ? 'warn' : 'info']({ ...fields, reason, why: message }, 'changed release')
  if (events.length > 0) return
  log[stateOf(before) === stateOf(status) ? 'debug' : 'info'](fields, 'wrote status of Rollout')
}

/** Event reasons that `logAnswer` logs. */
const answers: ReadonlySet<string> = new Set(['ActionAccepted', 'ActionRejected'])

/** Logs which user acted, and the result. */
function logAnswer(before: RolloutStatus | undefined, status: RolloutStatus, log: Logger): void {
  const answer = newAnswer(before, status)
  if (answer === null) return
  const { id, type, result, by, reason } = answer
  const fields = { ...revisionOf(status), ...stepOf(before ?? status), action: type, actionId: id, actor: by, why: reason }
  if (result === 'Accepted') log.info(fields, 'accepted action')
  else log.warn(fields, 'rejected action')
}

function revisionOf(status: RolloutStatus | undefined): { readonly revision?: string } {
  const revision = status?.canaryStatus?.canaryRevision
  return revision === undefined || revision === '' ? {} : { revision }
}

function stepOf(status: RolloutStatus): LogFields {
  const { currentStepIndex: step, currentStepState: stepState } = status.canaryStatus ?? {}
  const fields = { step, stepState }
  return step === undefined ? {} : fields
}

/** Relevant state of a status for the log; two statuses with the same state differ only in texts and counts. */
function stateOf(status: RolloutStatus | undefined): string {
  return JSON.stringify([status?.phase, status === undefined ? {} : stepOf(status), revisionOf(status)])
}
