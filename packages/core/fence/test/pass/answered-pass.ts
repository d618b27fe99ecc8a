import type { FlightRecord } from '@tranche/api-schema'
import {
  changePermits,
  type NodeQuestion,
  type NodeReading,
  type PassPlan,
  type PassView,
  permitId,
  preparationId,
  recordTouches,
} from '@tranche/fence'
import { type RuledCluster, toView } from './generated-pass.ts'

/** A cluster, and the view of a pass on it. */
export interface Standing {
  readonly cluster: RuledCluster
  readonly view: PassView
}

/** Answer of a check of a node. */
export type CheckAnswer = (question: NodeQuestion, plan: PassPlan & { kind: 'checkNodes' }, view: PassView) => NodeReading

/**
 * Immediate effect of the plan, while kubelets and watches show nothing but a touch.
 *
 * @param check fails where it is missing and the plan checks a node
 */
export function answered({ cluster, view }: Standing, plan: Exclude<PassPlan, { kind: 'wait' }>, check?: CheckAnswer): Standing {
  switch (plan.kind) {
    case 'execute': {
      const sent = plan.pods.map(({ permit }) => permitId(permit))
      return { cluster, view: { ...view, sent: new Set([...view.sent, ...sent]) } }
    }
    case 'confirm': {
      const confirmed = [...plan.pods, ...plan.nodes].flatMap(({ permits }) =>
        permits.map((permit) => [permitId(permit), { kind: 'confirmed' }] as const),
      )
      return { cluster, view: { ...view, confirmations: new Map([...view.confirmations, ...confirmed]) } }
    }
    case 'checkNodes': {
      if (check === undefined) throw new Error('these rules ask for no check')
      const read = plan.nodes.map((question) => [question.node, check(question, plan, view)] as const)
      return { cluster, view: { ...view, checks: new Map([...view.checks, ...read]) } }
    }
    case 'undoPreparations': {
      const undone = new Set(plan.nodes.map(preparationId))
      const kept = [...(view.prepared ?? [])].map(([node, done]) => [node, done.filter((one) => !undone.has(preparationId(one)))] as const)
      return { cluster, view: { ...view, prepared: new Map(kept) } }
    }
    case 'renewPreparations':
      throw new Error('nothing here expires')
    case 'changePermits':
      return withRecord(cluster, view, changePermits(cluster.record, plan.change))
    case 'withdraw': {
      const touched = plan.pods.map(({ permit }) => ({ permit, resourceVersion: String(Number(permit.podResourceVersion) + 1_500) }))
      const pods = cluster.pods.map((seen) => {
        const version = touched.find(({ permit }) => permit.podUid === seen.pod.metadata.uid)?.resourceVersion
        return version === undefined
          ? seen
          : { ...seen, pod: { ...seen.pod, metadata: { ...seen.pod.metadata, resourceVersion: version } } }
      })
      const answers = touched.map(({ permit, resourceVersion }) => ({ permit, answer: { kind: 'standing' as const, resourceVersion } }))
      return withRecord({ ...cluster, pods }, view, recordTouches(cluster.record, answers))
    }
    default:
      return plan satisfies never
  }
}

function withRecord(cluster: RuledCluster, view: PassView, record: FlightRecord): Standing {
  const changed = { ...cluster, record }
  const { fleet, confirmations } = toView(changed)
  const read = new Map([...confirmations, ...view.confirmations])
  return { cluster: changed, view: { ...view, record, fleet, confirmations: read, podsSeen: '9999999' } }
}
