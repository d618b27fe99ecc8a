import {
  EVICTION,
  type RecordedDaemonSet,
  type RecordedNode,
  type RecordedPod,
  type RecordedRevision,
  type RecordedWrite,
} from '../record/recorded-write.ts'
import { DaemonSetStory } from './daemon-set-story.ts'
import type { PodStory } from './node-story.ts'
import type { Cause, Decision, Observations } from './observations.ts'
import { createStops, type RecordedRelease, type RecordedRollout, type Stops } from './stops.ts'

/** Deletion that the server has accepted, before it is applied to the story. */
export interface Deletion {
  readonly write: RecordedWrite
  readonly atMs: number
  readonly decision: Decision
  readonly daemonSet: DaemonSetStory
  readonly stops: Stops
  readonly pod: PodStory
  /** When this version of the pod was permitted to be deleted; undefined when no record permits it. */
  readonly permittedMs: number | undefined
}

/** State of a cluster so far in a recording. */
export interface World {
  /**
   * @returns our deletion in this write, if there is one; to be asked before the write is applied. `stranger`: the pod has no owner, or its
   * DaemonSet does not exist, as the deciding process must have known. Null also where the process may not have known that its DaemonSet has
   * ended: the garbage collector removes such a pod, which still names the uid of its owner.
   */
  deletionOf(write: RecordedWrite): Deletion | 'stranger' | null
  /** State of the written object before the write; only DaemonSets, Rollouts and BatchReleases. */
  before(write: RecordedWrite): Readonly<Record<string, unknown>> | undefined
  /** Applies one write. */
  apply(write: RecordedWrite): void
  stories(): Iterable<DaemonSetStory>
  /** @returns story of the DaemonSet of this name; undefined before its first write */
  story(namespace: string | undefined, name: string): DaemonSetStory | undefined
  stopsOf(daemonSet: DaemonSetStory): Stops
  /** Existing Rollouts that reference the DaemonSet. */
  rolloutsOf(daemonSet: DaemonSetStory): readonly RecordedRollout[]
  /** Digest of the template in a revision; undefined when no ControllerRevision shows it. */
  templateOf(hash: string): string | undefined
}

/** Starts with an empty cluster. @param isOurs whether deletions of this actor are ours */
export function createWorld(isOurs: (actor: string) => boolean, observations: Observations): World {
  return new RecordedWorld(isOurs, observations)
}

class RecordedWorld implements World {
  readonly #isOurs: (actor: string) => boolean
  readonly #observations: Observations
  readonly #nodes = new Map<string, RecordedNode>()
  readonly #stories = new Map<string, DaemonSetStory>()
  readonly #stops = new Map<DaemonSetStory, Stops>()
  readonly #homes = new Map<string, { readonly story: DaemonSetStory; readonly node: string }>()
  readonly #objects = new Map<string, RecordedWrite>()
  readonly #templates = new Map<string, string>()
  /** By uid, the write that ended a DaemonSet. */
  readonly #ended = new Map<string, Cause>()

  constructor(isOurs: (actor: string) => boolean, observations: Observations) {
    this.#isOurs = isOurs
    this.#observations = observations
  }

  deletionOf(write: RecordedWrite): Deletion | 'stranger' | null {
    if (!isDeletion(write, this.#isOurs)) return null
    const { uid, helper, ownerUid = '' } = write.o as unknown as RecordedPod
    if (helper !== undefined && !this.#homes.has(uid)) return null
    const ended = this.#ended.get(ownerUid)
    if (ended !== undefined && !this.#observations.hasSeen(this.#observations.decisionOf(write), ended)) return null
    const { story: daemonSet, node = '' } = this.#homes.get(uid) ?? {}
    const pod = daemonSet?.pod(uid, node)
    if (daemonSet === undefined || pod === undefined || daemonSet.versions.length === 0) return 'stranger'
    if (isRest(write, pod)) return null
    daemonSet.advance(write.t)
    const permittedMs = daemonSet.orders.permittedAt(uid, pod.rv)
    const decision = this.#observations.decisionOf(write)
    return { write, atMs: write.t, decision, daemonSet, stops: this.stopsOf(daemonSet), pod, permittedMs }
  }

  before(write: RecordedWrite): Readonly<Record<string, unknown>> | undefined {
    return this.#objects.get(keyOf(write))?.o
  }

  apply(write: RecordedWrite): void {
    for (const story of this.#stories.values()) story.advance(write.t)
    if (write.kind === 'Pod') this.#applyPod(write)
    else if (write.kind === 'Node') this.#applyNode(write)
    else if (write.kind === 'DaemonSet') this.#applyDaemonSet(write)
    else if (write.kind === 'ReleasePolicy') this.#applyPolicy(write)
    else if (write.kind === 'BatchRelease') this.#applyRelease(write)
    else if (write.kind === 'Rollout') this.#applyRollout(write)
    else if (write.kind === 'ControllerRevision') this.#applyRevision(write)
    if (!remembered.has(write.kind)) return
    if (write.type === 'DELETED') this.#objects.delete(keyOf(write))
    else this.#objects.set(keyOf(write), write)
  }

  stories(): Iterable<DaemonSetStory> {
    return this.#stories.values()
  }

  story(namespace: string | undefined, name: string): DaemonSetStory | undefined {
    return this.#stories.get(`${namespace}/${name}`)
  }

  stopsOf(daemonSet: DaemonSetStory): Stops {
    return this.#stops.get(daemonSet)!
  }

  rolloutsOf(daemonSet: DaemonSetStory): readonly RecordedRollout[] {
    return [...this.#objects.values()]
      .filter(({ kind, namespace }) => kind === 'Rollout' && namespace === daemonSet.namespace)
      .map(({ o }) => o as unknown as RecordedRollout)
      .filter(({ spec }) => spec.workloadRef?.name === daemonSet.name)
  }

  templateOf(hash: string): string | undefined {
    return this.#templates.get(hash)
  }

  #applyPod(write: RecordedWrite): void {
    const { uid, owner, ownerUid, helper } = write.o as unknown as RecordedPod
    const home = this.#homes.get(uid)
    const story = owner === undefined ? undefined : this.#storyOf(write.namespace, owner)
    // A helper pod has an owner of the same name, a BatchRelease, also while there is no DaemonSet.
    const isUnknown = ownerUid === undefined || (story?.latest?.uid === undefined && helper === undefined)
    const isHis = story !== undefined && (isUnknown || story.latest?.uid === ownerUid)
    if (home !== undefined && (home.story !== story || !isHis)) {
      const pod = home.story.pod(uid, home.node)
      if (pod !== undefined) home.story.forgetPod(pod, { t: write.t, rv: write.rv, of: 'pods' })
      this.#homes.delete(uid)
    }
    if (story === undefined || !isHis) return
    story.applyPod(write, isDeletion(write, this.#isOurs))
    const node = (write.o as unknown as RecordedPod).node ?? write.node
    if (write.type === 'DELETED') this.#homes.delete(uid)
    else if (node !== undefined) this.#homes.set(uid, { story, node })
  }

  #applyNode({ type, o, t, rv }: RecordedWrite): void {
    const node = o as unknown as RecordedNode
    const next = type === 'DELETED' ? undefined : node
    if (next === undefined) this.#nodes.delete(node.name)
    else this.#nodes.set(node.name, next)
    for (const story of this.#stories.values()) story.applyNode(node.name, next, { t, rv, of: 'nodes' })
  }

  #applyDaemonSet(write: RecordedWrite): void {
    const story = this.#storyOf(write.namespace, String(write.o['name']))
    this.#followEnd(write, story.latest?.uid)
    if (story.latest?.template !== (write.o as unknown as RecordedDaemonSet).template) this.stopsOf(story).forgiveFailures()
    story.applyDaemonSet(write, this.#nodes.values())
  }

  /** @param before uid of the DaemonSet before the write */
  #followEnd({ type, o, t, rv }: RecordedWrite, before: string | undefined): void {
    const hasEnded = type === 'DELETED' || o['uid'] !== before
    if (before !== undefined && hasEnded && !this.#ended.has(before)) this.#ended.set(before, { t, rv, of: 'daemonsets' })
    // Recordings may name one uid for all DaemonSets.
    if (type !== 'DELETED') this.#ended.delete(String(o['uid']))
  }

  /** Writes to its status are ours and change nothing. */
  #applyPolicy(write: RecordedWrite): void {
    if (this.#isOurs(write.actor ?? '')) return
    for (const story of this.#stories.values()) if (story.namespace === write.namespace) this.stopsOf(story).forgiveFailures()
  }

  #applyRelease(write: RecordedWrite): void {
    const { spec, status } = write.o as unknown as RecordedRelease
    const name = spec?.workloadRef?.name
    if (name === undefined) return
    const story = this.#storyOf(write.namespace, name)
    story.isNamed = true
    this.stopsOf(story).followRelease(write)
    if (write.type === 'ADDED' && !this.#isOurs(write.actor ?? '')) this.stopsOf(story).releaseWritten()
    const terms = write.type === 'DELETED' ? undefined : spec?.tranche
    if (JSON.stringify(terms) !== JSON.stringify(story.terms.latest))
      story.terms.push({ t: write.t, rv: write.rv, of: 'batchreleases' }, terms)
    const flight = write.type === 'DELETED' ? undefined : status?.flight
    if (flight === story.orders.flight) return
    const isLost = flight === undefined && write.type !== 'DELETED' && !this.#isOurs(write.actor ?? '')
    story.followRecord(flight, write.t, this.#observations.decisionOf(write), this.#observations, isLost)
  }

  #applyRollout(write: RecordedWrite): void {
    const { spec, status } = write.o as unknown as RecordedRollout
    const name = spec.workloadRef?.name
    if (name === undefined) return
    const story = this.#storyOf(write.namespace, name)
    story.isNamed = true
    this.stopsOf(story).followRollout(write)
    // The write was made from a version that another template had already replaced: that lifts the failure, even if the template came
    // first.
    const template = this.#templates.get(status?.canaryStatus?.canaryRevision ?? '')
    if (template !== undefined && story.latest !== undefined && template !== story.latest.template) this.stopsOf(story).forgiveFailures()
  }

  /** F15: a ControllerRevision that names the uid of a DaemonSet in another namespace is none of its revisions. */
  #applyRevision({ o, namespace }: RecordedWrite): void {
    const { hash, template, ownerUid } = o as unknown as RecordedRevision
    const isForged = [...this.#stories.values()].some(({ latest, namespace: home }) => latest?.uid === ownerUid && home !== namespace)
    if (hash !== undefined && template !== undefined && (ownerUid === undefined || !isForged)) this.#templates.set(hash, template)
  }

  #storyOf(namespace: string | undefined, name: string): DaemonSetStory {
    const known = this.story(namespace, name)
    if (known !== undefined) return known
    const story = new DaemonSetStory(name, namespace)
    this.#stories.set(`${namespace}/${name}`, story)
    this.#stops.set(story, createStops())
    return story
  }
}

const remembered: ReadonlySet<string> = new Set(['DaemonSet', 'Rollout', 'BatchRelease', 'ReleasePolicy'])

/** Whether one of our deletions made this write of a Pod. */
/** An eviction deletes a pod too, but not for a permit. */
function isDeletion({ kind, verb, resource, actor = '' }: RecordedWrite, isOurs: (actor: string) => boolean): boolean {
  return kind === 'Pod' && verb === 'delete' && resource !== EVICTION && isOurs(actor)
}

/** One request marks and removes a pod without grace period, in two writes. */
function isRest({ type, t }: RecordedWrite, { ended, deletedByUs }: PodStory): boolean {
  return type === 'DELETED' && deletedByUs && ended?.t === t
}

function keyOf({ kind, namespace, o }: RecordedWrite): string {
  const name = (o['metadata'] as { readonly name?: string } | undefined)?.name ?? o['name']
  return `${kind} ${namespace}/${String(name)}`
}
