import type { BatchRelease } from '@tranche/api-schema'

/**
 * Name of the release that a verdict is about, with what is remembered for it. A BatchRelease written by hand has no name of its own:
 * each revision that its record opens for is a release.
 */
export function judgedRelease({ spec, status }: Pick<BatchRelease, 'spec' | 'status'>): string {
  return spec.tranche?.release ?? status?.flight?.revision ?? ''
}
