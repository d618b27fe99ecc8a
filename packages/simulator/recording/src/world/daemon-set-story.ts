import type { RecordedDaemonSet, RecordedNode, RecordedPod, RecordedWrite } from '../record/recorded-write.ts'
import { isWanted } from './eligibility.ts'
import { createNodeStory, isAvailable, isOld, type NodeStory, type PodStory } from './node-story.ts'
import { createOrders, type Orders, type RecordedFlight } from './orders.ts'
import { resolveLimit, resolvePolicyLimit } from './resolve-limit.ts'
import type { Cause, Decision, Observations } from './observations.ts'
import type { RecordedTerms } from './terms.ts'
import { createVersions, type Versions } from './versions.ts'

type Mutable<T> = { -readonly [K in keyof T]: T[K] }
type OwnNode = Mutable<Omit<NodeStory, 'pods'>> & { readonly pods: Map<string, Mutable<PodStory>> }

/** Number of ended pods remembered per node. */
const ENDED_PODS = 16

/** State of one DaemonSet so far in a recording: its nodes, its pods, and what was ordered. Times are epoch milliseconds. */
export class DaemonSetStory {
  readonly name: string
  readonly namespace: string | undefined
  /** Whether a Rollout or a BatchRelease has ever named it. */
  isNamed = false
  /** Whether a record was written without permits, which hand-made recordings may omit. */
  isWithoutPermits = false
  readonly orders: Orders = createOrders()
  /** Wanted nodes without an available pod. */
  readonly down = new Set<NodeStory>()
  /** Wanted nodes on which every pod that is not terminating runs the ordered revision. */
  readonly taken = new Set<NodeStory>()
  /** Nodes with a flight. */
  readonly inFlight = new Set<NodeStory>()
  /**
   * Nodes without an available pod since another actor deleted their permitted pod. Includes nodes whose permit was written when its writer
   * could not yet know that the pod was gone.
   */
  readonly robbed = new Set<NodeStory>()
  /** Policy terms, as the BatchRelease stated them. */
  readonly terms: Versions<RecordedTerms> = createVersions()
  /** Every version of the DaemonSet, oldest first; a deletion has no object. */
  readonly versions: { readonly cause: Cause; readonly o: RecordedDaemonSet | undefined }[] = []
  readonly #nodes = new Map<string, OwnNode>()
  /** Pods that others deleted, and the write that did it, on nodes without an available pod since. */
  readonly #lost = new Map<NodeStory, readonly { readonly uid: string; readonly by: Cause }[]>()
  readonly #unavailable = new Set<OwnNode>()
  /** Nodes that were wanted before, as they last were. */
  readonly #left: { readonly cause: Cause; readonly node: RecordedNode | undefined }[] = []
  readonly #minReadyByGeneration = new Map<number, number>()
  #wanted = 0
  #uid: string | undefined
  #minReadyMs = 0
  #revision: string | undefined

  constructor(name: string, namespace: string | undefined) {
    this.name = name
    this.namespace = namespace
  }

  /** The DaemonSet as last written; undefined before the first write and after its deletion. */
  get latest(): RecordedDaemonSet | undefined {
    return this.versions.at(-1)?.o
  }

  /** Number of wanted nodes. */
  get wanted(): number {
    return this.#wanted
  }

  /** Every node that exists or has had a pod. */
  nodes(): Iterable<NodeStory> {
    return this.#nodes.values()
  }

  node(name: string): NodeStory | undefined {
    return this.#nodes.get(name)
  }

  pod(uid: string, node: string): PodStory | undefined {
    return this.#nodes.get(node)?.pods.get(uid)
  }

  /**
   * @param isMeant of which nodes @default all
   * @returns largest number of nodes that the deciding process may have seen as wanted
   */
  mostWanted(decision: Decision, observations: Observations, isMeant?: (node: RecordedNode | undefined) => boolean): number {
    let unseen = 0
    for (let at = this.#left.length - 1; at >= 0 && !observations.hasSeen(decision, this.#left[at]!.cause); at--)
      if (isMeant?.(this.#left[at]!.node) !== false) unseen++
    if (isMeant === undefined) return this.#wanted + unseen
    return [...this.#nodes.values()].filter(({ wanted, node }) => wanted && isMeant(node)).length + unseen
  }

  /** @returns versions that the deciding process may have seen, oldest first */
  *possibleVersions(decision: Decision, observations: Observations): Iterable<RecordedDaemonSet> {
    for (let at = this.versions.length - 1; at >= 0; at--) {
      const { cause, o } = this.versions[at]!
      if (o !== undefined) yield o
      if (observations.hasSeen(decision, cause)) return
    }
  }

  /** @returns since when it has this template, or had it the last time, in epoch milliseconds; undefined: it never had */
  templateSinceMs(template: string): number | undefined {
    const last = this.versions.findLastIndex(({ o }) => o?.template === template)
    const before = this.versions.findLastIndex(({ o }, at) => at < last && o?.template !== template)
    return last === -1 ? undefined : this.versions[before + 1]?.cause.t
  }

  /** @returns largest `maxUnavailable` of policy or DaemonSet, as a number of nodes, that the deciding process may have seen as declared */
  mostDeclared(decision: Decision, observations: Observations): number {
    const wanted = this.mostWanted(decision, observations)
    let most = 0
    for (const terms of this.terms.possible(decision, observations)) {
      if (terms?.maxUnavailable !== undefined) most = Math.max(most, resolvePolicyLimit(terms.maxUnavailable, wanted))
      else for (const { strategy } of this.possibleVersions(decision, observations)) most = Math.max(most, resolveLimit(strategy, wanted))
    }
    return most
  }

  /** Applies what changes with time alone: pods become available. */
  advance(nowMs: number): void {
    for (const node of this.#unavailable) if (anyAvailable(node, nowMs)) this.#refresh(node, nowMs, null)
  }

  applyDaemonSet(write: RecordedWrite, cluster: Iterable<RecordedNode>): void {
    const cause: Cause = { t: write.t, rv: write.rv, of: 'daemonsets' }
    const before = this.latest
    const o = write.type === 'DELETED' ? undefined : (write.o as unknown as RecordedDaemonSet)
    if (o?.uid !== undefined && this.#uid !== undefined && o.uid !== this.#uid) this.#forgetPods(this.#uid, cause)
    this.versions.push({ cause, o })
    if (o === undefined) return
    this.#uid = o.uid
    if (o.generation !== undefined) this.#minReadyByGeneration.set(o.generation, minReadyOf(o))
    this.orders.followDaemonSet(o)
    this.#followOrders(write.t)
    if (before === undefined || !sameJson(before.placement, o.placement)) for (const node of cluster) this.applyNode(node.name, node, cause)
  }

  /** Follows a write of a node; `node` is undefined when it is gone. */
  applyNode(name: string, node: RecordedNode | undefined, cause: Cause): void {
    const story = this.#storyOf(name)
    const before = story.node
    story.node = node
    const { latest } = this
    const wanted = node !== undefined && latest !== undefined && isWanted(latest.placement, node)
    if (wanted === story.wanted) return
    story.wanted = wanted
    story.wantedBy = cause
    this.#wanted += wanted ? 1 : -1
    if (!wanted) {
      this.#left.push({ cause, node: node ?? before })
      this.#land(story)
    }
    story.up = false
    story.downBy = cause
    this.#refresh(story, cause.t, null)
  }

  applyPod(write: RecordedWrite, byUs: boolean): void {
    const seen = write.o as unknown as RecordedPod
    const name = seen.node ?? write.node
    if (name === undefined) return
    const story = this.#storyOf(name)
    const before = story.pods.get(seen.uid)
    const cause: Cause = { t: write.t, rv: write.rv, of: 'pods' }
    const ended = write.type === 'DELETED' || seen.deleting ? (before?.ended ?? cause) : null
    // A kubelet that writes late reports a restart in one write: Ready before and after, since another moment.
    const staysReady = before?.readySinceMs != null && before.last.readyAt === seen.readyAt
    const readySinceMs = seen.ready && ended === null ? (staysReady ? before.readySinceMs : write.t) : null
    const readyRv = readySinceMs === null ? null : staysReady ? before.readyRv : write.rv
    const neededMs = staysReady && readySinceMs !== null ? before.neededMs : this.#minReadyMs
    const deletedByUs = before?.deletedByUs === true || byUs
    if (before?.ended === null && ended !== null && !byUs) {
      this.#lost.set(story, [...(this.#lost.get(story) ?? []), { uid: seen.uid, by: cause }])
      if (this.orders.wasPermitted(seen.uid)) this.robbed.add(story)
    }
    story.pods.set(seen.uid, { uid: seen.uid, node: name, last: seen, rv: write.rv, readySinceMs, readyRv, neededMs, ended, deletedByUs })
    if (write.type === 'DELETED') forgetOldest(story)
    this.#refresh(story, write.t, cause)
  }

  /** The pod no longer belongs to this DaemonSet. */
  forgetPod({ uid, node }: PodStory, cause: Cause): void {
    const story = this.#storyOf(node)
    story.pods.delete(uid)
    this.#refresh(story, cause.t, cause)
  }

  /** Follows our deletion of the pod: a wanted node is in flight until another of its pods is available. */
  fly({ node, uid }: PodStory, sinceMs: number): void {
    const story = this.#storyOf(node)
    if (!story.wanted) return
    const { flight } = story
    story.flight = { sinceMs: Math.min(sinceMs, flight?.sinceMs ?? sinceMs), uids: new Set([...(flight?.uids ?? []), uid]) }
    this.inFlight.add(story)
  }

  /**
   * Takes over a record, for nodes and pods too.
   *
   * @param writer who decided it, and when; later deliveries are not held against it
   * @param isLost whether a write of another client, to an object that stays, has lost it
   */
  followRecord(flight: RecordedFlight | undefined, nowMs: number, writer: Decision, observations: Observations, isLost = false): void {
    if (flight !== undefined && flight.permits === undefined) this.isWithoutPermits = true
    this.orders.followRecord(flight, nowMs, this.mostDeclared(writer, observations), isLost)
    for (const [node, pods] of this.#lost)
      if (pods.some(({ uid, by }) => this.orders.isPermitted(uid) && !observations.hasSeen(writer, by))) this.robbed.add(node)
    this.#followOrders(nowMs)
  }

  #followOrders(nowMs: number): void {
    this.#setMinReady(nowMs)
    const { revision } = this.orders
    if (revision === this.#revision) return
    this.#revision = revision
    this.taken.clear()
    for (const node of this.#nodes.values()) this.#sort(node)
  }

  /** The larger `minReadySeconds` of the DaemonSet's current one and the one of the record's generation, in milliseconds. */
  mostMinReadyMs(): number {
    return Math.max(this.latest === undefined ? 0 : minReadyOf(this.latest), this.#recordedMinReadyMs ?? 0)
  }

  get #recordedMinReadyMs(): number | undefined {
    return this.#minReadyByGeneration.get(this.orders.flight?.generation ?? -1)
  }

  /** Takes the smaller `minReadySeconds` of the DaemonSet's current one and the one of the record's generation. */
  #setMinReady(nowMs: number): void {
    const { latest } = this
    if (latest === undefined) return
    this.#minReadyMs = Math.min(minReadyOf(latest), this.#recordedMinReadyMs ?? Number.POSITIVE_INFINITY)
    for (const node of this.#unavailable) {
      for (const pod of node.pods.values()) pod.neededMs = Math.min(pod.neededMs, this.#minReadyMs)
    }
    this.advance(nowMs)
  }

  #refresh(node: OwnNode, nowMs: number, cause: Cause | null): void {
    const up = anyAvailable(node, nowMs)
    if (node.up && !up && cause !== null) node.downBy = cause
    node.up = up
    if (up) this.#unavailable.delete(node)
    else this.#unavailable.add(node)
    if ([...node.pods.values()].some((pod) => isAvailable(pod, nowMs) && node.flight?.uids.has(pod.uid) !== true)) this.#land(node)
    this.#sort(node)
  }

  #land(node: OwnNode): void {
    node.flight = null
    this.inFlight.delete(node)
    this.#lost.delete(node)
    this.robbed.delete(node)
  }

  #sort(node: OwnNode): void {
    put(this.down, node, node.wanted && !node.up)
    put(this.taken, node, node.wanted && ![...node.pods.values()].some((pod) => isOld(pod, this.#revision)))
  }

  /** A DaemonSet of the same name is a new one: it owns none of the old one's pods. */
  #forgetPods(ownerUid: string, cause: Cause): void {
    for (const node of this.#nodes.values()) {
      for (const [uid, pod] of node.pods) if (pod.last.ownerUid === ownerUid) node.pods.delete(uid)
      this.#land(node)
      this.#refresh(node, cause.t, cause)
    }
  }

  #storyOf(name: string): OwnNode {
    const known = this.#nodes.get(name)
    if (known !== undefined) return known
    const story = createNodeStory(name) as OwnNode
    this.#nodes.set(name, story)
    return story
  }
}

function anyAvailable({ pods }: NodeStory, nowMs: number): boolean {
  for (const pod of pods.values()) if (isAvailable(pod, nowMs)) return true
  return false
}

function forgetOldest({ pods }: OwnNode): void {
  if (pods.size <= ENDED_PODS) return
  for (const [uid, pod] of pods) if (pod.ended !== null) return void pods.delete(uid)
}

function minReadyOf({ minReadySeconds = 0 }: RecordedDaemonSet): number {
  return minReadySeconds * 1000
}

function put<T>(set: Set<T>, item: T, isIn: boolean): void {
  if (isIn) set.add(item)
  else set.delete(item)
}

function sameJson(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b)
}
