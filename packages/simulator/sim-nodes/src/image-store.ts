/** Annotation with value `"true"` on a Node: its kubelet reaches no registry, so images that it does not have cannot be pulled. */
export const NO_REGISTRY_ANNOTATION = 'sim.tranche.dev/no-registry'

/** Images of one node. Concurrent pulls of one image are one pull. */
export interface ImageStore {
  /** Whether the node has all of these images, or is pulling them. */
  has(images: readonly string[]): boolean
  /** Pulls what is missing, one image after the other. @returns milliseconds until the node has all of them */
  pull(images: readonly string[], nowMs: number): number
  /** The node has these images. */
  add(images: readonly string[]): void
}

/** Creates the empty store of a node. */
export function createImageStore(): ImageStore {
  const readyAtMs = new Map<string, number>()
  return {
    has: (images) => images.every((image) => readyAtMs.has(image)),
    pull(images, nowMs) {
      let atMs = nowMs
      for (const image of images) {
        atMs = Math.max(atMs, readyAtMs.get(image) ?? atMs + pullMs(image))
        if (!readyAtMs.has(image)) readyAtMs.set(image, atMs)
      }
      return atMs - nowMs
    },
    add(images) {
      for (const image of images) readyAtMs.set(image, Math.min(readyAtMs.get(image) ?? 0, 0))
    },
  }
}

/** Time to pull an image, in milliseconds: 60 s for a tag with `pull60s`, and none for other images. */
function pullMs(image: string): number {
  return 1000 * Number(/:[^/]*pull(\d+)s/.exec(image)?.[1] ?? 0)
}
