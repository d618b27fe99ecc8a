import { sleep, type Clock, type Timer } from '@tranche/clock'
import { isAppError } from '@tranche/errors'
import type { Lease } from '@tranche/kube-types'
import type { Logger } from '@tranche/log'
import { heldSpec, holderOf, releasedSpec, type LeaseSpec } from './lease-record.ts'
import { createLeaseObservation, type LeaseObservation } from './lease-observation.ts'

/** What leader election needs from the cluster: one Lease, whose name the port knows. */
export interface LeasePort {
  /** @returns the Lease as it stands now (never from a cache); null when there is none */
  read(signal: AbortSignal): Promise<Lease | null>
  /** Creates the Lease. @throws AppError WRITE_CONFLICT when there is one already */
  create(spec: LeaseSpec, signal: AbortSignal): Promise<Lease>
  /** Replaces the Lease, with the `resourceVersion` of `lease` as precondition. @throws AppError WRITE_CONFLICT when it has another */
  update(lease: Lease, signal: AbortSignal): Promise<Lease>
}

/**
 * Tells of the Lease whenever it is seen to have changed, until `signal` aborts; null when there is none. What it tells late, or not
 * at all, costs time and nothing else. Never throws.
 */
export type LeaseWatch = (onSeen: (lease: Lease | null) => void, signal: AbortSignal) => void

/** Settings of {@link createLeaderElector}. */
export interface LeaderElectorOptions {
  readonly port: LeasePort
  /** Lets candidates hear of the Lease at once. @default they ask every `retryPeriodMs` */
  readonly watch?: LeaseWatch
  /** Who we are: unique among all candidates that ever run, so a new one for each process. */
  readonly identity: string
  readonly clock: Clock
  /** Says with every line who we are; the elector does not add it. */
  readonly log: Logger
  /** Called when leadership begins. The signal aborts when it ends. */
  readonly onStarted: (signal: AbortSignal) => void
  /** Called when leadership has ended, once per `onStarted`. We stand again, or give the Lease up, only when it has resolved. */
  readonly onStopped: () => void | Promise<void>
  /** How long others wait after they last saw the Lease change, in milliseconds; whole seconds. @default 15_000 */
  readonly leaseDurationMs?: number
  /** How long we lead after sending a renewal that succeeded, in milliseconds; less than `leaseDurationMs`. @default 10_000 */
  readonly renewDeadlineMs?: number
  /** Time between two attempts, in milliseconds. @default 2_000 */
  readonly retryPeriodMs?: number
}

/** One candidate. */
export interface LeaderElector {
  /** Begins to stand. Called once. */
  start(): void
  /** Ends leadership, waits for `onStopped`, then gives the Lease up if it was ours, so that the next need not wait. */
  stop(): Promise<void>
  /** Whether we lead at this moment, by the monotonic clock; false from the renew deadline on even when no timer has fired yet. */
  isLeader(): boolean
}

/**
 * Elects one leader among candidates that share a Lease.
 *
 * Guarantees, as long as monotonic clocks run at the same rate within leaseDuration : renewDeadline (3 : 2 by default):
 *
 * - E1 At most one candidate's `isLeader()` is true at any moment, whatever requests are delayed, lost or answered twice,
 *   and whatever happens to wall clocks. Wall time is written into the Lease and never read from it.
 * - E2 Leadership ends at the latest `renewDeadlineMs` after the last renewal that succeeded was *sent*: from that moment
 *   on others may count, for it may have been seen at once.
 * - E3 When a leader is gone, another leads as soon as `leaseDurationMs` have passed since it saw the last renewal, and after a clean
 *   `stop` as soon as it sees that, if the API server answers. Seen is what the watch tells; where it tells nothing, the Lease is read
 *   after 1.25 × `retryPeriodMs`, and without a watch every `retryPeriodMs`: so much later at most.
 *
 * What the watch tells moves only the moment at which a candidate looks, and the moment from which it counts: it takes a Lease that it
 * has just read, in the version that it has known for `leaseDurationMs` of its own monotonic clock.
 *
 * A lock is not a fence: a process that is frozen after it asked `isLeader()` may act long after it lost the Lease.
 * Whatever must not happen twice needs a precondition at the API server. And whoever deletes the Lease while somebody
 * leads lets the next candidate in at once.
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
  /** The Lease as our last write left it; null when that is not known for sure. */
  ours: Lease | null
  isFailing: boolean
}

/** A time of leadership. `untilMs` is monotonic. */
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

/** @returns when the write that gave us the Lease was sent, in monotonic milliseconds; null when we did not get it */
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

/** How long a process that ends waits for the Lease to be given up, in milliseconds: others can wait for it to expire. */
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
        log.info({}, 'gave the Lease up')
      },
    )
  } catch (error) {
    log.debug({ err: error }, 'kept the Lease until it expires')
  }
}

/** When a request to the Lease is given up: when `outer` aborts, and after `deadlineMs`. @default half the renew deadline: a connection that fell silent leaves time for one more attempt over another */
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

/** A lost race is part of the game; an API server that does not answer is worth one line until it does again. */
function logFailure(state: State, error: unknown): void {
  const { log } = state.options
  const isQuiet = state.isFailing || (isAppError(error) && error.code === 'WRITE_CONFLICT')
  if (isQuiet) return log.debug({ err: error }, 'Lease attempt failed')
  state.isFailing = true
  log.warn({ err: error }, 'Lease attempt failed')
}

/** An attempt that took its whole time is followed by the next at once: what is left until the deadline is short. */
async function untilNextRenewal({ options: { clock }, observation, retryPeriodMs }: State, signal: AbortSignal): Promise<void> {
  try {
    await sleep(clock, Math.max(0, observation.lookedMs() + retryPeriodMs - clock.monotonicMs()), signal)
  } catch {
    // The caller looks at the signal.
  }
}

async function guard(log: Logger, callback: () => void | Promise<void>): Promise<void> {
  try {
    await callback()
  } catch (error) {
    log.error({ err: error }, 'leadership callback failed')
  }
}
