import { keyOf, keyText, type Node, type Pod } from '@tranche/kube-types'
import { isStatus, resources } from '@tranche/sim-api'
import type { ControllerOptions, RunningController } from '../daemonset/daemon-set-controller.ts'
import { createEventRecorder, wholeSecond } from '../machinery/event-recorder.ts'
import { createInformer } from '../machinery/informer.ts'
import { createRateLimiter } from '../machinery/rate-limiter.ts'
import { createWorkQueue } from '../machinery/work-queue.ts'
import { planBinding, type BindingPlan } from './plan-binding.ts'

const WORKERS = 8

/** Runs the scheduler: pods that name their node by affinity are bound to it as soon as it can take them. */
export function startScheduler({ client, clock, onError }: ControllerOptions): RunningController {
  const events = createEventRecorder(client, clock, 'default-scheduler')
  const queue = createWorkQueue({
    clock,
    limiter: createRateLimiter(() => clock.monotonicMs()),
    workers: WORKERS,
    work: schedule,
    onError,
  })
  /** Keys of pods that found no node, to be tried again when a node changes. */
  const unschedulable = new Set<string>()
  const retry = (): void => unschedulable.forEach((key) => queue.add(key))
  const nodes = createInformer<Node>(client, resources.nodes, { added: retry, updated: retry, deleted: retry })
  const pods = createInformer<Pod>(client, resources.pods, {
    added: (pod) => queue.add(keyText(keyOf(pod))),
    updated(pod, before) {
      if (!pod.spec?.nodeName && pod.spec !== before.spec) queue.add(keyText(keyOf(pod)))
    },
    deleted: (pod) => void unschedulable.delete(keyText(keyOf(pod))),
  })

  async function schedule(key: string): Promise<void> {
    await nodes.synced
    const slash = key.indexOf('/')
    const pod = pods.get(key.slice(slash + 1), key.slice(0, slash))
    unschedulable.delete(key)
    if (pod === undefined || pod.spec?.nodeName || pod.metadata.deletionTimestamp !== undefined) return
    if (schedulerOf(pod) !== 'default-scheduler') return
    const plan = planBinding(pod, (name) => nodes.get(name))
    if (plan.kind === 'bind') return bind(pod, plan.nodeName)
    unschedulable.add(key)
    await markUnschedulable(pod, plan)
  }

  async function bind(pod: Pod, nodeName: string): Promise<void> {
    await client.bind(pod.metadata.name, pod.metadata.namespace ?? '', nodeName).catch((error: unknown) => {
      if (!isStatus(error, 404)) throw error
    })
  }

  async function markUnschedulable(pod: Pod, { message }: Extract<BindingPlan, { kind: 'unschedulable' }>): Promise<void> {
    const conditions = pod.status?.conditions ?? []
    if (conditions.some((condition) => condition.type === 'PodScheduled' && condition.message === message)) return
    const lastTransitionTime = wholeSecond(clock.nowMs())
    const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message, lastTransitionTime }
    const status = { conditions: [...conditions.filter(({ type }) => type !== 'PodScheduled'), condition] }
    events.record(pod, 'Warning', 'FailedScheduling', message)
    await client.patch(resources.pods, pod.metadata.name, pod.metadata.namespace, { status }, 'status').catch((error: unknown) => {
      if (!isStatus(error, 404)) throw error
    })
  }

  return {
    stop() {
      queue.stop()
      nodes.stop()
      pods.stop()
    },
  }
}

function schedulerOf(pod: Pod): string {
  return (pod.spec as { readonly schedulerName?: string } | undefined)?.schedulerName ?? 'default-scheduler'
}
