import type { RecordedPod, RecordedWrite, Recording } from '@tranche/recording'

/** A node whose agent reads other config than before. */
export interface SeenChange {
  readonly node: string
  readonly content: string
  /** `batch`: a pod replaced one that an executor had deleted. `pod`: it replaced another one. `mount`: it reached a running pod. */
  readonly by: 'batch' | 'pod' | 'mount'
}

interface Mounted {
  readonly node: string
  readonly names: readonly string[]
  content: string
}

/**
 * Mounts ConfigMaps and Secrets into the pods of a recording as kubelets do, but at once: a running pod reads each new content of the objects that it names.
 *
 * @param fromMs changes before this time do not count, in epoch milliseconds
 */
export function seenChanges(writes: Recording['writes'], fromMs: number): readonly SeenChange[] {
  const contents = new Map<string, string>()
  const pods = new Map<string, Mounted>()
  const onNodes = new Map<string, { readonly content: string; readonly isDeletedByUs: boolean }>()
  const seen: SeenChange[] = []
  const report = (t: number, change: SeenChange): void => void (t >= fromMs && seen.push(change))
  const read = (names: readonly string[]): string => names.map((name) => contents.get(name) ?? '').join()
  const followPod = (write: RecordedWrite): void => {
    const { uid, node, config = [], secrets = [], deleting } = write.o as unknown as RecordedPod
    const names = [...config.map((name) => `ConfigMap/${name}`), ...secrets.map((name) => `Secret/${name}`)]
    if (node === undefined || names.length === 0) return
    const known = pods.get(uid)
    if (write.type === 'DELETED' || deleting) {
      pods.delete(uid)
      const isDeletedByUs = (write.actor ?? '').startsWith('executor') || onNodes.get(node)?.isDeletedByUs === true
      onNodes.set(node, { content: known?.content ?? onNodes.get(node)?.content ?? '', isDeletedByUs })
    } else if (known === undefined) {
      const content = read(names)
      pods.set(uid, { node, names, content })
      const before = onNodes.get(node)
      if (before !== undefined && before.content !== content) report(write.t, { node, content, by: before.isDeletedByUs ? 'batch' : 'pod' })
      onNodes.set(node, { content, isDeletedByUs: false })
    }
  }
  for (const write of writes) {
    if (write.kind === 'Pod') followPod(write)
    if (write.kind !== 'ConfigMap' && write.kind !== 'Secret') continue
    const { metadata, data } = write.o as { readonly metadata: { readonly name: string }; readonly data?: object }
    const object = `${write.kind}/${metadata.name}`
    if (write.type === 'DELETED') contents.delete(object)
    else contents.set(object, JSON.stringify(data))
    for (const pod of pods.values()) {
      const content = read(pod.names)
      if (content === pod.content) continue
      pod.content = content
      report(write.t, { node: pod.node, content, by: 'mount' })
    }
  }
  return seen
}
