import type { Clock } from '@tranche/clock'
import type { Condition, Pod } from '@tranche/kube-types'
import { resources, type SimClient, timestamp } from '@tranche/sim-api'
import { disruptPod, withCondition } from '../disruption/disrupt-pod.ts'
import type { EventRecorder } from '../machinery/event-recorder.ts'
import { ignoreMissing } from '../machinery/ignore-missing.ts'
import type { BindingPlan } from './plan-binding.ts'

/** Reports of the scheduler about pods that do not fit. */
export interface SchedulerWrites {
  /** Reports in the pod's status, and as an event, why no node is feasible; writes the status only when it changes. */
  markUnschedulable(pod: Pod, plan: Unschedulable): Promise<void>
  /** Preempts a pod on `nodeName`; a terminating pod is left alone. */
  preempt(victim: Pod, preemptor: Pod, nodeName: string): Promise<void>
}

type Unschedulable = Extract<BindingPlan, { kind: 'unschedulable' }>

interface WritePorts {
  readonly client: SimClient
  readonly clock: Clock
  readonly events: EventRecorder
  /** Name under which the scheduler acts. */
  readonly schedulerName: string
}

/** Writes that ignore a missing pod. */
export function createSchedulerWrites({ client, clock, events, schedulerName }: WritePorts): SchedulerWrites {
  return {
    async markUnschedulable(pod, { message, preemption }) {
      const nominatedNodeName = preemption?.nodeName
      const before = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled')
      events.record(pod, 'Warning', 'FailedScheduling', message)
      if (before?.message === message && nominatedNodeName === undefined) return
      const since = before?.status === 'False' ? before.lastTransitionTime : undefined
      const condition: Condition & { readonly observedGeneration?: number } = {
        type: 'PodScheduled',
        status: 'False',
        reason: 'Unschedulable',
        message,
        ...(pod.metadata.generation !== undefined && { observedGeneration: pod.metadata.generation }),
        lastTransitionTime: since ?? timestamp(clock.nowMs()),
      }
      const status = { conditions: withCondition(pod, condition), ...(nominatedNodeName !== undefined && { nominatedNodeName }) }
      const { name, namespace } = pod.metadata
      await ignoreMissing(client.patch(resources.pods, name, namespace, { status }, 'status'))
    },

    async preempt(victim, preemptor, nodeName) {
      if (victim.metadata.deletionTimestamp !== undefined) return
      const message = `${schedulerName}: preempting to accommodate a higher priority pod`
      await disruptPod({ client, clock }, victim, { reason: 'PreemptionByScheduler', message })
      events.record(victim, 'Normal', 'Preempted', `Preempted by pod ${preemptor.metadata.uid} on node ${nodeName}`)
    },
  }
}
