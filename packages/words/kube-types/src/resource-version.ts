/**
 * Compares two resource versions as integers. They may exceed the safe integers, so they are compared as decimal text without leading
 * zeros.
 *
 * @returns negative if `a` is older than `b`, 0 if equal, positive if newer; an empty version is older than any other
 * @see Kubernetes 1.35, KEP-5504: resource versions are comparable integers
 */
export function compareResourceVersions(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length
  return a < b ? -1 : a > b ? 1 : 0
}

/** @returns the newer of two resource versions */
export function newerResourceVersion(a: string, b: string): string {
  return compareResourceVersions(a, b) >= 0 ? a : b
}
