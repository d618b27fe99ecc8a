import type { BatchRelease, Failure } from '@tranche/api-schema'

type Judged = Pick<BatchRelease, 'spec' | 'status'>

/**
 * Name of the release that a verdict and its recorded facts belong to. A hand-written BatchRelease has no release name: each
 * revision that its record opens for is a release.
 */
export function judgedRelease({ spec, status }: Judged): string {
  return spec.tranche?.release ?? status?.flight?.revision ?? ''
}

/** @returns hash of the revision being released; undefined before a hand-written BatchRelease has a record */
export function releasedRevision({ spec, status }: Judged): string | undefined {
  return spec.tranche?.canaryRevision ?? status?.flight?.revision
}

/** Whether it is a rollback to the stable revision. Never for a hand-written BatchRelease, which names no revision. */
export function isWayBack({ spec: { tranche } }: Judged): boolean {
  return tranche?.canaryRevision !== undefined && tranche.canaryRevision === tranche.stableRevision
}

/** Failure in the status if it belongs to this release; undefined for one of an earlier release. */
export function knownFailure(release: Judged): Failure | undefined {
  const { failure } = release.status ?? {}
  return failure?.release === judgedRelease(release) ? failure : undefined
}
