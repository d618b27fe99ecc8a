import { valueIn } from '@tranche/kube-types'
import { BY_STAMPS, isDesiredNode, toFleetNode, toFleetPod } from '@tranche/fleet'
import type { Forecast } from '@tranche/api-schema'
import type { Node } from '@tranche/kube-types'
import { batchScope, isInScope, type OrderReason, orderReasonOf } from '@tranche/fence'
import { hashOf, templateOf, templateText } from '@tranche/planner'
import { nodeOf, revisionOf, type Taken } from './timeline.ts'
import type { ForecastInputs } from './to-forecast.ts'

/** @returns function that explains the position of a node */
export function createOrderReasons({ snapshot, timeline }: ForecastInputs): (taken: Taken) => string {
  const nodes = new Map(snapshot.nodes.map((node) => [node.metadata.name, toFleetNode(node, undefined, BY_STAMPS)]))
  const { canaryRevision: canary = '', stableRevision: stable, formerRevisions: former = [], nodes: rules } = timeline.firstSpec ?? {}
  const textOf = (taken: Taken): string => {
    const node = nodes.get(taken.node)
    const pod = toFleetPod(taken.pod, undefined, BY_STAMPS)
    if (node === undefined || pod === null) return ''
    const view = { ...node, desired: true, pods: [pod] }
    const scope = batchScope(rules, rules?.steps === undefined ? null : taken.batch - 1)
    return orderReasonText(orderReasonOf({ node: view, pod }, { canary, stable, former, scope }), taken.batch)
  }
  return textOf
}

function orderReasonText(reason: OrderReason, batch: number): string {
  switch (reason.rule) {
    case 'Superseded':
      return 'superseded revision first'
    case 'Failed':
      return 'failed pod before healthy ones'
    case 'Crashing':
      return 'crashing pod before healthy ones'
    case 'Pending':
      return 'pending pod before healthy ones'
    case 'NotReady':
      return 'unready pod before healthy ones'
    case 'Oldest':
      return `oldest pod of batch ${batch}`
    case 'Policy': {
      const by = reason.by === undefined ? '' : `, ${valueIn(orderText, reason.by) ?? reason.by}`
      return `nodes.order[${reason.key}] of the policy${by}`
    }
    default:
      return reason satisfies never
  }
}

const orderText: Readonly<Record<string, string>> = { Oldest: 'oldest pod first', Newest: 'newest pod first', Name: 'by name' }

type Untaken = Pick<Forecast['nodes'][number], 'reason' | 'cause'>

/**
 * @param dead names of the nodes that are dead at the start
 * @returns function that explains why a node is not updated; it returns undefined for a node outside the DaemonSet
 */
export function createUntaken(
  { snapshot, daemonSet, timeline }: ForecastInputs,
  dead: ReadonlySet<string>,
): (node: Node) => Untaken | undefined {
  const podsByNode = Map.groupBy(snapshot.pods, nodeOf)
  const planned = templateText(daemonSet.spec.template)
  const target = snapshot.revisions.find((one) => templateText(templateOf(one)) === planned)
  const released = timeline.canary ?? (target && hashOf(target))
  const updated = timeline.canary === undefined ? new Set() : timeline.nodesWith(timeline.canary)
  const scope = batchScope(timeline.firstSpec?.nodes, null)
  return (object) => {
    const node = toFleetNode(object, undefined, BY_STAMPS)
    const pods = podsByNode.get(node.name) ?? []
    if (!isDesiredNode(daemonSet.spec.template.spec ?? {}, object))
      return pods.length === 0 ? undefined : { reason: 'the DaemonSet does not place a pod there' }
    if (pods.some((pod) => revisionOf(pod) === released)) return { reason: 'already runs the new version' }
    if (!isInScope(scope, node)) return { reason: 'excluded by nodes.exclude of the policy', cause: 'Excluded' }
    if (dead.has(node.name)) return { reason: 'dead: updated on return', cause: 'Dead' }
    if (!node.ready) return { reason: 'NotReady: skipped, and updated once it is Ready', cause: 'NotReady' }
    if (node.maintenance !== undefined) return { reason: 'in maintenance: skipped, and updated afterwards', cause: 'Maintenance' }
    if (updated.has(node.name)) return { reason: 'gets the new version without a deletion' }
    return { reason: timeline.begunMs === null ? 'nothing is released' : 'not reached by the release' }
  }
}
