import { BY_STAMPS, isDesiredNode, toFleetNode, toFleetPod } from '@tranche/fleet'
import type { Node } from '@tranche/kube-types'
import { batchScope, isInScope, type OrderReason, orderReasonOf } from '@tranche/fence'
import { hashOf, templateOf, templateText } from '@tranche/planner'
import { nodeOf, revisionOf, type Taken } from './timeline.ts'
import type { ForecastInputs } from './to-forecast.ts'

/** @returns function that explains the position of a node */
export function createOrderReasons({ snapshot, timeline }: ForecastInputs): (taken: Taken) => string {
  const nodes = new Map(snapshot.nodes.map((node) => [node.metadata.name, toFleetNode(node, undefined, BY_STAMPS)]))
  const { canaryRevision: canary = '', stableRevision: stable, leftRevisions: left = [], nodes: rules } = timeline.firstSpec ?? {}
  const textOf = (taken: Taken): string => {
    const node = nodes.get(taken.node)
    const pod = toFleetPod(taken.pod, undefined, BY_STAMPS)
    if (node === undefined || pod === null) return ''
    const view = { ...node, desired: true, pods: [pod] }
    const scope = batchScope(rules, rules?.steps === undefined ? null : taken.batch - 1)
    return orderReasonText(orderReasonOf({ node: view, pod }, { canary, stable, left, scope }), taken.batch)
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
      const by = reason.by === undefined ? '' : `, ${orderText[reason.by] ?? reason.by}`
      return `nodes.order[${reason.key}] of the policy${by}`
    }
    default:
      return reason satisfies never
  }
}

const orderText: Readonly<Record<string, string>> = { Oldest: 'oldest pod first', Newest: 'newest pod first', Name: 'by name' }

/** @returns function that explains why a node is not updated; it returns undefined for a node outside the DaemonSet */
export function createUntaken({ snapshot, daemonSet, timeline }: ForecastInputs): (node: Node) => string | undefined {
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
      return pods.length === 0 ? undefined : 'the DaemonSet does not place a pod there'
    if (pods.some((pod) => revisionOf(pod) === released)) return 'already runs the new version'
    if (!node.ready) return 'NotReady: skipped, and updated once it is Ready'
    if (node.maintenance !== undefined) return 'in maintenance: skipped, and updated afterwards'
    if (!isInScope(scope, node)) return 'excluded by nodes.exclude of the policy'
    if (updated.has(node.name)) return 'gets the new version without a deletion'
    return timeline.begunMs === null ? 'nothing is released' : 'the release does not reach this node'
  }
}
