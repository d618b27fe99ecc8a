import { type ConfigCopy, type ExistingCopy, type PinPlan, planPins, type PinView } from '@tranche/config'
import { type DaemonSet, keyOf, keyText } from '@tranche/kube-types'
import { isAppError } from '@tranche/errors'
import type { Logger } from '@tranche/telemetry'
import type { RolloutReading } from './rollout-port.ts'

/** Annotations that a pin writes: in the template, where it changes, and on the DaemonSet. */
export type PinWrite = Extract<PinPlan, { readonly kind: 'pin' }>

/** Cluster access for copies of config. Writes throw WRITE_CONFLICT if another write came first. */
export interface PinPort {
  /** Reads the objects that the template names, and the copies of the DaemonSet, from the API server. */
  read(daemonSet: DaemonSet, signal: AbortSignal): Promise<Omit<PinView, 'revisions' | 'pods'>>
  /** Does nothing if an object of this name exists. */
  createCopy(copy: ConfigCopy, signal: AbortSignal): Promise<void>
  /** Sets or removes the mark of an unused copy, with the resourceVersion that was read. */
  mark(daemonSet: DaemonSet, copy: ExistingCopy, isUnused: boolean, signal: AbortSignal): Promise<void>
  /** Reads the copies that the template will name: each must exist without a mark. Then patches the DaemonSet that was read. */
  pin(daemonSet: DaemonSet, write: PinWrite, signal: AbortSignal): Promise<void>
  /** Touches the DaemonSet that was read, then reads live what names copies. */
  touch(daemonSet: DaemonSet, signal: AbortSignal): Promise<Pick<PinView, 'template' | 'offered' | 'revisions' | 'pods' | 'isObserved'>>
  /** Deletes a copy with the uid and resourceVersion that were read. */
  deleteCopy(daemonSet: DaemonSet, copy: ExistingCopy, signal: AbortSignal): Promise<void>
}

/** Parts of {@link pinConfig}. */
export interface PinParts {
  readonly port: PinPort
  /** Copies of a view that nothing names. @see garbageOf */
  readonly garbageOf: (view: PinView) => readonly ExistingCopy[]
}

/**
 * Makes one write for the config of the DaemonSet. A write that fails does not keep the Rollout from being handled: a stop never waits.
 *
 * @returns whether it wrote something, or lost a race: the template may change next, so no release may begin before it is read again
 * @throws the signal's reason once it aborts, and nothing else
 */
export async function pinConfig(parts: PinParts, reading: RolloutReading, signal: AbortSignal, log: Logger): Promise<boolean> {
  try {
    return await writeOnce(parts, reading, signal, log)
  } catch (error) {
    signal.throwIfAborted()
    if (isAppError(error) && error.code === 'WRITE_CONFLICT') return true
    log.warn({ err: error, rollout: keyText(keyOf(reading.rollout)) }, 'could not pin config')
    return false
  }
}

async function writeOnce(
  { port, garbageOf }: PinParts,
  { daemonSet, revisions, rollout }: RolloutReading,
  signal: AbortSignal,
  log: Logger,
): Promise<boolean> {
  if (daemonSet === undefined || rollout.spec.disabled === true || rollout.metadata.deletionTimestamp !== undefined) return false
  const view: PinView = { ...(await port.read(daemonSet, signal)), revisions: revisions.map(templateIn), pods: [] }
  const plan = planPins(view)
  const fields = { daemonSet: keyText(keyOf(daemonSet)), plan: plan.kind }
  switch (plan.kind) {
    case 'none':
      return false
    case 'wait':
      log.warn({ ...fields, reason: plan.reason, why: plan.message }, 'could not pin config')
      return false
    case 'createCopy':
      await port.createCopy(plan.copy, signal)
      break
    case 'keepCopy':
      await port.mark(daemonSet, plan.copy, false, signal)
      break
    case 'markUnused':
      for (const copy of plan.copies) await port.mark(daemonSet, copy, true, signal)
      break
    case 'pin':
      await port.pin(daemonSet, plan, signal)
      break
    case 'deleteCopies': {
      const live = { ...view, ...(await port.touch(daemonSet, signal)) }
      for (const copy of garbageOf(live)) if (copy.isUnused) await port.deleteCopy(daemonSet, copy, signal)
      break
    }
    default:
      plan satisfies never
  }
  log.info(fields, 'pinned config')
  return true
}

function templateIn({ data }: RolloutReading['revisions'][number]): unknown {
  return (data as { readonly spec?: { readonly template?: unknown } } | undefined)?.spec?.template
}
