import {
  type ConfigCopy,
  type ConfigHoldReason,
  type ExistingCopy,
  isPinned,
  kindOfPin,
  parsePins,
  type PinPlan,
  pinsOf,
  planPins,
  type PinsInPlace,
  type PinView,
  SALT_ANNOTATION,
  SOURCE_ANNOTATION,
} from '@tranche/config'
import { isAppError } from '@tranche/errors'
import { type DaemonSet, keyOf, keyText } from '@tranche/kube-types'
import { arePinsUndone, type PinTiming, plainTemplate, type RolloutView } from '@tranche/planner'
import type { Logger } from '@tranche/telemetry'
import { collectCopies } from './collect-copies.ts'
import type { PinPort } from './pin-port.ts'
import type { PinResult } from './pin-result.ts'

/** Delay (ms) after a lost race: an old watch of a DaemonSet that is gone would repeat it without end. */
const LOST_RECHECK_MS = 200

/** Number of races that may be lost in a row. More are no races: the API server answers a write that it can never accept in the same way. */
const MOST_LOST = 10

/** Number of changes that config may make to a template in a row. */
export const MOST_CHANGES = 3

/** Interval (ms) of further changes: a release that begins again ten times a second updates no node. */
export const CHANGES_APART_MS = 30_000

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
  /** Learns which names of copies belong to objects with other content, before anything is written. */
  readonly onForged: (forged: PinView['forged']) => void
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
 * Reads config, creates the copies that are missing, and makes at most one other write.
 *
 * @returns also where a request fails or the signal aborts; never throws
 */
export async function attemptPins(port: PinPort, on: Attempt, signal: AbortSignal, log: Logger): Promise<Attempted> {
  const rollout = keyText(keyOf(on.view.rollout))
  let view: PinView | undefined
  try {
    const revisions = templatesOf(on.view)
    view = { ...(await orAborted(port.read(on.daemonSet, revisions, signal), signal)), revisions, pods: [] }
    on.onForged(view.forged)
    return await orAborted(writeOnce(port, { ...on, found: view }, signal, log), signal)
  } catch (error) {
    if (isAppError(error) && error.code === 'WRITE_CONFLICT' && on.lost < MOST_LOST)
      return { kind: 'wrote', againInMs: LOST_RECHECK_MS, isLost: true }
    log.warn({ err: error, rollout }, 'could not pin config')
    // Its copies are immutable, so a release of this template continues.
    const cause = error instanceof CopyFailed ? error.cause : error
    const continues = view === undefined ? on.wasPinned : isPinned(view) && isTransient(cause)
    if (continues) return { kind: 'pinned', rolledBack: [], isSettled: false }
    if (error instanceof CopyFailed) return heldFor('CopyFailed', `${error.message}; it is tried again`)
    return heldFor(view === undefined ? 'ConfigUnread' : 'PinFailed', `${messageOf(error)}; it is tried again`)
  }
}

function heldFor(reason: ConfigHoldReason, why: string): Attempted & { readonly kind: 'held' } {
  return { kind: 'held', reason, why: `config: Pin: ${why}` }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** A copy cannot be created; its cause says why, and the fix. */
class CopyFailed extends Error {
  constructor({ kind, metadata }: ConfigCopy, cause: unknown) {
    super(`the copy ${metadata.name} of ${kind} ${metadata.annotations[SOURCE_ANNOTATION] ?? ''} cannot be created: ${messageOf(cause)}`, {
      cause,
    })
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

/** Templates to which the DaemonSet may return. */
function templatesOf({ release, revisions }: RolloutView): readonly unknown[] {
  return [...revisions.map(plainTemplate), release?.status?.stableTemplate?.template]
}

interface Found extends Attempt {
  readonly found: PinView
}

/**
 * Copies are created and named by the same reading. Otherwise config that changes faster than two attempts would be copied without end, and
 * never be named.
 */
async function writeOnce(port: PinPort, on: Found, signal: AbortSignal, log: Logger): Promise<Attempted> {
  let view = on.found
  let plan = planPins(view)
  for (; plan.kind === 'createCopy'; plan = planPins(view)) {
    const waiting = isNamed(view, plan.copy) ? null : whileWaiting(on, log)
    if (waiting !== null) return waiting
    await createCopy(port, plan.copy, signal)
    view = { ...view, copies: [...view.copies, existingCopy(plan.copy)] }
  }
  if (plan.kind !== 'pin' && view !== on.found) return { kind: 'wrote', againInMs: 0 }
  return carryOut(port, { ...on, found: view, plan }, signal, log)
}

async function createCopy(port: PinPort, copy: ConfigCopy, signal: AbortSignal): Promise<void> {
  try {
    await port.createCopy(copy, signal)
  } catch (error) {
    signal.throwIfAborted()
    throw isAppError(error) && error.code === 'WRITE_CONFLICT' ? error : new CopyFailed(copy, error)
  }
}

/** Whether the template or the last offer names the copy, which is gone then. */
function isNamed({ template, offered }: PinView, { kind, metadata }: ConfigCopy): boolean {
  const named = [pinsOf(template), parsePins(offered)].flatMap((pins) => [...pins])
  return named.some(([key, name]) => kindOfPin(key) === kind && name === metadata.name)
}

/** A copy as the next reading shows it, but for its version: before a template names it, it is read. */
function existingCopy({ kind, metadata: { name, annotations } }: ConfigCopy): ExistingCopy {
  const { [SOURCE_ANNOTATION]: source = '', [SALT_ANNOTATION]: salt } = annotations
  return { kind, name, uid: '', resourceVersion: '', source, salt, isUnused: false }
}

/** @returns the result while config may not change the template; null where it may */
function whileWaiting({ daemonSet, timing, found: view, waitMs }: Found, log: Logger): Attempted | null {
  if (waitMs > 0) {
    log.warn({ daemonSet: keyText(keyOf(daemonSet)), recheckAfterMs: waitMs }, 'delayed pinning of config')
    return isPinned(view)
      ? { kind: 'pinned', rolledBack: [], isSettled: false, waitMs }
      : { ...heldFor('TooManyChanges', TOO_OFTEN), waitMs }
  }
  if (timing.kind === 'now') return null
  if (isPinned(view)) return { kind: 'pinned', rolledBack: [], isSettled: false }
  return timing.kind === 'later' && timing.until === 'rollback'
    ? heldFor('RollbackInProgress', rollbackText(view))
    : heldFor('StrategyNotOnDelete', NOT_NOW)
}

const TOO_OFTEN = `config has changed the template ${MOST_CHANGES} times in a row; the next change follows within ${CHANGES_APART_MS / 1_000} seconds, without an action of a user`

const NOT_NOW =
  'the template may change only under the update strategy OnDelete, and while no node has two pods: set updateStrategy.type to OnDelete'

/** Copies that the template names and that are gone come back only with the content that they had. */
function rollbackText(view: PinView): string {
  const gone = [...pinsOf(view.template)].filter(
    ([key, name]) => !view.copies.some((copy) => copy.kind === kindOfPin(key) && copy.name === name),
  )
  const text = 'the template keeps its config as it is until the rollback is over'
  if (gone.length === 0) return text
  const names = gone.map(([key, name]) => `${kindOfPin(key)} ${name}`).join(', ')
  return `${text}; pods cannot start with copies that are gone: ${names}. Create them again from a backup, or apply another template`
}

interface Planned extends Found {
  readonly plan: Exclude<PinPlan, { readonly kind: 'createCopy' }>
}

async function carryOut(port: PinPort, on: Planned, signal: AbortSignal, log: Logger): Promise<Attempted> {
  const { plan, daemonSet, found: view } = on
  switch (plan.kind) {
    case 'none':
      return { kind: 'pinned', ...inPlace(plan), isSettled: true }
    case 'wait':
      return heldFor(plan.reason, plan.message)
    case 'collect':
      return collect(port, { ...on, plan }, signal, log)
    case 'keepCopy':
      await port.mark(daemonSet, plan.copy, false, signal)
      break
    case 'pin': {
      if (plan.pins !== null && arePinsUndone(on.view, plan.pins)) return { kind: 'pinned', rolledBack: [], isSettled: true }
      const waiting = plan.pins === null ? null : whileWaiting(on, log)
      if (waiting !== null) return waiting
      const operations = on.timing.kind === 'now' && plan.pins !== null ? on.timing.operations : []
      await port.pin(daemonSet, { ...plan, operations, sources: view.sources }, signal)
      break
    }
    default:
      return plan satisfies never
  }
  log.info({ daemonSet: keyText(keyOf(daemonSet)), plan: plan.kind }, 'wrote pinned config')
  return { kind: 'wrote', againInMs: 0, hasPinned: plan.kind === 'pin' && plan.pins !== null }
}

function inPlace({ rolledBack, absent }: PinsInPlace): PinsInPlace {
  return { rolledBack, ...(absent !== undefined && { absent }) }
}

interface Collecting extends Found {
  readonly plan: Extract<PinPlan, { readonly kind: 'collect' }>
}

async function collect(port: PinPort, on: Collecting, signal: AbortSignal, log: Logger): Promise<Attempted> {
  const { plan, daemonSet, found: view } = on
  const pinned = { kind: 'pinned', ...inPlace(plan), isSettled: false } as const
  if (!on.mayCollect) return pinned
  const work = { daemonSet, view, collection: plan.collection, release: on.view.rollout.metadata.name }
  const hasWritten = await collectCopies(port, work, signal, log)
  return hasWritten ? { kind: 'wrote', againInMs: 0, hasCollected: true } : { ...pinned, hasCollected: true }
}
