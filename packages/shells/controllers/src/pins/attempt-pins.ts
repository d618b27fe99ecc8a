import { isPinned, type PinPlan, planPins, type PinView } from '@tranche/config'
import { isAppError } from '@tranche/errors'
import { type DaemonSet, keyOf, keyText } from '@tranche/kube-types'
import { arePinsUndone, type PinTiming, plainTemplate, type RolloutView } from '@tranche/planner'
import type { Logger } from '@tranche/telemetry'
import { collectCopies } from './collect-copies.ts'
import { BURST, INTERVAL_MS } from './pin-pace.ts'
import type { PinPort } from './pin-port.ts'
import type { PinResult } from './pin-result.ts'

/** Delay (ms) after a lost race: an old watch of a DaemonSet that is gone would repeat it without end. */
const LOST_RECHECK_MS = 200

/** Number of races that may be lost in a row. More are no races: the API server answers a write that it can never accept in the same way. */
const MOST_LOST = 10

/** What an attempt to pin config rests on. */
export interface Attempt {
  readonly view: RolloutView
  readonly daemonSet: DaemonSet
  readonly timing: PinTiming
  /** Whether this template was found pinned before. */
  readonly wasPinned: boolean
  /** Whether copies may be collected. */
  readonly mayCollect: boolean
  /** Number of races that were lost in a row before. */
  readonly lost: number
  /** Milliseconds until config may change the template; 0: now. */
  readonly waitMs: number
}

/**
 * Result of an attempt. `isSettled`: no other attempt is needed until something changes. `isLost`: another write came first. `hasPinned`: the
 * template was changed. `hasCollected`: copies were collected, or could not be. `waitMs`: config may not change the template for so long.
 */
export type Attempted =
  | (PinResult & { readonly kind: 'wrote'; readonly isLost?: boolean; readonly hasPinned?: boolean; readonly hasCollected?: boolean })
  | (PinResult & { readonly kind: 'pinned'; readonly isSettled: boolean; readonly hasCollected?: boolean; readonly waitMs?: number })
  | (PinResult & { readonly kind: 'held'; readonly waitMs?: number })

/**
 * Reads config and makes at most one write.
 *
 * @returns also where a request fails or the signal aborts; never throws
 */
export async function attemptPins(port: PinPort, on: Attempt, signal: AbortSignal, log: Logger): Promise<Attempted> {
  const rollout = keyText(keyOf(on.view.rollout))
  let view: PinView | undefined
  try {
    view = pinViewOf(on.view, await orAborted(port.read(on.daemonSet, signal), signal))
    return await orAborted(writeOnce(port, { ...on, found: view }, signal, log), signal)
  } catch (error) {
    if (isAppError(error) && error.code === 'WRITE_CONFLICT' && on.lost < MOST_LOST)
      return { kind: 'wrote', againInMs: LOST_RECHECK_MS, isLost: true }
    log.warn({ err: error, rollout }, 'could not pin config')
    // Its copies are immutable, so a release of this template continues.
    const continues = view === undefined ? on.wasPinned : isPinned(view) && isTransient(error)
    if (continues) return { kind: 'pinned', rolledBack: [], isSettled: false }
    return { kind: 'held', why: `config: Pin: ${error instanceof Error ? error.message : String(error)}; it is tried again` }
  }
}

/** Rejects when the signal aborts, also if the work ignores that. */
async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const onAbort = (): void => reject(signal.reason as Error)
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([work, promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

/** Whether the same write may succeed later although no user changes anything. */
function isTransient(error: unknown): boolean {
  if (!isAppError(error)) return false
  if (error.code !== 'API_REFUSED') return transient.includes(error.code)
  const status = Number(error.details['status'])
  return status >= 500 || status === 429
}

const transient: readonly string[] = ['API_UNREACHABLE', 'API_DEADLINE', 'CREDENTIALS_UNAVAILABLE']

function pinViewOf({ release, revisions }: RolloutView, found: Omit<PinView, 'revisions' | 'pods'>): PinView {
  const kept = release?.status?.stableTemplate?.template
  return { ...found, revisions: [...revisions.map(plainTemplate), kept], pods: [] }
}

interface Found extends Attempt {
  readonly found: PinView
}

async function writeOnce(
  port: PinPort,
  { view: of, daemonSet, timing, found: view, mayCollect, waitMs }: Found,
  signal: AbortSignal,
  log: Logger,
): Promise<Attempted> {
  const plan = planPins(view)
  if (plan.kind === 'none') return { kind: 'pinned', rolledBack: plan.rolledBack, isSettled: true }
  if (plan.kind === 'collect') {
    const pinned = { kind: 'pinned', rolledBack: plan.rolledBack, isSettled: false } as const
    if (!mayCollect) return pinned
    const hasWritten = await collectCopies(
      port,
      { daemonSet, view, collection: plan.collection, release: of.rollout.metadata.name },
      signal,
      log,
    )
    return hasWritten ? { kind: 'wrote', againInMs: 0, hasCollected: true } : { ...pinned, hasCollected: true }
  }
  if (plan.kind === 'wait') return { kind: 'held', why: `config: Pin: ${plan.message}` }
  if (plan.kind === 'pin' && plan.pins !== null && arePinsUndone(of, plan.pins)) return { kind: 'pinned', rolledBack: [], isSettled: true }
  const changesTemplate = plan.kind === 'pin' && plan.pins !== null
  if (waitMs > 0 && (changesTemplate || plan.kind === 'createCopy')) {
    log.warn({ daemonSet: keyText(keyOf(daemonSet)), recheckAfterMs: waitMs }, 'delayed pinning of config')
    return isPinned(view) ? { kind: 'pinned', rolledBack: [], isSettled: false, waitMs } : { kind: 'held', why: TOO_OFTEN, waitMs }
  }
  if (changesTemplate && timing.kind !== 'now') {
    return isPinned(view) ? { kind: 'pinned', rolledBack: [], isSettled: false } : { kind: 'held', why: NOT_NOW }
  }
  const operations = timing.kind === 'now' && changesTemplate ? timing.operations : []
  await carryOut(port, daemonSet, { plan, view, operations }, signal)
  log.info({ daemonSet: keyText(keyOf(daemonSet)), plan: plan.kind }, 'wrote pinned config')
  return { kind: 'wrote', againInMs: 0, hasPinned: changesTemplate }
}

const TOO_OFTEN = `config: Pin: config has changed the template ${BURST} times in a row; the next change follows within ${INTERVAL_MS / 1_000} seconds, without an action of a user`

const NOT_NOW =
  'config: Pin: the template may change only under the update strategy OnDelete, and while no node has two pods: set updateStrategy.type to OnDelete'

interface Planned {
  readonly plan: Exclude<PinPlan, { readonly kind: 'none' | 'collect' | 'wait' }>
  readonly view: PinView
  readonly operations: Parameters<PinPort['pin']>[1]['operations']
}

function carryOut(port: PinPort, daemonSet: DaemonSet, { plan, view, operations }: Planned, signal: AbortSignal): Promise<void> {
  switch (plan.kind) {
    case 'createCopy':
      return port.createCopy(plan.copy, signal)
    case 'keepCopy':
      return port.mark(daemonSet, plan.copy, false, signal)
    case 'pin':
      return port.pin(daemonSet, { ...plan, operations, sources: view.sources }, signal)
    default:
      return plan satisfies never
  }
}
