import { type FleetPod, type FleetView, keptPerBlock, type NodeView } from '@tranche/fleet'
import { canonicalJson, type ControllerRevision, type DaemonSet, REVISION_HASH_LABEL } from '@tranche/kube-types'
import { frozenRevision, isFrozenReturn } from './frozen-annotation.ts'

/** Revisions of a DaemonSet, by `controller-revision-hash`. */
export type Discovery =
  | FoundRevisions
  /** The DaemonSet controller has not observed the latest generation, or our view of its revisions lags. */
  | { readonly kind: 'pending'; readonly why: 'generation' | 'revision' }

/** The revisions that a release goes from and to. */
export interface FoundRevisions {
  readonly kind: 'found'
  readonly canary: string
  readonly stable: string
}

/** Input of the discovery. */
export interface DiscoveryView {
  readonly daemonSet: DaemonSet
  /** ControllerRevisions that the DaemonSet controls, in any order. */
  readonly revisions: readonly ControllerRevision[]
  readonly fleet: FleetView
  /** Last revision that a Tranche release completed. */
  readonly lastStable: string | undefined
  /** Creation time of the Rollout, in RFC 3339. Undefined: it does not matter, or there is no Rollout. */
  readonly rolloutCreatedAt?: string | undefined
  /** Revisions that are blocked. Undefined: it does not matter, or there is no Rollout. */
  readonly blocked?: readonly string[] | undefined
}

/**
 * Finds the canary and the stable revision. The canary holds the present template. The stable revision is the first of these
 * that exists:
 * - the last one that a Tranche release completed, if desired nodes still run it. Nodes that are out for a while (a zone, a tainted pool)
 *   suffice while all others run the canary, or a version whose release was frozen. It also stays where a return to it was frozen, or
 *   where nodes run a blocked version beside those. While the history has it, no blocked version becomes stable (G12).
 * - the one that most desired nodes run; of two with as many nodes, the one that is not the canary. After a Tranche release
 *   of another revision, only nodes that do not run the canary count while there are any, even where the ControllerRevision
 *   they run is gone. So it is for a Rollout without a release, if no node ran the canary when it was created. A canary without a
 *   Ready pod has not run, even where other clients brought it to every node: the last one that a Tranche release completed stays.
 * - the second newest. With one revision only, both are the same.
 */
export function discoverRevisions(view: DiscoveryView): Discovery {
  const { daemonSet } = view
  if ((daemonSet.status?.observedGeneration ?? 0) < (daemonSet.metadata.generation ?? 0)) return { kind: 'pending', why: 'generation' }
  const newestFirst = [...view.revisions].sort((a, b) => b.revision - a.revision)
  const current = templateText(daemonSet.spec.template)
  const canary = newestFirst.find((revision) => templateText(templateOf(revision)) === current)
  if (canary === undefined) return { kind: 'pending', why: 'revision' }
  const hashes = newestFirst.map(hashOf)
  return { kind: 'found', canary: hashOf(canary), stable: stableOf(view, hashes, hashOf(canary)) ?? hashOf(canary) }
}

function stableOf(view: DiscoveryView, history: readonly string[], canary: string): string | undefined {
  const { lastStable, blocked = [] } = view
  const isKnown = lastStable !== undefined && history.includes(lastStable)
  if (isKnown && isStillRun(view, lastStable, canary)) return lastStable
  const mayBeStable = (hash: string): boolean => !isKnown || !blocked.includes(hash)
  const hashes = history.filter(mayBeStable)
  const counts = [...nodesByHash(view.fleet)]
    .filter(([hash]) => mayBeStable(hash))
    .sort(
      ([a, countOfA], [b, countOfB]) =>
        countOfB - countOfA || Number(a === canary) - Number(b === canary) || hashes.indexOf(a) - hashes.indexOf(b),
    )
  const running = counts.map(([hash]) => hash)
  const byNodes = running.filter((hash) => hashes.includes(hash))
  // A canary that no Tranche release completed must not count as stable: it would pass all its steps at once.
  const isReleasing = lastStable === undefined ? isNewer(view, canary) : lastStable !== canary
  if (isReleasing) {
    // The last one has no ControllerRevision: the DaemonSet was recreated, and earlier revisions do not belong to it.
    const candidates = [...byNodes, ...(byNodes.length === 0 ? hashes.slice(1, 2) : []), ...running]
    const other = candidates.find((hash) => hash !== canary)
    if (other !== undefined) return other
  }
  const found = byNodes[0] ?? hashes[1] ?? hashes[0]
  const isKept = found === canary && isKnown && !hasReadyPod(view.fleet, canary)
  return isKept ? lastStable : found
}

function hasReadyPod({ nodes }: FleetView, revision: string): boolean {
  return nodes.some(
    ({ desired, pods }) => desired && pods.some(({ hash, ready, terminating }) => hash === revision && ready && !terminating),
  )
}

/** Whether the canary is newer than the Rollout, as far as its pods show: all of them were created later. */
function isNewer({ fleet, rolloutCreatedAt }: DiscoveryView, canary: string): boolean {
  if (rolloutCreatedAt === undefined) return false
  const isOlder = ({ createdAt, hash, terminating }: FleetPod): boolean => !terminating && hash === canary && createdAt < rolloutCreatedAt
  return !fleet.nodes.some(({ desired, pods }) => desired && pods.some(isOlder))
}

/**
 * Whether a desired node runs the revision, or none runs any, or a return to it was frozen. Or only versions under release and blocked ones run
 * there, and a blocked one does, or others are out with the revision.
 */
function isStillRun({ fleet, daemonSet, blocked = [] }: DiscoveryView, revision: string, canary: string): boolean {
  const counts = nodesByHash(fleet)
  if (counts.has(revision) || counts.size === 0) return true
  if (revision === canary && isFrozenReturn(daemonSet, revision)) return true
  const running = [...counts.keys()]
  const released = [canary, frozenRevision(daemonSet), ...blocked]
  const runsBlocked = running.some((hash) => blocked.includes(hash))
  return running.every((hash) => released.includes(hash)) && (runsBlocked || isOnNodeOut(fleet, revision))
}

/** Whether a node that is not desired runs the revision: it is updated once it is desired again. */
function isOnNodeOut({ nodes }: FleetView, revision: string): boolean {
  return nodes.some(({ desired, pods }) => !desired && pods.some(({ hash, terminating }) => hash === revision && !terminating))
}

/** Revision of the oldest standing pod of a desired node. */
function runningHash({ desired, pods }: NodeView): string | undefined {
  return desired ? pods.find((pod) => !pod.terminating)?.hash : undefined
}

/** Number of desired nodes per revision, by the revision of their oldest standing pod. */
export function nodesByHash(fleet: FleetView): ReadonlyMap<string, number> {
  const known = nodesByHashOf.get(fleet)
  if (known !== undefined) return known
  const counts = new Map<string, number>()
  nodesByHashOf.set(fleet, counts)
  for (const block of hashesPerBlock(fleet, null)) for (const [hash, count] of block) counts.set(hash, (counts.get(hash) ?? 0) + count)
  return counts
}

/** One pass asks for the same view several times. */
const nodesByHashOf = new WeakMap<FleetView, ReadonlyMap<string, number>>()

const hashesPerBlock = keptPerBlock<null, ReadonlyMap<string, number>>({
  count(block) {
    const counts = new Map<string, number>()
    for (const node of block) {
      const hash = runningHash(node)
      if (hash !== undefined) counts.set(hash, (counts.get(hash) ?? 0) + 1)
    }
    return counts
  },
  holds: () => true,
})

/** The revision's hash: its label, else its name, as the DaemonSet controller reads it. */
export function hashOf(revision: ControllerRevision): string {
  return revision.metadata.labels?.[REVISION_HASH_LABEL] ?? revision.metadata.name
}

/** Whether the API server stored another revision of the history later: the template was the present one before. */
export function isOlderThanAnother(revisions: readonly ControllerRevision[], hash: string): boolean {
  const created = (one: ControllerRevision | undefined): string => one?.metadata.creationTimestamp ?? ''
  const own = created(revisions.find((one) => hashOf(one) === hash))
  return revisions.some((one) => hashOf(one) !== hash && created(one) > own)
}

/** @returns the pod template of the revision; undefined where it holds none */
export function templateOf(revision: ControllerRevision): object | undefined {
  const data = revision.data as { readonly spec?: { readonly template?: object } } | undefined
  return data?.spec?.template
}

/** The template as one text, without the directive of a strategic patch and without nulls (Kubernetes < 1.34 stores one). */
export function templateText(template: object | undefined): string {
  if (template === undefined) return ''
  const known = templateTexts.get(template)
  if (known !== undefined) return known
  const text = canonicalJson(template, (key, member) => key !== '$patch' && member !== null)
  templateTexts.set(template, text)
  return text
}

/** Templates are frozen and used in every pass, so their text is computed once. */
const templateTexts = new WeakMap<object, string>()
