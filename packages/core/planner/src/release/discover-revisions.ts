import { type FleetView, keptPerBlock, type NodeView } from '@tranche/fleet'
import { canonicalJson, type ControllerRevision, type DaemonSet, REVISION_HASH_LABEL } from '@tranche/kube-types'

/** What is known of the revisions of a DaemonSet, by `controller-revision-hash`. */
export type Discovery =
  | FoundRevisions
  /** The DaemonSet controller has not observed the latest generation, or our view of its revisions lags. */
  | { readonly kind: 'pending'; readonly why: 'generation' | 'revision' }

/** The two revisions between which a release goes. */
export interface FoundRevisions {
  readonly kind: 'found'
  readonly canary: string
  readonly stable: string
}

/** What discovery looks at. */
export interface DiscoveryView {
  readonly daemonSet: DaemonSet
  /** ControllerRevisions that the DaemonSet controls, in any order. */
  readonly revisions: readonly ControllerRevision[]
  readonly fleet: FleetView
  /** The last revision that a release of ours completed. */
  readonly lastStable: string | undefined
}

/**
 * Finds the canary and the stable revision. The canary is the revision that holds the current template. The stable one
 * is the last that a release of ours completed, if nodes still run it; else the one that most desired nodes run, of two that as many run not the canary (after a release
 * of ours to another revision: of the nodes that do not run the canary, while there are such, also where the ControllerRevision of what they run has gone); else the
 * second newest; with one revision only, both are the same.
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

function stableOf(view: DiscoveryView, hashes: readonly string[], canary: string): string | undefined {
  const { lastStable } = view
  if (lastStable !== undefined && hashes.includes(lastStable) && runs(view.fleet, lastStable)) return lastStable
  const counts = [...nodesByHash(view.fleet)].sort(
    ([a, countOfA], [b, countOfB]) =>
      countOfB - countOfA || Number(a === canary) - Number(b === canary) || hashes.indexOf(a) - hashes.indexOf(b),
  )
  const running = counts.map(([hash]) => hash)
  const byNodes = running.filter((hash) => hashes.includes(hash))
  // Taken for stable, a canary that a release of ours has not completed would pass all its steps at once.
  const isReleasing = lastStable !== undefined && lastStable !== canary
  if (isReleasing) {
    // The last is a revision without its ControllerRevision: to a DaemonSet that was created again the earlier ones do not belong.
    const candidates = [...byNodes, ...(byNodes.length === 0 ? hashes.slice(1, 2) : []), ...running]
    const other = candidates.find((hash) => hash !== canary)
    if (other !== undefined) return other
  }
  return byNodes[0] ?? hashes[1] ?? hashes[0]
}

/** Whether a desired node runs the revision, or none of them runs any. */
function runs(fleet: FleetView, revision: string): boolean {
  const running = nodesByHash(fleet)
  return running.has(revision) || running.size === 0
}

/** The revision of the oldest standing pod of a desired node. */
function runningHash({ desired, pods }: NodeView): string | undefined {
  return desired ? pods.find((pod) => !pod.terminating)?.hash : undefined
}

/** How many desired nodes run each revision, by that of the oldest standing pod. */
export function nodesByHash(fleet: FleetView): ReadonlyMap<string, number> {
  const known = nodesByHashOf.get(fleet)
  if (known !== undefined) return known
  const counts = new Map<string, number>()
  nodesByHashOf.set(fleet, counts)
  for (const block of hashesPerBlock(fleet, null)) for (const [hash, count] of block) counts.set(hash, (counts.get(hash) ?? 0) + count)
  return counts
}

/** One pass asks several times of the same view. */
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

/** The revision's hash: its label, else its name, as the DaemonSet controller takes it. */
export function hashOf(revision: ControllerRevision): string {
  return revision.metadata.labels?.[REVISION_HASH_LABEL] ?? revision.metadata.name
}

/** @returns the pod template that the revision holds; undefined where it holds none */
export function templateOf(revision: ControllerRevision): object | undefined {
  const data = revision.data as { readonly spec?: { readonly template?: object } } | undefined
  return data?.spec?.template
}

/** A template as one text. Without the directive of a strategic patch and without nulls (Kubernetes < 1.34 stores one). */
export function templateText(template: object | undefined): string {
  if (template === undefined) return ''
  const known = templateTexts.get(template)
  if (known !== undefined) return known
  const text = canonicalJson(template, (key, member) => key !== '$patch' && member !== null)
  templateTexts.set(template, text)
  return text
}

/** Templates are frozen and asked for in every pass; their text is worked out once. */
const templateTexts = new WeakMap<object, string>()
