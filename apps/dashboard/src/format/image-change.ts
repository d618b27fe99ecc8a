/** @returns the tag of an image (with the first digits of a digest); the image without its registry if it has neither */
export function imageVersion(image: string): string {
  const last = image.slice(image.lastIndexOf('/') + 1)
  const [named = '', digest] = last.split('@', 2)
  const tag = named.includes(':') ? named.slice(named.lastIndexOf(':') + 1) : null
  if (digest !== undefined) return tag ?? digest.replace(/^sha256:/, '').slice(0, 12)
  return tag ?? last
}

/** One image of a container, before and after. */
export interface ImageChange {
  readonly from: string
  readonly to: string
}

/**
 * Pairs the images of two revisions by container.
 *
 * @returns the images that differ; an image that only one revision has counts as changed from or to `none`
 */
export function imageChanges(from: readonly string[], to: readonly string[]): readonly ImageChange[] {
  const length = Math.max(from.length, to.length)
  const pairs = Array.from({ length }, (_, at) => ({ from: from[at] ?? 'none', to: to[at] ?? 'none' }))
  return pairs.filter((pair) => pair.from !== pair.to)
}
