import type { Notification } from '@tranche/api-schema'
import type { Clock } from '@tranche/clock'
import type { PatchOperation } from '@tranche/fence'
import { keyText, type ObjectKey } from '@tranche/kube-types'
import type { Logger } from '@tranche/telemetry'
import { type NotifyPlan, planNotify, postponePatch, removalPatch } from '@tranche/planner'
import { awaitChange, type ReconcileResult, type Reconcile, recheckAfter } from '@tranche/reconcile'
import type { NotifyPort, NotifyReading, NotifyResult } from './notify-port.ts'

/** Dependencies of {@link createNotifyPass}. */
export interface NotifyParts {
  readonly cluster: NotifyPort
  readonly clock: Clock
}

/** @returns the key of one receiver of one Rollout: each has its own passes, so an unavailable receiver delays no other */
export function receiverKey({ namespace, name }: ObjectKey, receiver: string): ObjectKey {
  return { namespace, name: `${name}/${receiver}` }
}

/**
 * Sends one receiver of one Rollout its oldest message, then writes the result. If the process dies in between, the message is sent again
 * with the same id: at least once.
 */
export function createNotifyPass(parts: NotifyParts): Reconcile {
  const unwritten = new Map<string, Unwritten>()
  return async function passOverReceiver(key, signal, log) {
    const { rollout: name, receiver } = parseReceiverKey(key)
    const reading = parts.cluster.read({ namespace: key.namespace, name })
    if (reading === null) return forget(unwritten, key)
    const plan = planNotify({ ...reading, receiver, nowMs: parts.clock.nowMs() })
    if (plan.kind === 'wait') {
      unwritten.delete(keyText(key))
      return plan.recheckAfterMs === null ? awaitChange : recheckAfter(plan.recheckAfterMs)
    }
    const { notification } = plan
    const patching = { ...parts, reading, signal, log }
    if (plan.kind === 'drop') return write(removalPatch(reading.rollout, notification.id), patching)
    const known = unwritten.get(keyText(key))
    const result = known?.id === notification.id ? known.result : await notify(plan, key, patching)
    // A sent message need not be sent again because the API server is unavailable.
    unwritten.set(keyText(key), { id: notification.id, result })
    const outcome = await writeResult(result, notification, patching)
    unwritten.delete(keyText(key))
    return outcome
  }
}

/** Result of the last send, until it is written. Saves messages; no guarantee depends on it (G7). */
interface Unwritten {
  readonly id: string
  readonly result: NotifyResult
}

function forget(unwritten: Map<string, Unwritten>, key: ObjectKey): ReconcileResult {
  unwritten.delete(keyText(key))
  return awaitChange
}

/** @see receiverKey; a Rollout's name contains no slash */
function parseReceiverKey({ name }: ObjectKey): { readonly rollout: string; readonly receiver: string } {
  const slash = name.indexOf('/')
  return { rollout: name.slice(0, slash), receiver: name.slice(slash + 1) }
}

interface Patching extends NotifyParts {
  readonly log: Logger
  readonly reading: NotifyReading
  readonly signal: AbortSignal
}

async function notify(
  { notification, receiver }: NotifyPlan & { kind: 'notify' },
  key: ObjectKey,
  patching: Patching,
): Promise<NotifyResult> {
  const { cluster, log, reading, signal } = patching
  const rollout = reading.rollout.metadata.name
  const result = await cluster.notify({ namespace: key.namespace, rollout, notification, receiver }, signal)
  const fields = { receiver: keyText(key), event: notification.event, attempt: (notification.attempts ?? 0) + 1 }
  if (result.kind === 'taken') log.info(fields, 'sent notification')
  else log.warn({ ...fields, why: result.message }, 'could not send notification')
  return result
}

/** Reads the notification again, because others may have written during the send. */
function writeResult(result: NotifyResult, { id }: Notification, patching: Patching): Promise<ReconcileResult> {
  const { cluster, reading, clock } = patching
  const { name, namespace = '' } = reading.rollout.metadata
  const rollout = cluster.read({ namespace, name })?.rollout ?? reading.rollout
  const patch = result.kind === 'taken' ? removalPatch(rollout, id) : postponePatch(rollout, id, result, clock.nowMs())
  return write(patch, { ...patching, reading: { ...reading, rollout } })
}

async function write(patch: readonly PatchOperation[] | null, { cluster, reading, signal }: Patching): Promise<ReconcileResult> {
  if (patch !== null) await cluster.patchStatus(reading.rollout, patch, signal)
  return recheckAfter(0)
}
