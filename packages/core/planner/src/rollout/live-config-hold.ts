import type { ConfigHold } from '@tranche/config'
import { discoverRevisions } from '../release/view/discover-revisions.ts'
import { firstNodes } from '../release/progress/unwell-text.ts'
import type { RolloutView } from './view/rollout-view.ts'

/**
 * Why a release holds although its template names copies: the cluster shows pods of the present revision that read the objects themselves.
 * Whatever keeps the API server from naming copies, more such pods would follow. Pods of other revisions are about to be replaced.
 *
 * @returns null without such a pod
 */
export function liveConfigHold({ daemonSet, revisions, fleet }: RolloutView): ConfigHold | null {
  const live = fleet.nodes.flatMap(({ name, pods }) =>
    pods.flatMap((pod) => (pod.liveConfig === undefined || pod.terminating ? [] : [{ ...pod, node: name, object: pod.liveConfig }])),
  )
  if (live.length === 0 || daemonSet === undefined) return null
  const found = discoverRevisions({ daemonSet, revisions, fleet, lastStable: undefined })
  const own = found.kind === 'pending' ? [] : live.filter(({ hash }) => hash === found.canary)
  const [first] = own
  if (first === undefined) return null
  const message = `config: Pin: pods of revision ${first.hash} read ${first.object.replace('/', ' ')} itself and no copy, on ${firstNodes(own.map(({ node }) => node))}. See that the API server applies the policy for pods (rbac.configPin: true in the chart, and helm upgrade). Then delete these pods, or replace them in batches with kubectl rollout restart daemonset/${daemonSet.metadata.name}`
  return { reason: 'ReadByPods', message }
}
