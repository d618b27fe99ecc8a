import type { BatchRelease, Failure } from '@tranche/api-schema'

type Judged = Pick<BatchRelease, 'spec' | 'status'>

/**
 * Name of the release that a verdict is about, with what is remembered for it. A BatchRelease written by hand has no name of its own:
 * each revision that its record opens for is a release.
 */
export function judgedRelease({ spec, status }: Judged): string {
  return spec.tranche?.release ?? status?.flight?.revision ?? ''
}

/** @returns hash of the revision that a release brings to its nodes; undefined before a BatchRelease written by hand has a record */
export function releasedRevision({ spec, status }: Judged): string | undefined {
  return spec.tranche?.canaryRevision ?? status?.flight?.revision
}

/** Whether it goes back to the stable revision. A BatchRelease written by hand names no revision, and never does. */
export function isWayBack({ spec: { tranche } }: Judged): boolean {
  return tranche?.canaryRevision !== undefined && tranche.canaryRevision === tranche.stableRevision
}

/** What the status says of this release, and not of the one before it. */
export function knownFailure(release: Judged): Failure | undefined {
  const { failure } = release.status ?? {}
  return failure?.release === judgedRelease(release) ? failure : undefined
}
