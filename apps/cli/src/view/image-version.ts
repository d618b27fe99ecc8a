/** @returns the tag of an image, or the image without its registry if it has no tag */
export function versionOf(image: string | undefined): string | null {
  if (image === undefined || image === '') return null
  const last = image.slice(image.lastIndexOf('/') + 1)
  return last.includes(':') ? last.slice(last.lastIndexOf(':') + 1) : last
}
