import { ownValue } from './own-value.ts'
import type { RecordedPod, RecordedWrite } from '../record/recorded-write.ts'
import { matchesAll } from './eligibility.ts'
import type { RecordedConsumer } from './terms.ts'

/** A pod that is not of a DaemonSet, as it was last written. */
export interface ForeignPod {
  readonly namespace: string | undefined
  readonly name: string
  readonly node: string
  /** Epoch milliseconds since when it has been on its node with its present labels. */
  readonly sinceMs: number
  readonly o: RecordedPod
}

/** Pods that may use the agent of their node. */
export interface Consumers {
  /** Called for each write, before it is applied to the world. */
  onWrite(write: RecordedWrite): void
  /** @returns the pod of this uid that is on a node and has not finished; undefined without one */
  pod(uid: string): ForeignPod | undefined
  /** @returns such pods on the node */
  on(node: string): Iterable<ForeignPod>
  /** Whether one of the rules makes the pod a consumer. */
  isConsumer(pod: ForeignPod, rules: readonly RecordedConsumer[]): boolean
}

/** Starts without pods. */
export function followConsumers(): Consumers {
  const pods = new Map<string, ForeignPod>()
  /** Driver of each volume by its name, and volume of each claim by its namespace and name. */
  const drivers = new Map<string, string>()
  const volumes = new Map<string, string>()

  function followPod({ type, o, t, namespace }: RecordedWrite): void {
    const pod = o as unknown as RecordedPod
    const hasEnded = type === 'DELETED' || pod.phase === 'Succeeded' || pod.phase === 'Failed'
    if (hasEnded || pod.node === undefined || pod.bound !== true || pod.labels === undefined) return void pods.delete(pod.uid)
    const before = pods.get(pod.uid)
    const isSame = before !== undefined && JSON.stringify(before.o.labels) === JSON.stringify(pod.labels)
    pods.set(pod.uid, { namespace, name: pod.name, node: pod.node, sinceMs: isSame ? before.sinceMs : t, o: pod })
  }

  function driversOf({ namespace, o: { drivers: inline = [], claims = [] } }: ForeignPod): readonly string[] {
    return [...inline, ...claims.flatMap((claim) => drivers.get(volumes.get(`${namespace}/${claim}`) ?? '') ?? [])]
  }

  return {
    onWrite(write) {
      const { kind, namespace, o } = write
      const { metadata, spec } = o as unknown as StoredVolume
      if (kind === 'Pod') followPod(write)
      else if (kind === 'PersistentVolume') drivers.set(metadata.name, spec?.csi?.driver ?? '')
      else if (kind === 'PersistentVolumeClaim') volumes.set(`${namespace}/${metadata.name}`, spec?.volumeName ?? '')
    },
    pod: (uid) => pods.get(uid),
    *on(node) {
      for (const pod of pods.values()) if (pod.node === node) yield pod
    },
    isConsumer: (pod, rules) =>
      rules.some(({ selector, csiDriver, extendedResource }) => {
        if (selector !== undefined) return matchesLabels(selector, pod.o.labels ?? {})
        if (csiDriver !== undefined) return driversOf(pod).includes(csiDriver)
        return extendedResource !== undefined && (pod.o.extended ?? []).includes(extendedResource)
      }),
  }
}

function matchesLabels(selector: NonNullable<RecordedConsumer['selector']>, labels: Readonly<Record<string, string>>): boolean {
  const equal = Object.entries(selector.matchLabels ?? {})
  return equal.every(([key, value]) => ownValue(labels, key) === value) && matchesAll(selector.matchExpressions ?? [], labels)
}

/** @see core/v1 PersistentVolume and PersistentVolumeClaim */
interface StoredVolume {
  readonly metadata: { readonly name: string }
  readonly spec?: { readonly volumeName?: string; readonly csi?: { readonly driver?: string } }
}
