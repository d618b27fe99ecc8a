import type { RecordedPod, RecordedWrite } from '../../record/recorded-write.ts'
import type { DaemonSetStory } from '../../world/daemon-set-story.ts'
import { followImages } from '../../world/images.ts'
import type { Cause } from '../../world/observations.ts'
import type { RecordedFlight } from '../../world/orders.ts'
import type { Deletion } from '../../world/world.ts'
import type { Judge, JudgeParts } from '../judge-parts.ts'

/** Time in which executors delete helper pods that nothing needs any more: two sweeps. */
const CLEANED_MS = 90_000

/**
 * G1: where the policy asks for images to be pulled first, and says Hold, a node whose pod we delete has the images of the new one. Judged
 * by the new pod that the node gets. Tolerated where the template has changed meanwhile, or before the executor could know (F1).
 *
 * G7: no helper pod is left long after the record that needed it was closed.
 */
export function createPrePullJudge(parts: JudgeParts): Judge {
  return new PrePullJudge(parts)
}

interface Taken {
  readonly deletion: Deletion
  readonly template: string | undefined
}

class PrePullJudge implements Judge {
  readonly #parts: JudgeParts
  readonly #images = followImages()
  /** By DaemonSet and node. */
  readonly #taken = new Map<DaemonSetStory, Map<string, Taken>>()
  /** When the record of a BatchRelease was closed, in epoch milliseconds, by namespace and name; absent while it is open. */
  readonly #closedMs = new Map<string, number>()
  readonly #open = new Set<string>()
  /** Template of a DaemonSet, and the write that set it, by namespace and name. */
  readonly #templates = new Map<string, { readonly template: unknown; readonly cause: Cause }>()

  constructor(parts: JudgeParts) {
    this.#parts = parts
  }

  onDeletion(deletion: Deletion): void {
    const { daemonSet, decision, pod } = deletion
    const possible = [...daemonSet.terms.possible(decision, this.#parts.observations)]
    if (!possible.every((terms) => terms?.prePull !== undefined && terms.prePull.onFailure !== 'Continue')) return
    const change = this.#templates.get(`${daemonSet.namespace}/${daemonSet.name}`)?.cause
    if (change !== undefined && !this.#parts.observations.hasSeen(decision, change)) return
    const byNode = this.#taken.get(daemonSet) ?? new Map<string, Taken>()
    byNode.set(pod.node, { deletion, template: daemonSet.latest?.template })
    this.#taken.set(daemonSet, byNode)
  }

  onWrite(write: RecordedWrite): void {
    if (write.kind === 'Pod') this.#judgeNewPod(write)
    if (write.kind === 'BatchRelease') this.#followRecord(write)
    if (write.kind === 'DaemonSet') this.#followTemplate(write)
    this.#images.onWrite(write)
  }

  atEnd(lastMs: number): void {
    const { quiescentFromMs } = this.#parts.query
    if (quiescentFromMs === undefined) return
    for (const { name, namespace, node, owner } of this.#images.helpers()) {
      const key = `${namespace}/${owner}`
      const closedMs = this.#open.has(key) ? Number.POSITIVE_INFINITY : (this.#closedMs.get(key) ?? 0)
      const sinceMs = lastMs - Math.max(closedMs, quiescentFromMs)
      if (sinceMs < CLEANED_MS) continue
      const text = `helper pod ${name} is left ${Math.round(sinceMs / 1_000)} s after the record of ${key} was closed`
      this.#parts.breach({ guarantee: 'G7', atMs: lastMs, node, text })
    }
  }

  #judgeNewPod({ o, namespace, t }: RecordedWrite): void {
    const { uid, owner, node, images = [], helper } = o as unknown as RecordedPod
    const story = owner === undefined || helper !== undefined ? undefined : this.#parts.world.story(namespace, owner)
    if (story === undefined || node === undefined) return
    const taken = this.#taken.get(story)?.get(node)
    if (taken === undefined || uid === taken.deletion.pod.uid) return
    this.#taken.get(story)?.delete(node)
    if (story.latest?.template !== taken.template || this.#images.hadImages(node, images, taken.deletion.atMs)) return
    const text = `its new pod needs images that were not there when the old one was deleted, although the policy asks for that: ${images.join(', ')}`
    this.#parts.breach({ guarantee: 'G1', atMs: t, node, text })
  }

  #followTemplate({ namespace, o: { name, template }, t, rv }: RecordedWrite): void {
    const key = `${namespace}/${String(name)}`
    if (this.#templates.get(key)?.template !== template) this.#templates.set(key, { template, cause: { t, rv, of: 'daemonsets' } })
  }

  #followRecord({ type, o, namespace, t }: RecordedWrite): void {
    const { metadata, status } = o as {
      readonly metadata?: { readonly name?: string }
      readonly status?: { readonly flight?: RecordedFlight }
    }
    const key = `${namespace}/${metadata?.name}`
    const isOpen = type !== 'DELETED' && status?.flight?.state === 'open'
    if (isOpen) this.#open.add(key)
    else if (this.#open.delete(key) || !this.#closedMs.has(key)) this.#closedMs.set(key, t)
  }
}
