import {
  controllerKeyOf,
  keyOf,
  keyText,
  type ControllerRevision,
  type DaemonSet,
  type Node,
  type Pod,
  ownerKeyOf,
} from '@tranche/kube-types'
import { resources, type SimClient } from '@tranche/sim-api'
import { createInformer, type Informer, type InformerEvents } from '../machinery/informer.ts'
import { isPlacingChanged } from '../placement/node-eligibility.ts'
import { createOwnedPods, type OwnedPods } from './owned-pods.ts'

/** Cache of the DaemonSet controller; each of the four watches lags independently. */
export interface DaemonSetCache {
  readonly daemonSets: Informer<DaemonSet>
  readonly pods: Informer<Pod>
  readonly nodes: Informer<Node>
  readonly revisions: Informer<ControllerRevision>
  readonly owned: OwnedPods
  /** Revisions of the DaemonSet, and those in its namespace without a controller. */
  revisionsFor(daemonSet: DaemonSet): readonly ControllerRevision[]
  readonly synced: Promise<unknown>
  stop(): void
}

/** Callbacks after the cache has applied a change. */
export interface CacheEvents {
  readonly daemonSets: Required<InformerEvents<DaemonSet>>
  readonly pods: Required<InformerEvents<Pod>>
  readonly nodes: Pick<Required<InformerEvents<Node>>, 'added' | 'updated'>
  readonly revisions: Required<InformerEvents<ControllerRevision>>
}

/** Starts the four watches. */
export function createDaemonSetCache(client: SimClient, events: CacheEvents): DaemonSetCache {
  const revisionsByOwner: RevisionsByOwner = new Map()
  const touchNode = ({ metadata }: Node): void => owned.touchNode(metadata.name)
  const nodes = createInformer<Node>(client, resources.nodes, nodeEvents(touchNode, events.nodes))
  const owned = createOwnedPods(nodes)
  const pods = createInformer<Pod>(client, resources.pods, podEvents(owned, events.pods))
  const revisions = createInformer(client, resources.controllerRevisions, revisionEvents(revisionsByOwner, events.revisions))
  const daemonSets = createInformer<DaemonSet>(client, resources.daemonSets, {
    ...events.daemonSets,
    deleted(daemonSet) {
      owned.forget(ownerKeyOf(daemonSet))
      events.daemonSets.deleted(daemonSet)
    },
  })
  const all = [daemonSets, pods, nodes, revisions]
  return {
    daemonSets,
    pods,
    nodes,
    revisions,
    owned,
    revisionsFor: (daemonSet) => [
      ...(revisionsByOwner.get(ownerKeyOf(daemonSet))?.values() ?? []),
      ...(revisionsByOwner.get(orphansOf(daemonSet.metadata.namespace ?? ''))?.values() ?? []),
    ],
    synced: Promise.all(all.map((informer) => informer.synced)),
    stop: () => all.forEach((informer) => informer.stop()),
  }
}

/** Revisions by their key, by the key of their owner. */
type RevisionsByOwner = Map<string, Map<string, ControllerRevision>>

function nodeEvents(touchNode: (node: Node) => void, events: CacheEvents['nodes']): InformerEvents<Node> {
  return {
    added(node) {
      touchNode(node)
      events.added(node)
    },
    updated(node, before) {
      if (isPlacingChanged(node, before)) touchNode(node)
      events.updated(node, before)
    },
    // The controller does not act on this event, but its next read must not count the node.
    deleted: touchNode,
  }
}

function podEvents(owned: OwnedPods, events: CacheEvents['pods']): InformerEvents<Pod> {
  return {
    added(pod) {
      owned.put(pod)
      events.added(pod)
    },
    updated(pod, before) {
      owned.put(pod)
      events.updated(pod, before)
    },
    deleted(pod) {
      owned.remove(pod)
      events.deleted(pod)
    },
  }
}

function revisionEvents(byOwner: RevisionsByOwner, events: CacheEvents['revisions']): InformerEvents<ControllerRevision> {
  return {
    added(revision) {
      index(byOwner, revision)
      events.added(revision)
    },
    updated(revision, before) {
      unindex(byOwner, before)
      index(byOwner, revision)
      events.updated(revision, before)
    },
    deleted(revision) {
      unindex(byOwner, revision)
      events.deleted(revision)
    },
  }
}

function index(byOwner: RevisionsByOwner, revision: ControllerRevision): void {
  const owner = ownerOf(revision)
  let owned = byOwner.get(owner)
  if (owned === undefined) byOwner.set(owner, (owned = new Map()))
  owned.set(keyText(keyOf(revision)), revision)
}

function unindex(byOwner: RevisionsByOwner, revision: ControllerRevision): void {
  const owner = ownerOf(revision)
  const owned = byOwner.get(owner)
  owned?.delete(keyText(keyOf(revision)))
  if (owned?.size === 0) byOwner.delete(owner)
}

function ownerOf(revision: ControllerRevision): string {
  return controllerKeyOf(revision) ?? orphansOf(revision.metadata.namespace ?? '')
}

/** Placeholder owner of orphans; no uid has a colon. */
function orphansOf(namespace: string): string {
  return `orphans:${namespace}`
}
