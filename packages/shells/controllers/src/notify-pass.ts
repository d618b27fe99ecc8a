import type { Notification } from '@tranche/api-schema'
import type { Clock } from '@tranche/clock'
import type { PatchOperation } from '@tranche/flight'
import { keyText, type ObjectKey } from '@tranche/kube-types'
import type { Logger } from '@tranche/log'
import { type NotifyPlan, planNotify, postponePatch, removalPatch } from '@tranche/planner'
import { awaitChange, type Outcome, type Reconcile, recheckAfter } from '@tranche/reconcile'
import type { NotifyPort, NotifyReading, NotifyResult } from './notify-port.ts'

/** What the pass over receivers is made of. */
export interface NotifyParts {
  readonly cluster: NotifyPort
  readonly clock: Clock
}

/** @returns the key of one receiver of one Rollout: each has passes of its own, so that one that is down holds nobody up */
export function receiverKey({ namespace, name }: ObjectKey, receiver: string): ObjectKey {
  return { namespace, name: `${name}/${receiver}` }
}

/**
 * Tells one receiver of one Rollout its oldest message, then writes what came of it. Whoever dies in between tells it again,
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
    // What was told need not be told again because the API server is away.
    unwritten.set(keyText(key), { id: notification.id, result })
    const outcome = await writeResult(result, notification, patching)
    unwritten.delete(keyText(key))
    return outcome
  }
}

/** What came of the last telling, until it is written. Saves messages, and guards nothing (G7). */
interface Unwritten {
  readonly id: string
  readonly result: NotifyResult
}

function forget(unwritten: Map<string, Unwritten>, key: ObjectKey): Outcome {
  unwritten.delete(keyText(key))
  return awaitChange
}

/** @see receiverKey; no name of a Rollout has a slash in it */
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

/** Others may have written while the receiver was told, so it is looked up anew. */
function writeResult(result: NotifyResult, { id }: Notification, patching: Patching): Promise<Outcome> {
  const { cluster, reading, clock } = patching
  const { name, namespace = '' } = reading.rollout.metadata
  const rollout = cluster.read({ namespace, name })?.rollout ?? reading.rollout
  const patch = result.kind === 'taken' ? removalPatch(rollout, id) : postponePatch(rollout, id, result, clock.nowMs())
  return write(patch, { ...patching, reading: { ...reading, rollout } })
}

async function write(patch: readonly PatchOperation[] | null, { cluster, reading, signal }: Patching): Promise<Outcome> {
  if (patch !== null) await cluster.patchStatus(reading.rollout, patch, signal)
  return recheckAfter(0)
}
