import { BY_STAMPS, type FleetNode, FleetIndex, type FleetPod, type FleetView, toFleetPod, toFleetView } from '@tranche/fleet'
import { type DaemonSet, REVISION_HASH_LABEL } from '@tranche/kube-types'

/** Parts of a fleet that the user may read; undefined: refused. */
export interface FleetParts {
  readonly nodes: readonly FleetNode[] | undefined
  readonly pods: readonly FleetPod[] | undefined
}

/** Revisions of a release, between which the pods of a count are divided. */
export interface CountedRevisions {
  readonly update: string
  readonly stable: string
}

/** A fleet for the revisions of one Rollout; the same object for all Rollouts with the same revisions. */
export type FleetOf = (revisions: CountedRevisions) => FleetView

/**
 * Builds the view of a fleet from the readable parts: without nodes from the pods alone, and without pods from the counts of the DaemonSet.
 * A node without its object counts as Ready, and has no labels.
 */
export function partialFleet(daemonSet: DaemonSet, { nodes, pods }: FleetParts): FleetOf {
  if (pods === undefined) return createFleetsOfCounts(daemonSet)
  const fleet = nodes === undefined ? fleetOfPods(pods) : wholeFleet(daemonSet, nodes, pods)
  return () => fleet
}

/** Most Rollouts of a DaemonSet have the same revisions. */
function createFleetsOfCounts(daemonSet: DaemonSet): FleetOf {
  const known = new Map<string, FleetView>()
  return (revisions) => {
    const text = `${revisions.update} ${revisions.stable}`
    const fleet = known.get(text) ?? fleetOfCounts(daemonSet, revisions)
    known.set(text, fleet)
    return fleet
  }
}

function wholeFleet(daemonSet: DaemonSet, nodes: readonly FleetNode[], pods: readonly FleetPod[]): FleetView {
  const index = new FleetIndex()
  for (const node of nodes) index.nodeChanged(undefined, node)
  for (const pod of pods) index.podChanged(undefined, pod)
  return index.view(daemonSet)
}

function fleetOfPods(pods: readonly FleetPod[]): FleetView {
  const byNode = Map.groupBy(pods, ({ node }) => node)
  const names = [...byNode.keys()].sort((a, b) => (a < b ? -1 : 1))
  return toFleetView(names.map((name) => ({ name, pods: byNode.get(name) ?? [], ...unreadNode })))
}

const unreadNode = { desired: true, ready: true, answers: true, labels: {} } as const

/** Unnamed nodes with as many updated and available pods as the DaemonSet counts, for totals only. */
function fleetOfCounts(daemonSet: DaemonSet, revisions: CountedRevisions): FleetView {
  const { desiredNumberScheduled = 0, updatedNumberScheduled = 0, numberAvailable = 0 } = daemonSet.status ?? {}
  const nodes = Array.from({ length: desiredNumberScheduled }, (_, at) => {
    const revision = at < updatedNumberScheduled ? revisions.update : revisions.stable
    const pod = toFleetPod(countedPod({ daemonSet, at, revision, ready: at < numberAvailable }), undefined, BY_STAMPS)
    return { name: String(at).padStart(6, '0'), pods: pod === null ? [] : [pod], ...unreadNode }
  })
  return toFleetView(nodes)
}

interface CountedPod {
  readonly daemonSet: DaemonSet
  readonly at: number
  readonly revision: string
  readonly ready: boolean
}

function countedPod({ daemonSet, at, revision, ready }: CountedPod): Parameters<typeof toFleetPod>[0] {
  const { name, uid, namespace = '' } = daemonSet.metadata
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `${name}-${at}`,
      namespace,
      uid: `${uid}-${at}`,
      resourceVersion: '0',
      labels: { [REVISION_HASH_LABEL]: revision },
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name, uid, controller: true }],
    },
    spec: { nodeName: String(at).padStart(6, '0') },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
  }
}
