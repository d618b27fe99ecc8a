import { type ClusterSnapshot, durationMs, type ForecastRequest, type Rollout } from '@tranche/api-schema'
import { AppError } from '@tranche/errors'
import { KubeStatusError, resourcePaths } from '@tranche/kube-client'
import { type DaemonSet, isSameJson, keyOf, type Pod } from '@tranche/kube-types'
import type { InjectedFault } from './injected-faults.ts'
import { type Timeline, isReady, nodeOf, revisionOf } from './timeline.ts'
import { during, type SimulatedCluster } from './simulated-cluster.ts'

/** Longest simulated duration of a release, in the copy's own time. */
const HORIZON_MS = 30 * 86_400_000
/** Interval of the checks whether the release is over. */
const LOOK_MS = 5_000
/** A Rollout that has been Stalled this long without any progress does not continue by itself. */
const STALLED_MS = 120_000
/** Without a release after this time, there is nothing to do. */
const BEGIN_MS = 30_000
/** Margin beyond the longest wait that the rules contain. */
const MARGIN_MS = 120_000
/** Default of `failure.progressDeadlineSeconds`. */
const DEADLINE_SECONDS = 600

/**
 * Changes the DaemonSet as a user would.
 *
 * @throws AppError FORECAST_INVALID with the rejected fields and values when an API server would reject the DaemonSet
 */
export async function changeDaemonSet({ client, clock }: SimulatedCluster, before: DaemonSet, planned: DaemonSet): Promise<void> {
  if (isSameJson(before.spec, planned.spec)) return
  const key = keyOf(before)
  const current = await during(clock, client.get<DaemonSet>(resourcePaths.daemonSets, key))
  const { updateStrategy } = current.spec
  const strategy = { ...planned.spec.updateStrategy, ...(updateStrategy?.type !== undefined && { type: updateStrategy.type }) }
  const changed = { ...current, spec: { ...planned.spec, updateStrategy: strategy } }
  await during(clock, client.update(resourcePaths.daemonSets, changed)).catch((error: unknown) => {
    throw isRejection(error) ? rejected(error) : error
  })
}

function isRejection(error: unknown): error is KubeStatusError {
  return error instanceof KubeStatusError && (error.status === 400 || error.status === 422)
}

/** Leaves out the request, because its address belongs to the copy. */
function rejected(error: KubeStatusError): AppError {
  return new AppError('FORECAST_INVALID', `an API server rejects the planned DaemonSet: ${error.serverMessage}`, {
    hint: 'Fix the image or the manifest; kubectl apply --dry-run=server -f FILE shows the same error.',
    cause: error,
  })
}

/** Approves every step that waits for a user, once per wait. */
export function approveSteps({ client, clock, simulator }: SimulatedCluster, timeline: Timeline, request: ForecastRequest): void {
  let approved = ''
  const look = (): void => {
    const { rollout } = timeline
    const wait = waitForPerson(rollout)
    if (wait === undefined || wait === approved) return
    approved = wait
    clock.setTimer((request.approveAfterSeconds ?? 0) * 1000, () => {
      if (waitForPerson(timeline.rollout) !== wait) return
      const body = { status: { canaryStatus: { currentStepState: 'StepReady' } } }
      client.patch(resourcePaths.rollouts, keyOf(rollout), { type: 'merge', body }, { subresource: 'status' }).catch(() => {
        approved = ''
      })
    })
  }
  simulator.server.observe(({ kind }) => {
    if (kind === 'Rollout') look()
  })
  look()
}

/**
 * Kills the nodes that are to fail when the new version has become Ready there. All nodes of one fault die with the first.
 *
 * @returns live list of failed injections, one sentence each
 */
export function killMachines(
  { clock, simulator }: Pick<SimulatedCluster, 'clock' | 'simulator'>,
  timeline: Pick<Timeline, 'canary'>,
  injectedFaults: readonly InjectedFault[],
): readonly string[] {
  const mishaps: string[] = []
  const kill = (node: string): void =>
    void simulator.nodes.kill(node).catch((error: unknown) => {
      mishaps.push(`not simulated: ${node} could not be made to fail (${error instanceof Error ? error.message : String(error)})`)
    })
  const failing = injectedFaults.filter(({ kind }) => kind === 'Fails')
  if (failing.length === 0) return mishaps
  const stop = simulator.server.observe(({ kind, object }) => {
    const pod = object as unknown as Pod
    if (kind !== 'Pod' || timeline.canary === undefined || revisionOf(pod) !== timeline.canary || !isReady(pod)) return
    for (const injectedFault of failing.filter(({ nodes }) => nodes.has(nodeOf(pod)))) {
      failing.splice(failing.indexOf(injectedFault), 1)
      for (const node of injectedFault.nodes) clock.setTimer(0, () => kill(node))
    }
    if (failing.length === 0) stop()
  })
  return mishaps
}

/** @returns identity of the current wait for a user; undefined without one */
function waitForPerson({ spec, status }: Rollout): string | undefined {
  const { currentStepIndex = 0, currentStepState, canaryStatus } = status ?? {}
  const pause = spec.strategy.canary?.steps?.[currentStepIndex - 1]?.pause
  if (currentStepState !== 'StepPaused' || spec.strategy.paused === true || pause?.duration !== undefined) return undefined
  return `${canaryStatus?.canaryRevision} ${currentStepIndex} ${canaryStatus?.lastUpdateTime}`
}

/** When to treat a release as over that does not report its end. */
export interface UntilOver {
  /** Time without any progress, in milliseconds. */
  readonly quietMs: number
  readonly signal?: AbortSignal
}

/**
 * Runs until the release has ended, or cannot continue by itself.
 *
 * @throws the signal's reason once it aborts; the error of a program that ended early
 */
export async function untilOver({ clock, failed }: SimulatedCluster, timeline: Timeline, options: UntilOver): Promise<void> {
  let failure: { readonly error: unknown } | undefined
  failed.catch((error: unknown) => (failure = { error }))
  const tick = (): void => void clock.setTimer(LOOK_MS, tick)
  tick()
  const isOver = (): boolean =>
    failure !== undefined || options.signal?.aborted === true || hasEnded(timeline, clock.monotonicMs(), options)
  await clock.run({ done: isOver, untilMs: HORIZON_MS })
  if (failure !== undefined) throw failure.error
  options.signal?.throwIfAborted()
}

function hasEnded(timeline: Timeline, nowMs: number, { quietMs }: UntilOver): boolean {
  const { endedMs, begunMs, movedMs, stalledMs } = timeline
  if (endedMs !== null) return true
  if (stalledMs !== null && nowMs - Math.max(stalledMs, movedMs) > STALLED_MS) return true
  return nowMs - movedMs > (begunMs === null ? BEGIN_MS : quietMs)
}

/** @returns longest wait that the rules of the release allow, plus a margin; milliseconds */
export function quietMs({ rollout, policy, daemonSet }: ClusterSnapshot, { approveAfterSeconds = 0 }: ForecastRequest): number {
  const { failure, soak } = policy?.spec ?? {}
  const waits = [
    failure?.progressDeadlineSeconds ?? DEADLINE_SECONDS,
    approveAfterSeconds,
    daemonSet?.spec.minReadySeconds ?? 0,
    ...(rollout.spec.strategy.canary?.steps ?? []).map(({ pause }) => pause?.duration ?? 0),
    ...Object.values(soak ?? {}).map((text) => (durationMs(text ?? '') || 0) / 1000),
  ]
  return Math.max(...waits) * 1000 + MARGIN_MS
}
