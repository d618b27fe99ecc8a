import { sleep, type Clock, type Timer } from '@tranche/clock'
import { isAppError } from '@tranche/errors'
import type { Lease } from '@tranche/kube-types'
import type { Logger } from '@tranche/telemetry'
import { heldSpec, holderOf, releasedSpec, type LeaseSpec } from './lease-record.ts'
import { createLeaseObservation, type LeaseObservation } from './lease-observation.ts'

/** Cluster access of leader election: one Lease, whose name the port knows. */
export interface LeasePort {
  /** @returns the current Lease (never from a cache); null if there is none */
  read(signal: AbortSignal): Promise<Lease | null>
  /** Creates the Lease. @throws {AppError} WRITE_CONFLICT if it exists already */
  create(spec: LeaseSpec, signal: AbortSignal): Promise<Lease>
  /** Replaces the Lease, with the `resourceVersion` of `lease` as precondition. @throws {AppError} WRITE_CONFLICT if it has another one */
  update(lease: Lease, signal: AbortSignal): Promise<Lease>
}

/**
 * Reports the Lease whenever it has changed, until `signal` aborts; null if there is none. A late or missing report only costs time. Never
 * throws.
 */
export type LeaseWatch = (onSeen: (lease: Lease | null) => void, signal: AbortSignal) => void

/** Settings of {@link createLeaderElector}. */
export interface LeaderElectorOptions {
  readonly port: LeasePort
  /** Reports changes of the Lease to candidates at once. @default candidates read it every `retryPeriodMs` */
  readonly watch?: LeaseWatch
  /** Identity of this candidate: unique among all candidates that ever run, so a new one for each process. */
  readonly identity: string
  readonly clock: Clock
  /** Logger that already carries the identity; the elector does not add it. */
  readonly log: Logger
  /** Called when leadership begins. The signal aborts when it ends. */
  readonly onStarted: (signal: AbortSignal) => void
  /**
   * Called when leadership has ended, once per `onStarted`. The candidate competes again, or releases the Lease, only after it has resolved.
   */
  readonly onStopped: () => void | Promise<void>
  /** How long other candidates wait after they last saw the Lease change, in milliseconds; whole seconds. @default 15_000 */
  readonly leaseDurationMs?: number
  /** How long leadership lasts after sending a successful renewal, in milliseconds; less than `leaseDurationMs`. @default 10_000 */
  readonly renewDeadlineMs?: number
  /** Time between two attempts, in milliseconds. @default 2_000 */
  readonly retryPeriodMs?: number
}

/** One candidate. */
export interface LeaderElector {
  /** Starts the candidacy. Call once. */
  start(): void
  /** Ends leadership, waits for `onStopped`, then releases the Lease if this candidate holds it, so that the next need not wait. */
  stop(): Promise<void>
  /** Whether this candidate leads now, by the monotonic clock; false from the renew deadline on even if no timer has fired yet. */
  isLeader(): boolean
}

/**
 * Elects one leader among candidates that share a Lease.
 *
 * Guarantees, as long as monotonic clocks run at the same rate within leaseDuration : renewDeadline (3 : 2 by default):
 *
 * - E1 At most one candidate's `isLeader()` is true at any moment, even if requests are delayed, lost or answered twice,
 *   and even if wall clocks jump. Wall time is written into the Lease and never read from it.
 * - E2 Leadership ends at the latest `renewDeadlineMs` after the last successful renewal was *sent*. From that moment on
 *   other candidates may start counting, because they may have seen it at once.
 * - E3 If the leader is gone, another candidate leads as soon as `leaseDurationMs` have passed since it saw the last renewal.
 *   After a clean `stop` it leads as soon as it sees that, if the API server answers. The watch reports changes; if it reports
 *   nothing, the Lease is read after 1.25 × `retryPeriodMs`, and without a watch every `retryPeriodMs`, which bounds the delay.
 *
 * Reports of the watch only move the moment of the next read, and the moment from which a candidate counts. It takes a Lease only if it has
 * just read it, in the version that it has known for `leaseDurationMs` of its own monotonic clock.
 *
 * A lock is not a fence: a process that is frozen after it called `isLeader()` may act long after it lost the Lease. Actions that must not
 * happen twice need a precondition at the API server. Deleting the Lease while a candidate leads lets the next one in at once.
 *
 * @see k8s.io/client-go/tools/leaderelection, whose record and timings this follows
 */
export function createLeaderElector(options: LeaderElectorOptions): LeaderElector {
  const { leaseDurationMs = 15_000, renewDeadlineMs = 10_000, retryPeriodMs = 2_000 } = options
  const state: State = {
    options,
    leaseDurationMs,
    renewDeadlineMs,
    retryPeriodMs,
    stopping: new AbortController(),
    term: null,
    observation: createLeaseObservation({ clock: options.clock, leaseDurationMs, retryPeriodMs, isWatched: options.watch !== undefined }),
    ours: null,
    isFailing: false,
  }
  if (state.renewDeadlineMs >= state.leaseDurationMs) throw new Error('renewDeadlineMs must be less than leaseDurationMs')
  let campaigning: Promise<void> = Promise.resolve()
  return {
    start() {
      options.watch?.((lease) => state.observation.observe(lease), state.stopping.signal)
      campaigning = campaign(state)
    },
    async stop() {
      state.stopping.abort(new Error('the candidate withdraws'))
      endTerm(state, 'withdrawn')
      await campaigning
      await release(state)
    },
    isLeader: () => isLeader(state),
  }
}

interface State {
  readonly options: LeaderElectorOptions
  readonly leaseDurationMs: number
  readonly renewDeadlineMs: number
  readonly retryPeriodMs: number
  readonly stopping: AbortController
  term: Term | null
  readonly observation: LeaseObservation
  /** The Lease as this candidate's last write left it; null if that is uncertain. */
  ours: Lease | null
  isFailing: boolean
}

/** One term of leadership. `untilMs` is monotonic. */
interface Term {
  readonly ended: AbortController
  untilMs: number
  timer: Timer
}

function isLeader({ term, options }: State): boolean {
  return term !== null && !term.ended.signal.aborted && options.clock.monotonicMs() < term.untilMs
}

async function campaign(state: State): Promise<void> {
  const stop = state.stopping.signal
  while (!stop.aborted) {
    const sentMs = await attempt(state, stop)
    if (sentMs !== null && !stop.aborted && sentMs + state.renewDeadlineMs > state.options.clock.monotonicMs()) await lead(state, sentMs)
    await state.observation.untilNextLook(stop)
  }
}

async function lead(state: State, sentMs: number): Promise<void> {
  const { log, onStarted, onStopped } = state.options
  const term = beginTerm(state, sentMs)
  log.info({}, 'became leader')
  await guard(log, () => onStarted(term.ended.signal))
  while (!term.ended.signal.aborted) {
    await untilNextRenewal(state, term.ended.signal)
    if (term.ended.signal.aborted) break
    const renewedMs = await attempt(state, term.ended.signal)
    if (renewedMs !== null) prolong(state, term, renewedMs)
  }
  state.term = null
  await guard(log, onStopped)
}

function beginTerm(state: State, sentMs: number): Term {
  const untilMs = sentMs + state.renewDeadlineMs
  const term: Term = { ended: new AbortController(), untilMs, timer: armDeadline(state, untilMs) }
  state.term = term
  return term
}

function prolong(state: State, term: Term, sentMs: number): void {
  if (term.ended.signal.aborted) return
  term.timer.cancel()
  term.untilMs = sentMs + state.renewDeadlineMs
  term.timer = armDeadline(state, term.untilMs)
}

function armDeadline(state: State, untilMs: number): Timer {
  const { clock } = state.options
  return clock.setTimer(untilMs - clock.monotonicMs(), () => endTerm(state, 'not renewed in time'))
}

function endTerm({ term, options }: State, reason: string): void {
  if (term === null || term.ended.signal.aborted) return
  term.timer.cancel()
  term.ended.abort(new Error(`leadership ended: ${reason}`))
  options.log.info({ reason }, 'stopped leading')
}

/** @returns the monotonic time at which the successful write of the Lease was sent, in milliseconds; null if it failed */
async function attempt(state: State, signal: AbortSignal): Promise<number | null> {
  state.observation.look()
  try {
    const sentMs = await withDeadline(state, { outer: signal }, (inTime) => takeOrKeep(state, inTime))
    state.isFailing = false
    return sentMs
  } catch (error) {
    if (!signal.aborted) logFailure(state, error)
    return null
  }
}

async function takeOrKeep(state: State, signal: AbortSignal): Promise<number | null> {
  const { port, clock, identity } = state.options
  const lease = state.ours ?? (await readLease(state, signal))
  state.ours = null
  if (lease !== null && !mayTake(state, lease)) {
    endTerm(state, `${holderOf(lease)} holds the Lease`)
    return null
  }
  const sentMs = clock.monotonicMs()
  const spec = heldSpec(lease, { identity, leaseDurationMs: state.leaseDurationMs, nowMs: clock.nowMs() })
  const written = lease === null ? await port.create(spec, signal) : await port.update({ ...lease, spec }, signal)
  signal.throwIfAborted()
  state.ours = written
  return sentMs
}

async function readLease(state: State, signal: AbortSignal): Promise<Lease | null> {
  const lease = await state.options.port.read(signal)
  signal.throwIfAborted()
  state.observation.read(lease)
  return lease
}

function mayTake({ observation, options }: State, lease: Lease): boolean {
  const holder = holderOf(lease)
  return holder === null || holder === options.identity || observation.hasExpired(lease)
}

/** How long a stopping process waits for the release of the Lease, in milliseconds: other candidates can wait for it to expire. */
const RELEASE_MS = 3_000

async function release(state: State): Promise<void> {
  const { port, clock, identity, log } = state.options
  try {
    await withDeadline(
      state,
      { outer: new AbortController().signal, deadlineMs: Math.min(RELEASE_MS, state.renewDeadlineMs) },
      async (signal) => {
        const lease = state.ours ?? (await port.read(signal))
        state.ours = null
        if (lease === null || holderOf(lease) !== identity) return
        await port.update({ ...lease, spec: releasedSpec(lease, clock.nowMs()) }, signal)
        log.info({}, 'released Lease')
      },
    )
  } catch (error) {
    log.debug({ err: error }, 'could not release Lease; it will expire')
  }
}

/**
 * When a request to the Lease is abandoned: when `outer` aborts, and after `deadlineMs`. @default half the renew deadline: on a silent
 * connection, time remains for one more attempt over another
 */
interface Limits {
  readonly outer: AbortSignal
  readonly deadlineMs?: number
}

/** Settles with `work`, or rejects at its limits, even if `work` ignores its signal. */
function withDeadline<Result>(
  state: State,
  { outer, deadlineMs = state.renewDeadlineMs / 2 }: Limits,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const controller = new AbortController()
    const end = (reason: unknown): void => {
      controller.abort(reason)
      reject(reason as Error)
    }
    const onOuter = (): void => end(outer.reason)
    const timer = state.options.clock.setTimer(deadlineMs, () => end(new Error('the Lease was not answered in time')))
    if (outer.aborted) onOuter()
    else outer.addEventListener('abort', onOuter, { once: true })
    void work(controller.signal)
      .then(resolve, reject)
      .finally(() => {
        timer.cancel()
        outer.removeEventListener('abort', onOuter)
      })
  })
}

/** Logs a lost race at `debug`, and an unavailable API server once until it answers again. */
function logFailure(state: State, error: unknown): void {
  const { log } = state.options
  const isQuiet = state.isFailing || (isAppError(error) && error.code === 'WRITE_CONFLICT')
  if (isQuiet) return log.debug({ err: error }, 'Lease attempt failed')
  state.isFailing = true
  log.warn({ err: error }, 'Lease attempt failed')
}

/** An attempt that took its whole time is followed by the next at once: little time is left until the deadline. */
async function untilNextRenewal({ options: { clock }, observation, retryPeriodMs }: State, signal: AbortSignal): Promise<void> {
  try {
    await sleep(clock, Math.max(0, observation.lookedMs() + retryPeriodMs - clock.monotonicMs()), signal)
  } catch {
    // The caller checks the signal.
  }
}

async function guard(log: Logger, callback: () => void | Promise<void>): Promise<void> {
  try {
    await callback()
  } catch (error) {
    log.error({ err: error }, 'leadership callback failed')
  }
}
