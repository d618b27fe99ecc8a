import { type ConfigObject, garbageOf, OFFERED_CONFIG_ANNOTATION, type PinPlan, planPins, type PinView } from '@tranche/config'
import { isAppError } from '@tranche/errors'
import { type DaemonSet, keyOf, keyText } from '@tranche/kube-types'
import { arePinsUndone, type PinLeave, type RolloutView, takeOverForPins } from '@tranche/planner'
import type { Logger } from '@tranche/telemetry'
import type { PinPort } from './pin-port.ts'

/** What a pass did for the config of its DaemonSet. */
export type PinResult =
  /** It wrote something, or lost a race: the template may change next, so no release may begin before it is read again. */
  | { readonly kind: 'wrote' }
  /** Config cannot be pinned: the release holds. */
  | { readonly kind: 'held'; readonly why: string }
  /** The template names copies of all its config, or a rollback took them away, or there is no release to pin it for. */
  | { readonly kind: 'pinned'; readonly rolledBack: readonly ConfigObject[] }

/** Pins config for the Rollouts of a process. */
export interface Pinner {
  /**
   * Makes at most one write for the config of the DaemonSet, for a policy that asks for it. A write that fails holds the release, and a stop
   * never waits. Without a change since the last call, it sends no request.
   *
   * @returns also the milliseconds after which it should be called again without a change; undefined: never
   * @throws the signal's reason once it aborts, and nothing else
   */
  pin(view: RolloutView, signal: AbortSignal, log: Logger): Promise<PinResult & { readonly recheckAfterMs?: number | undefined }>
  /** Forgets a Rollout that is gone. */
  forget(rollout: string): void
}

/** Interval (ms) of attempts that nothing else causes: while objects cannot be watched, copied or deleted. */
const PIN_RECHECK_MS = 30_000

/** Result of the last call for a Rollout. */
interface Known {
  /** What the result rests on. */
  readonly basis: string
  readonly generation: number | undefined
  readonly result: Exclude<PinResult, { readonly kind: 'wrote' }>
  /** Monotonic time after which it counts no longer; null: never. */
  readonly untilMs: number | null
}

/** @param port undefined where the installation does not allow it */
export function createPinner(port: PinPort | undefined): Pinner {
  const known = new Map<string, Known>()
  return {
    async pin(view, signal, log) {
      const leave = takeOverForPins(view)
      const { rollout, daemonSet, monotonicMs } = view
      if (leave.kind === 'none' || daemonSet === undefined) return { kind: 'pinned', rolledBack: [] }
      if (port === undefined) return { kind: 'held', why: NOT_ALLOWED }
      const key = keyText(keyOf(rollout))
      const versions = port.versions(daemonSet)
      const basis = basisOf(view, daemonSet, [versions, leave.kind])
      const last = known.get(key)
      if (last?.basis === basis && (last.untilMs === null || last.untilMs > monotonicMs))
        return { ...last.result, recheckAfterMs: last.untilMs === null ? undefined : last.untilMs - monotonicMs }
      const { generation } = daemonSet.metadata
      const isPinned = last?.generation === generation && last?.result.kind === 'pinned'
      const result = await attempt(port, { view, daemonSet, leave, isPinned }, signal, log)
      if (result.kind === 'wrote') return result
      const isSettled = result.kind === 'pinned' && result.isSettled && versions !== null
      known.set(key, { basis, generation, result, untilMs: isSettled ? null : monotonicMs + PIN_RECHECK_MS })
      return { ...result, recheckAfterMs: isSettled ? undefined : PIN_RECHECK_MS }
    },
    forget: (rollout) => void known.delete(rollout),
  }
}

const NOT_ALLOWED =
  'config: Pin: this installation does not allow it; start the controller with --pin-config (rbac.configPin of the chart), or remove config from the ReleasePolicy'

/** Everything that a decision rests on, but for the content of the objects, which `versions` stands for. */
function basisOf({ revisions, release, rollout }: RolloutView, { metadata, status }: DaemonSet, more: readonly (string | null)[]): string {
  const { uid, generation, annotations } = metadata
  const kept = release?.status?.stableTemplate?.revision
  const names = revisions.map((one) => one.metadata.name)
  const held = rollout.status?.heldRevisions?.map(({ digest }) => digest)
  return JSON.stringify([uid, generation, status?.observedGeneration, annotations?.[OFFERED_CONFIG_ANNOTATION], kept, names, held, more])
}

interface Attempt {
  readonly view: RolloutView
  readonly daemonSet: DaemonSet
  readonly leave: PinLeave
  /** Whether this template was found pinned before. */
  readonly isPinned: boolean
}

type Attempted = Exclude<PinResult, { readonly kind: 'pinned' }> | (PinResult & { readonly kind: 'pinned'; readonly isSettled: boolean })

async function attempt(port: PinPort, on: Attempt, signal: AbortSignal, log: Logger): Promise<Attempted> {
  const rollout = keyText(keyOf(on.view.rollout))
  let isRead = false
  try {
    const found = await port.read(on.daemonSet, signal)
    isRead = true
    return await writeOnce(port, { ...on, found }, signal, log)
  } catch (error) {
    signal.throwIfAborted()
    if (isAppError(error) && error.code === 'WRITE_CONFLICT') return { kind: 'wrote' }
    log.warn({ err: error, rollout }, 'could not pin config')
    // Its copies are immutable, so a release of this template continues.
    if (!isRead && on.isPinned) return { kind: 'pinned', rolledBack: [], isSettled: false }
    return { kind: 'held', why: `config: Pin: ${error instanceof Error ? error.message : String(error)}; it is tried again` }
  }
}

interface Found extends Attempt {
  readonly found: Omit<PinView, 'revisions' | 'pods'>
}

async function writeOnce(
  port: PinPort,
  { view: of, daemonSet, leave, found }: Found,
  signal: AbortSignal,
  log: Logger,
): Promise<Attempted> {
  const kept = of.release?.status?.stableTemplate?.template
  const view: PinView = { ...found, revisions: [...of.revisions.map(templateIn), kept], pods: [] }
  const plan = planPins(view)
  if (plan.kind === 'none') return { kind: 'pinned', rolledBack: plan.rolledBack, isSettled: true }
  if (plan.kind === 'wait') return { kind: 'held', why: `config: Pin: ${plan.message}` }
  if (plan.kind === 'pin' && plan.pins !== null && arePinsUndone(of, plan.pins)) return { kind: 'pinned', rolledBack: [], isSettled: true }
  if (plan.kind === 'pin' && plan.pins !== null && leave.kind !== 'now') return { kind: 'held', why: NOT_NOW }
  const operations = leave.kind === 'now' && plan.kind === 'pin' && plan.pins !== null ? leave.operations : []
  const hasWritten = await carryOut(port, daemonSet, { plan, view, operations, release: of.rollout.metadata.name }, signal)
  if (!hasWritten) return { kind: 'pinned', rolledBack: [], isSettled: false }
  log.info({ daemonSet: keyText(keyOf(daemonSet)), plan: plan.kind }, 'pinned config')
  return { kind: 'wrote' }
}

const NOT_NOW = 'config: Pin: the update strategy has to be OnDelete, and no node may have two pods, before the template changes'

interface Planned {
  readonly plan: Exclude<PinPlan, { readonly kind: 'none' | 'wait' }>
  readonly view: PinView
  readonly operations: Parameters<PinPort['pin']>[1]['operations']
  readonly release: string
}

/** @returns false if copies that should be deleted are in use after all */
async function carryOut(port: PinPort, daemonSet: DaemonSet, planned: Planned, signal: AbortSignal): Promise<boolean> {
  const { plan, view, operations, release } = planned
  switch (plan.kind) {
    case 'createCopy':
      await port.createCopy(plan.copy, signal)
      return true
    case 'keepCopy':
      await port.mark(daemonSet, plan.copy, false, signal)
      return true
    case 'markUnused':
      for (const copy of plan.copies) await port.mark(daemonSet, copy, true, signal)
      return true
    case 'pin':
      await port.pin(daemonSet, { ...plan, operations }, signal)
      return true
    case 'deleteCopies': {
      const live = { ...view, ...(await port.touch(daemonSet, release, signal)) }
      const marked = new Set(plan.copies.map(({ name }) => name))
      const doomed = garbageOf(live).filter(({ name }) => marked.has(name))
      for (const copy of doomed) await port.deleteCopy(daemonSet, copy, signal)
      return doomed.length > 0
    }
    default:
      plan satisfies never
      return false
  }
}

function templateIn({ data }: RolloutView['revisions'][number]): unknown {
  return (data as { readonly spec?: { readonly template?: unknown } } | undefined)?.spec?.template
}
