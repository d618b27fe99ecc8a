import { type ClusterSnapshot, durationMs, type ForecastRequest, type Rollout } from '@tranche/api-schema'
import { AppError } from '@tranche/errors'
import { KubeStatusError, resourcePaths } from '@tranche/kube-client'
import { type DaemonSet, isSameJson, keyOf, type Pod } from '@tranche/kube-types'
import type { InjectedFault } from './injected-faults.ts'
import { type Timeline, isReady, nodeOf, revisionOf } from './timeline.ts'
import { during, type SimulatedCluster } from './simulated-cluster.ts'

/** A release is given up on after so long in the copy's own time. */
const HORIZON_MS = 30 * 86_400_000
/** How often somebody looks whether it is over. */
const LOOK_MS = 5_000
/** A Rollout that says that it is stalled, and where nothing has moved for so long, does not go on by itself. */
const STALLED_MS = 120_000
/** No release has begun after so long: there is nothing to do. */
const BEGIN_MS = 30_000
/** Beyond the longest wait that the rules know. */
const MARGIN_MS = 120_000
/** A version that is not available after so long has failed, where no policy says otherwise. */
const DEADLINE_SECONDS = 600

/**
 * Changes the DaemonSet as a person would.
 *
 * @throws AppError FORECAST_INVALID where an API server would reject the DaemonSet, with the fields and values that it names
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

/** Leaves out the request, whose address is the copy's. */
function rejected(error: KubeStatusError): AppError {
  return new AppError('FORECAST_INVALID', `an API server rejects the planned DaemonSet: ${error.serverMessage}`, {
    hint: 'Fix the image or the manifest; kubectl apply --dry-run=server -f FILE shows the same error.',
    cause: error,
  })
}

/** Approves every step that waits for a person, once each time it comes to wait. */
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
 * Machines that are to fail die when the new version has come up on them; those of one zone together, with the first.
 *
 * @returns grows by a sentence for each machine that could not be made to
 */
export function killMachines(
  { clock, simulator }: Pick<SimulatedCluster, 'clock' | 'simulator'>,
  timeline: Pick<Timeline, 'canary'>,
  injectedFaults: readonly InjectedFault[],
): readonly string[] {
  const mishaps: string[] = []
  const kill = (node: string): void =>
    void simulator.nodes.kill(node).catch((error: unknown) => {
      mishaps.push(`not played: ${node} could not be made to fail (${error instanceof Error ? error.message : String(error)})`)
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

/** @returns which wait of which release; undefined while nobody is waited for */
function waitForPerson({ spec, status }: Rollout): string | undefined {
  const { currentStepIndex = 0, currentStepState, canaryStatus } = status ?? {}
  const pause = spec.strategy.canary?.steps?.[currentStepIndex - 1]?.pause
  if (currentStepState !== 'StepPaused' || spec.strategy.paused === true || pause?.duration !== undefined) return undefined
  return `${canaryStatus?.canaryRevision} ${currentStepIndex} ${canaryStatus?.lastUpdateTime}`
}

/** When to take a release for over that says nothing of the kind. */
export interface UntilOver {
  /** Nothing has moved for so long. */
  readonly quietMs: number
  readonly signal?: AbortSignal
}

/**
 * Runs until the release has ended, or cannot go on by itself.
 *
 * @throws the signal's reason once it aborts; what ended a program before its time
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

/** @returns the longest wait that the release may have by its rules, and a little more; milliseconds */
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
