import type { BatchRelease, Failure, StoppedTime, WatchedNode } from '@tranche/api-schema'

type Judged = Pick<BatchRelease, 'spec' | 'status'>

/**
 * Name of the release that a verdict and its recorded facts belong to. A hand-written BatchRelease has no release name: each
 * revision that its record opens for is a release. After the end of a release, the nodes that it left are judged under another
 * name: the stops and deadlines of the release do not apply to them.
 */
export function judgedRelease(release: Judged): string {
  return isAfterEnd(release) ? nameAfterEnd(nameOf(release)) : nameOf(release)
}

/** @returns what the status says about the nodes and stops of the release at hand; what it says about an earlier one does not count */
export function recordedFacts(release: Judged): { readonly watched: readonly WatchedNode[]; readonly stopped: StoppedTime | undefined } {
  const { watchedNodes = [], stoppedTime } = release.status ?? {}
  const isOfRelease = stoppedTime?.release === judgedRelease(release)
  return isOfRelease ? { watched: watchedNodes, stopped: stoppedTime } : { watched: [], stopped: undefined }
}

/** @returns the name under which failures on nodes are known that the release of this name left */
export function nameAfterEnd(name: string): string {
  return `${name}${LEFT}`
}

/** Whether a failure of this name is of nodes that a release left. */
export function isOfNodesLeft(name = ''): boolean {
  return name.endsWith(LEFT)
}

const LEFT = '/left'

function nameOf({ spec, status }: Judged): string {
  return spec.tranche?.release ?? status?.flight?.revision ?? ''
}

/** Whether only nodes that a release has left are still to be updated: it has ended, or started again for them. */
export function isAfterEnd({ spec }: Pick<BatchRelease, 'spec'>): boolean {
  return spec.tranche?.left !== undefined
}

/**
 * Nodes whose failures count; undefined: every node. After the end of a release, only nodes that it left count: a crash on
 * another one, weeks later, is no reason to stop.
 */
export function judgedNodes({ spec }: Pick<BatchRelease, 'spec'>): ReadonlySet<string> | undefined {
  const names = spec.tranche?.left?.nodes
  if (names === undefined) return undefined
  const known = judgedSets.get(names) ?? new Set(names)
  judgedSets.set(names, known)
  return known
}

/** The set of each list: every pass and every report asks, and a list of a spec never changes. */
const judgedSets = new WeakMap<readonly string[], ReadonlySet<string>>()

/** @returns hash of the revision being released; undefined before a hand-written BatchRelease has a record */
export function releasedRevision({ spec, status }: Judged): string | undefined {
  return spec.tranche?.canaryRevision ?? status?.flight?.revision
}

/**
 * Whether it is a rollback to the stable revision. Never for a hand-written BatchRelease, which names no revision, nor for nodes that a release of
 * that revision left.
 */
export function isWayBack({ spec: { tranche } }: Judged): boolean {
  return tranche?.canaryRevision !== undefined && tranche.canaryRevision === tranche.stableRevision && tranche.left === undefined
}

/** Failure in the status if it belongs to this release; undefined for one of an earlier release. */
export function knownFailure(release: Judged): Failure | undefined {
  const { failure } = release.status ?? {}
  return failure?.release === judgedRelease(release) ? failure : undefined
}

/** Nodes whose failures a retry accepted. They stay accepted after the end of the release. */
export function acceptedBefore(release: Judged): readonly string[] {
  const { failure } = release.status ?? {}
  const isKnown = failure?.release === judgedRelease(release) || failure?.release === nameOf(release)
  return isKnown ? (failure.accepted ?? []) : []
}
