import { type ConfigCopy, type ExistingCopy, garbageOf, type PinPlan, planPins, type PinView } from '@tranche/config'
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

/** What a pass did for the config of its DaemonSet. */
export type PinResult =
  /** It wrote something, or lost a race: the template may change next, so no release may begin before it is read again. */
  | { readonly kind: 'wrote' }
  /** Config cannot be pinned: the release holds. */
  | { readonly kind: 'held'; readonly why: string }
  /** The template names copies of all its config, or there is no release to pin it for. */
  | { readonly kind: 'pinned' }

/** How often (ms) the objects that a template names are read for a new content. */
export const PIN_RECHECK_MS = 30_000

/**
 * Makes one write for the config of the DaemonSet, for a policy that asks for it. A write that fails holds the release, and a stop never
 * waits.
 *
 * @param port undefined where the installation does not allow it
 * @throws the signal's reason once it aborts, and nothing else
 */
export async function pinConfig(port: PinPort | undefined, reading: RolloutReading, signal: AbortSignal, log: Logger): Promise<PinResult> {
  const { rollout, daemonSet } = reading
  const isOver = rollout.spec.disabled === true || rollout.metadata.deletionTimestamp !== undefined
  if (isOver || daemonSet === undefined) return { kind: 'pinned' }
  if (port === undefined) return { kind: 'held', why: NOT_ALLOWED }
  try {
    return await writeOnce(port, { ...reading, daemonSet }, signal, log)
  } catch (error) {
    signal.throwIfAborted()
    if (isAppError(error) && error.code === 'WRITE_CONFLICT') return { kind: 'wrote' }
    log.warn({ err: error, rollout: keyText(keyOf(rollout)) }, 'could not pin config')
    return { kind: 'held', why: `config: Pin: ${error instanceof Error ? error.message : String(error)}; it is tried again` }
  }
}

const NOT_ALLOWED =
  'config: Pin: this installation does not allow it; start the controller with --pin-config, or remove config from the ReleasePolicy'

async function writeOnce(
  port: PinPort,
  { daemonSet, revisions }: RolloutReading & { readonly daemonSet: DaemonSet },
  signal: AbortSignal,
  log: Logger,
): Promise<PinResult> {
  const view: PinView = { ...(await port.read(daemonSet, signal)), revisions: revisions.map(templateIn), pods: [] }
  const plan = planPins(view)
  if (plan.kind === 'none') return { kind: 'pinned' }
  if (plan.kind === 'wait') return { kind: 'held', why: `config: Pin: ${plan.message}` }
  await carryOut(port, daemonSet, { plan, view }, signal)
  log.info({ daemonSet: keyText(keyOf(daemonSet)), plan: plan.kind }, 'pinned config')
  return { kind: 'wrote' }
}

interface Planned {
  readonly plan: Exclude<PinPlan, { readonly kind: 'none' | 'wait' }>
  readonly view: PinView
}

async function carryOut(port: PinPort, daemonSet: DaemonSet, { plan, view }: Planned, signal: AbortSignal): Promise<void> {
  switch (plan.kind) {
    case 'createCopy':
      return port.createCopy(plan.copy, signal)
    case 'keepCopy':
      return port.mark(daemonSet, plan.copy, false, signal)
    case 'markUnused':
      for (const copy of plan.copies) await port.mark(daemonSet, copy, true, signal)
      return
    case 'pin':
      return port.pin(daemonSet, plan, signal)
    case 'deleteCopies': {
      const live = { ...view, ...(await port.touch(daemonSet, signal)) }
      const marked = new Set(plan.copies.map(({ name }) => name))
      for (const copy of garbageOf(live)) if (marked.has(copy.name)) await port.deleteCopy(daemonSet, copy, signal)
      return
    }
    default:
      plan satisfies never
  }
}

function templateIn({ data }: RolloutReading['revisions'][number]): unknown {
  return (data as { readonly spec?: { readonly template?: unknown } } | undefined)?.spec?.template
}
