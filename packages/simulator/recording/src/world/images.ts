import type { RecordedPod, RecordedWrite } from '../record/recorded-write.ts'

/** Images on nodes, as the statuses of pods show them, and the helper pods that pull them. */
export interface ImagesOnNodes {
  /** Called for each write. */
  onWrite(write: RecordedWrite): void
  /** Whether a pod of the node had all of these images by `atMs` (epoch). */
  hadImages(node: string, images: readonly string[], atMs: number): boolean
  /** Whether a helper pod for this revision is on the node, and had pulled everything by `atMs` (epoch). */
  hasPulledFor(node: string, revision: string, atMs: number): boolean
  /** Helper pods that exist. */
  helpers(): Iterable<Helper>
}

/** A helper pod. */
export interface Helper {
  readonly name: string
  readonly namespace: string | undefined
  readonly node: string
  readonly revision: string
  /** Name of the BatchRelease that owns it. */
  readonly owner: string
  /** Epoch milliseconds; infinite until its images are there. */
  readonly pulledMs: number
}

/** Reasons for which a kubelet does not start a container whose image it has. */
const AFTER_PULL: ReadonlySet<string> = new Set([
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
  'CrashLoopBackOff',
])

/** Starts without images. */
export function followImages(): ImagesOnNodes {
  const sinceMs = new Map<string, Map<string, number>>()
  const helpers = new Map<string, Helper>()
  return {
    onWrite({ kind, type, o, t, namespace }) {
      if (kind === 'Node' && type === 'DELETED') sinceMs.delete(String(o['name']))
      if (kind !== 'Pod') return
      const pod = o as unknown as RecordedPod
      const { node, images = [], helper, uid, owner = '', name } = pod
      if (node === undefined) return
      const isPulled = hasImages(pod)
      if (isPulled) {
        const known = sinceMs.get(node) ?? new Map<string, number>()
        for (const image of images) if (!known.has(image)) known.set(image, t)
        sinceMs.set(node, known)
      }
      if (helper === undefined) return
      const pulledMs = helpers.get(uid)?.pulledMs ?? Number.POSITIVE_INFINITY
      if (type === 'DELETED' || pod.deleting) helpers.delete(uid)
      else helpers.set(uid, { name, namespace, node, revision: helper, owner, pulledMs: isPulled ? Math.min(pulledMs, t) : pulledMs })
    },
    hadImages: (node, images, atMs) => images.every((image) => (sinceMs.get(node)?.get(image) ?? Number.POSITIVE_INFINITY) <= atMs),
    hasPulledFor: (node, revision, atMs) =>
      [...helpers.values()].some((helper) => helper.node === node && helper.revision === revision && helper.pulledMs <= atMs),
    helpers: () => helpers.values(),
  }
}

function hasImages({ ready, phase, waiting }: RecordedPod): boolean {
  return ready || phase === 'Running' || AFTER_PULL.has(waiting ?? '')
}
