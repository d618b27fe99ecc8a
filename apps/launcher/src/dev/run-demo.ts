import { type Clock, sleep } from '@tranche/clock'
import { AppError } from '@tranche/errors'
import { isConflict, type KubeClient, resourcePaths } from '@tranche/kube-client'
import { scaleIntOrPercent } from '@tranche/kube-types'
import { type RecordedWrite, unavailableSeen } from '@tranche/recording'
import { DEMO_CONTAINER, demoImage, demoKey } from './demo-objects.ts'
import { type DemoBegun, type DemoPlan, planDemo } from './plan-demo.ts'
import type { ClusterWatch } from './watch-cluster.ts'

/** Connections and settings of the demo. */
export interface DemoOptions {
  readonly client: KubeClient
  readonly watch: ClusterWatch
  readonly clock: Clock
  /** All writes that the server has accepted so far, in order. */
  readonly recorded: readonly RecordedWrite[]
  readonly nodes: number
  /** Speed of the kubelets, as a multiple of real time (> 0). */
  readonly speed: number
  /** Prints a progress message. */
  readonly say: (text: string) => void
  readonly signal: AbortSignal
}

/** Result of the demo; the last line of `-o json`. */
export interface DemoResult {
  /** `namespace/name`. */
  readonly rollout: string
  readonly phase: string
  readonly nodes: number
  readonly updated: number
  /** Number of steps of the Rollout. */
  readonly batches: number
  /** Value of `maxUnavailable` of the DaemonSet, in nodes. */
  readonly maxUnavailable: number
  /** Maximum number of nodes unavailable at once since the image was set, from the accepted writes; terminating pods count. */
  readonly maxUnavailableSeen: number
  /** Time from setting the image to the end, by the cluster's clock, with one decimal. */
  readonly durationSeconds: number
}

/** Simulated time that a person takes to approve, in milliseconds. */
const LOOK_BEFORE_APPROVAL_MS = 2_000
/** Time without progress after which the demo fails, in milliseconds; extended for slower kubelets. */
const STUCK_AFTER_MS = 180_000

/**
 * Releases version `v2` of the demo DaemonSet as a user would, and waits until it is done.
 *
 * @throws {AppError} RELEASE_STUCK after three minutes without progress, by the cluster's clock; longer if `speed` is below 1
 * @throws the signal's reason when it aborts
 */
export async function runDemo(options: DemoOptions): Promise<DemoResult> {
  const { client, watch, clock, signal, say } = options
  const image = demoImage('v2')
  let begun: Begun | null = null
  const stuckAtMs = createDeadline(clock, STUCK_AFTER_MS / Math.min(1, options.speed))
  for (;;) {
    const plan = planDemo({ daemonSet: watch.daemonSet(demoKey), rollout: watch.rollout(demoKey), image, nodes: options.nodes, begun })
    switch (plan.kind) {
      case 'wait':
        await nextChange(options, { atMs: stuckAtMs(progressOf(watch)), waitsFor: plan.for })
        break
      case 'setImage':
        begun = { atMs: clock.nowMs(), revisionBefore: revisionOf(watch), approvedVersion: null }
        say(`releasing ${image} to ${options.nodes} nodes`)
        await setImage(client, image, signal)
        break
      case 'approve':
        await approve(options, plan)
        begun = withApproval(begun, plan.resourceVersion)
        break
      case 'finish':
        return resultOf(options, begun?.atMs ?? clock.nowMs())
      default:
        plan satisfies never
    }
  }
}

/** Progress, with the time at which the image was set, in epoch milliseconds. */
interface Begun extends DemoBegun {
  readonly atMs: number
}

function withApproval(begun: Begun | null, approvedVersion: string): Begun | null {
  return begun === null ? null : { ...begun, approvedVersion }
}

function revisionOf(watch: ClusterWatch): string | undefined {
  return watch.rollout(demoKey)?.status?.canaryStatus?.canaryRevision
}

async function setImage(client: KubeClient, image: string, signal: AbortSignal): Promise<void> {
  const body = { spec: { template: { spec: { containers: [{ name: DEMO_CONTAINER, image }] } } } }
  await client.patch(resourcePaths.daemonSets, demoKey, { type: 'strategic', body }, { signal })
}

/** Approves the version that was read, as `kubectl kruise rollout approve` does. Ignores a conflict: another client was first. */
async function approve({ client, clock, say, signal }: DemoOptions, plan: DemoPlan & { readonly kind: 'approve' }): Promise<void> {
  await sleep(clock, LOOK_BEFORE_APPROVAL_MS, signal)
  const body = { metadata: { resourceVersion: plan.resourceVersion }, status: { canaryStatus: { currentStepState: 'StepReady' } } }
  try {
    await client.patch(resourcePaths.rollouts, demoKey, { type: 'merge', body }, { subresource: 'status', signal })
    say(`approved step ${plan.step}`)
  } catch (error) {
    if (!isConflict(error)) throw error
  }
}

/** @returns a function that extends the deadline whenever its argument changes */
function createDeadline(clock: Clock, afterMs: number): (progress: string) => number {
  let last: string | undefined
  let atMs = 0
  return (progress) => {
    if (progress !== last) atMs = clock.monotonicMs() + afterMs
    last = progress
    return atMs
  }
}

/** Fingerprint of the progress. Recreated pods and events are not progress. */
function progressOf(watch: ClusterWatch): string {
  const status = watch.rollout(demoKey)?.status
  const { updatedNumberScheduled, numberAvailable } = watch.daemonSet(demoKey)?.status ?? {}
  return JSON.stringify([status?.phase, status?.currentStepIndex, status?.currentStepState, updatedNumberScheduled, numberAvailable])
}

/** Resolves after the next watch event; rejects at the deadline (monotonic milliseconds) or when the signal aborts. */
function nextChange({ watch, clock, signal }: DemoOptions, limit: { readonly atMs: number; readonly waitsFor: string }): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (settle: () => void): void => {
      unsubscribe()
      timer.cancel()
      signal.removeEventListener('abort', onAbort)
      settle()
    }
    const onAbort = (): void => done(() => reject(signal.reason as Error))
    const unsubscribe = watch.subscribe(() => done(resolve))
    const timer = clock.setTimer(limit.atMs - clock.monotonicMs(), () => done(() => reject(stuck(limit.waitsFor))))
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
  })
}

function stuck(waitsFor: string): AppError {
  return new AppError('RELEASE_STUCK', `the release makes no progress; it waits for ${waitsFor}`, {
    hint: 'Check the Rollout with kubectl describe, and write a log with --log FILE.',
  })
}

function resultOf({ watch, clock, recorded, nodes }: DemoOptions, sinceMs: number): DemoResult {
  const daemonSet = watch.daemonSet(demoKey)
  const rollout = watch.rollout(demoKey)
  const budget = daemonSet?.spec.updateStrategy?.rollingUpdate?.maxUnavailable ?? 1
  return {
    rollout: `${demoKey.namespace}/${demoKey.name}`,
    phase: rollout?.status?.phase ?? '',
    nodes,
    updated: daemonSet?.status?.updatedNumberScheduled ?? 0,
    batches: rollout?.spec.strategy.canary?.steps?.length ?? 0,
    maxUnavailable: scaleIntOrPercent(budget, nodes) ?? 0,
    maxUnavailableSeen: unavailableSeen(recorded, { namespace: demoKey.namespace, daemonSet: demoKey.name, sinceMs }).max,
    durationSeconds: Math.round((clock.nowMs() - sinceMs) / 100) / 10,
  }
}
