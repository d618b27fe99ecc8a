import { OFFERED_CONFIG_ANNOTATION, pinnedObjects } from '@tranche/config'
import type { Clock } from '@tranche/clock'
import { type DaemonSet, keyOf, keyText } from '@tranche/kube-types'
import { firstNodes, type PinTiming, type RolloutView, takeOverForPins } from '@tranche/planner'
import type { Logger } from '@tranche/telemetry'
import { type Attempt, type Attempted, attemptPins, CHANGES_APART_MS, MOST_CHANGES } from './attempt-pins.ts'
import { PinPace } from './pin-pace.ts'
import type { PinPort } from './pin-port.ts'
import type { PodPolicy } from './pod-policy.ts'
import type { PinResult, TimedPinResult } from './pin-result.ts'

/** Pins config for the Rollouts of a process. */
export interface Pinner {
  /** @returns what is known without a request; null where {@link Pinner.attempt} has to find out */
  known(view: RolloutView): TimedPinResult | null
  /** @returns the last result, whatever has changed since; null without one */
  last(rollout: string): PinResult | null
  /** @returns names of copies that belong to objects with other content, as `ConfigMap/agent-1`, by the last reading */
  forged(rollout: string): readonly string[]
  /** @returns whether the copies that the present template names were read */
  hasCompared(view: RolloutView): boolean
  /**
   * Creates copies that are missing, and makes at most one other write for the config of the DaemonSet, for a policy that asks for it. A write
   * that fails holds the release. Returns soon also where the API server does not answer, because a stop may come meanwhile.
   *
   * @throws the signal's reason once it aborts, and nothing else
   */
  attempt(view: RolloutView, signal: AbortSignal, log: Logger): Promise<TimedPinResult>
  /** Forgets a Rollout that is gone. */
  forget(rollout: string): void
}

/**
 * Interval (ms) of attempts that nothing else causes: while objects cannot be watched, copied or deleted. It is also the shortest one of collections:
 * any user who may create objects can give a pass copies to collect, and a pass that writes plans nothing else.
 */
const PIN_RECHECK_MS = 30_000
/** Time (ms) that a pass waits for an attempt. */
const PATIENCE_MS = 1_000
/** Number of attempts in a row: each reads all config of the DaemonSet, and lists what looks like a copy, which any user may create. */
const MOST_ATTEMPTS = 20
/** Interval (ms) of further attempts. */
const ATTEMPTS_APART_MS = 3_000
/** Interval (ms) of passes that look for the result of an attempt. */
const PENDING_RECHECK_MS = 1_000
/** Time (ms) without an answer after which a pass does not wait for the attempt any more, so that an abort is carried out. */
const OVERDUE_MS = 10_000
/** Time (ms) after which an attempt fails. */
const ATTEMPT_DEADLINE_MS = 60_000

/** Result of the last attempt for a Rollout. */
interface Known {
  /** What the result rests on. */
  readonly basis: string
  readonly generation: number | undefined
  readonly result: Exclude<Attempted, { readonly kind: 'wrote' }>
  /** Monotonic time after which it counts no longer; null: never. */
  readonly untilMs: number | null
}

/** Result of the last reading of copies, and the DaemonSet for which they were read. */
interface Forged {
  readonly uid: string
  readonly generation: number | undefined
  readonly names: readonly string[]
}

/** What a Pinner needs of the cluster. */
export interface PinnerPorts {
  /** Undefined where the installation does not allow it. */
  readonly pins?: PinPort | undefined
  /** @default the API server names copies in all pods */
  readonly podPolicy?: PodPolicy | undefined
}

/** @returns a Pinner that knows nothing yet */
export function createPinner(ports: PinnerPorts, clock: Clock): Pinner {
  return new PortPinner(ports, clock)
}

class PortPinner implements Pinner {
  readonly #port: PinPort | undefined
  readonly #clock: Clock
  readonly #known = new Map<string, Known>()
  /** Monotonic time at which the attempt in progress began, by Rollout. */
  readonly #running = new Map<string, number>()
  /** Monotonic time of the last collection of copies, by Rollout. */
  readonly #collectedMs = new Map<string, number>()
  /** Number of races that were lost in a row, by Rollout. */
  readonly #lost = new Map<string, number>()
  /** Names of copies that belong to objects with other content, by Rollout. */
  readonly #forged = new Map<string, Forged>()
  readonly #changes = new PinPace(MOST_CHANGES, CHANGES_APART_MS)
  readonly #attempts = new PinPace(MOST_ATTEMPTS, ATTEMPTS_APART_MS)
  readonly #podPolicy: PodPolicy | undefined
  /** Monotonic time of the first question about the policy for pods that had no answer; null while answers are known. */
  #unansweredMs: number | null = null

  constructor({ pins, podPolicy }: PinnerPorts, clock: Clock) {
    this.#port = pins
    this.#podPolicy = podPolicy
    this.#clock = clock
  }

  known(view: RolloutView): TimedPinResult | null {
    const timing = takeOverForPins(view)
    const { rollout, daemonSet, monotonicMs } = view
    if (timing.kind === 'none' || daemonSet === undefined) return { kind: 'pinned', rolledBack: [] }
    if (this.#port === undefined) return notAllowed(daemonSet)
    const unenforced = hasPins(view, daemonSet) ? this.#unenforced(daemonSet, monotonicMs) : null
    if (unenforced !== null) return unenforced
    const key = keyText(keyOf(rollout))
    const last = this.#known.get(key)
    const sinceMs = this.#running.get(key)
    if (sinceMs !== undefined) return monotonicMs - sinceMs < OVERDUE_MS ? null : overdue(last, daemonSet)
    if (last === undefined || (last.untilMs !== null && last.untilMs <= monotonicMs)) return null
    // Until the template may change, no change of an object needs an attempt.
    const versions = last.result.waitMs === undefined ? this.#port.versions(daemonSet) : null
    if (last.basis !== basisOf(view, daemonSet, [versions, timingText(timing)])) return this.#between(view, daemonSet, last)
    return { ...last.result, recheckAfterMs: last.untilMs === null ? undefined : last.untilMs - monotonicMs }
  }

  /** Null where the API server names copies in the pods of the DaemonSet. */
  #unenforced({ metadata: { namespace = '' } }: DaemonSet, nowMs: number): TimedPinResult | null {
    const fault = this.#podPolicy === undefined ? null : this.#podPolicy.fault(namespace)
    if (fault !== undefined) this.#unansweredMs = null
    if (fault === null) return null
    if (fault !== undefined) return { kind: 'held', reason: 'PodPolicyMissing', why: unenforcedText(fault) }
    this.#unansweredMs ??= nowMs
    if (nowMs - this.#unansweredMs < OVERDUE_MS) return PENDING
    return { ...NO_ANSWER, recheckAfterMs: PENDING_RECHECK_MS }
  }

  /** A template that was found pinned stays so until another attempt is allowed. */
  #between({ rollout, monotonicMs }: RolloutView, daemonSet: DaemonSet, last: Known): TimedPinResult | null {
    const restMs = this.#attempts.waitMs(keyText(keyOf(rollout)), monotonicMs)
    return restMs > 0 && wasPinned(last, daemonSet) ? { ...last.result, recheckAfterMs: restMs } : null
  }

  last(rollout: string): PinResult | null {
    return this.#known.get(rollout)?.result ?? null
  }

  forged(rollout: string): readonly string[] {
    return this.#forged.get(rollout)?.names ?? []
  }

  hasCompared({ rollout, daemonSet }: RolloutView): boolean {
    const compared = this.#forged.get(keyText(keyOf(rollout)))
    return compared !== undefined && compared.uid === daemonSet?.metadata.uid && compared.generation === daemonSet.metadata.generation
  }

  async attempt(view: RolloutView, signal: AbortSignal, log: Logger): Promise<TimedPinResult> {
    const key = keyText(keyOf(view.rollout))
    if (this.#running.has(key)) return PENDING
    const timing = takeOverForPins(view)
    if (view.daemonSet === undefined) return { kind: 'pinned', rolledBack: [] }
    if (this.#port === undefined) return notAllowed(view.daemonSet)
    const restMs = this.#attempts.waitMs(key, view.monotonicMs)
    if (restMs > 0) return { kind: 'pending', againInMs: restMs }
    this.#attempts.count(key, view.monotonicMs)
    const last = this.#known.get(key)
    const versions = this.#port.versions(view.daemonSet)
    const limits = limitsOf(this.#clock, signal)
    this.#running.set(key, this.#clock.monotonicMs())
    const found: { result?: Attempted } = {}
    const mayCollect = view.monotonicMs >= (this.#collectedMs.get(key) ?? Number.NEGATIVE_INFINITY) + PIN_RECHECK_MS
    const waitMs = this.#changes.waitMs(key, view.monotonicMs)
    const lost = this.#lost.get(key) ?? 0
    const { uid, generation } = view.daemonSet.metadata
    const onForged = (names: readonly string[]): void => void this.#forged.set(key, { uid, generation, names })
    const wasFound = wasPinned(last, view.daemonSet)
    const on: Attempt = { view, daemonSet: view.daemonSet, timing, wasPinned: wasFound, mayCollect, lost, waitMs, onForged }
    const done = attemptPins(this.#port, on, limits.signal, log).then((result) => {
      limits.end()
      found.result = result
      if (this.#running.delete(key)) this.#learn(key, on, result, versions)
    })
    await within(this.#clock, PATIENCE_MS, done)
    limits.detach()
    signal.throwIfAborted()
    const { result } = found
    if (result === undefined) return PENDING
    return result.kind === 'wrote' || isSettled(result, versions) ? result : { ...result, recheckAfterMs: result.waitMs ?? PIN_RECHECK_MS }
  }

  forget(rollout: string): void {
    for (const memory of [this.#known, this.#running, this.#collectedMs, this.#lost, this.#forged, this.#changes, this.#attempts])
      memory.delete(rollout)
  }

  #learn(key: string, { view, daemonSet, timing, lost }: Attempt, result: Attempted, versions: string | null): void {
    if (result.kind === 'wrote' && result.isLost === true) this.#lost.set(key, lost + 1)
    else this.#lost.delete(key)
    if (result.kind !== 'held' && result.hasCollected === true) this.#collectedMs.set(key, view.monotonicMs)
    if (result.kind === 'wrote') {
      if (result.hasPinned === true) this.#changes.count(key, view.monotonicMs)
      return
    }
    const basis = basisOf(view, daemonSet, [result.waitMs === undefined ? versions : null, timingText(timing)])
    const untilMs = isSettled(result, versions) ? null : view.monotonicMs + (result.waitMs ?? PIN_RECHECK_MS)
    this.#known.set(key, { basis, generation: daemonSet.metadata.generation, result, untilMs })
  }
}

/** A template that was found pinned names immutable copies, so its release continues. */
function overdue(last: Known | undefined, daemonSet: DaemonSet): TimedPinResult {
  const isPinned = last !== undefined && wasPinned(last, daemonSet)
  const result: PinResult = isPinned ? last.result : NO_ANSWER
  return { ...result, recheckAfterMs: PENDING_RECHECK_MS }
}

function wasPinned(last: Known | undefined, { metadata }: DaemonSet): boolean {
  return last?.generation === metadata.generation && last?.result.kind === 'pinned'
}

const NO_ANSWER: PinResult = {
  kind: 'held',
  reason: 'NoAnswer',
  why: `config: Pin: the API server has not answered requests for config for ${OVERDUE_MS / 1_000} seconds`,
}

function unenforcedText(fault: string): string {
  return `config: Pin: new pods would read config itself and no copy, because ${fault}. Install the policy for pods (rbac.configPin: true in the chart, and helm upgrade), or remove config from the ReleasePolicy`
}

const PENDING: PinResult = { kind: 'pending', againInMs: PENDING_RECHECK_MS }

function isSettled(result: Known['result'], versions: string | null): boolean {
  return result.kind === 'pinned' && result.isSettled && versions !== null
}

interface Limits {
  /** Aborts at the deadline of the attempt, and with the pass until that stops waiting. */
  readonly signal: AbortSignal
  /** The pass stops waiting. */
  detach(): void
  /** The attempt has ended. */
  end(): void
}

function limitsOf(clock: Clock, pass: AbortSignal): Limits {
  const own = new AbortController()
  const onAbort = (): void => own.abort(pass.reason)
  pass.addEventListener('abort', onAbort, { once: true })
  const timer = clock.setTimer(ATTEMPT_DEADLINE_MS, () =>
    own.abort(new Error(`the API server has not answered for ${ATTEMPT_DEADLINE_MS / 1_000} seconds`)),
  )
  return { signal: own.signal, detach: () => pass.removeEventListener('abort', onAbort), end: () => timer.cancel() }
}

/** Waits for work, but only for a time. */
async function within(clock: Clock, ms: number, work: Promise<void>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = clock.setTimer(ms, resolve)
  await Promise.race([work, promise])
  timer.cancel()
}

/** Holds nothing where the template reads no config. Secrets count, because the policy asks for them, and an installation may pin them. */
function notAllowed({ spec }: DaemonSet): PinResult {
  const objects = pinnedObjects(spec.template)
  if (objects.length === 0) return { kind: 'pinned', rolledBack: [] }
  const names = firstNodes(objects.map(({ kind, name }) => `${kind} ${name}`))
  const why = `config: Pin: this installation does not allow it, so pods read ${names} as they are; start the controller with --pin-config (rbac.configPin of the chart), or remove config from the ReleasePolicy`
  return { kind: 'held', reason: 'PinNotAllowed', why }
}

/** Whether pods of the template would read a copy of anything. Secrets are pinned only in the namespaces that the installation lists. */
function hasPins({ pinsSecrets }: RolloutView, { spec }: DaemonSet): boolean {
  return pinnedObjects(spec.template).some(({ kind }) => kind === 'ConfigMap' || pinsSecrets !== false)
}

function timingText(timing: PinTiming): string {
  return timing.kind === 'later' ? timing.until : timing.kind
}

/** Everything that a decision rests on, but for the content of the objects, which `versions` stands for. */
function basisOf({ revisions, release, rollout }: RolloutView, { metadata, status }: DaemonSet, more: readonly (string | null)[]): string {
  const { uid, generation, annotations } = metadata
  const kept = release?.status?.stableTemplate?.revision
  const names = revisions.map((one) => one.metadata.name)
  const held = rollout.status?.heldRevisions?.map(({ digest }) => digest)
  return JSON.stringify([uid, generation, status?.observedGeneration, annotations?.[OFFERED_CONFIG_ANNOTATION], kept, names, held, more])
}
