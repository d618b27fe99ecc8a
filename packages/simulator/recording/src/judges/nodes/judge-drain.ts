import { EVICTION, type RecordedNode, type RecordedWrite } from '../../record/recorded-write.ts'
import { type Consumers, followConsumers, type ForeignPod } from '../../world/consumers.ts'
import type { DaemonSetStory } from '../../world/daemon-set-story.ts'
import type { Cause, Decision } from '../../world/observations.ts'
import type { RecordedRelease } from '../../world/stops.ts'
import type { RecordedDrain, RecordedTerms } from '../../world/terms.ts'
import type { Deletion } from '../../world/world.ts'
import type { Judge, JudgeParts } from '../judge-parts.ts'

/** A node that was found drained counts as drained for this time, with the requests of the reading. A drain takes as long from its decision. */
const CURRENT_MS = 20_000

/** Time after the last permit of a node within which it is schedulable again, if nothing holds our processes up. */
const RELEASED_MS = 120_000

/**
 * Judges what a policy with `drain` asks for. G4: we delete no pod of the DaemonSet while a consumer is on its node, and evict only consumers,
 * on nodes with a permit. G11: we cordon only such nodes, and make no node schedulable that another actor cordoned. G7: in the end no node
 * keeps our cordon.
 */
export function createDrainJudge(parts: JudgeParts): Judge {
  return new DrainJudge(parts)
}

/** Permits of one node in one record. */
interface NodePermit {
  readonly story: DaemonSetStory
  /** Write that removed the last one; undefined while there is one. */
  readonly goneBy: Cause | undefined
}

interface Cordon {
  readonly actor: string
  readonly isOurs: boolean
}

class DrainJudge implements Judge {
  readonly #parts: JudgeParts
  readonly #consumers: Consumers = followConsumers()
  /** By node, then by DaemonSet. */
  readonly #permits = new Map<string, Map<DaemonSetStory, NodePermit>>()
  /** Writers that made nodes unschedulable, by node. */
  readonly #cordons = new Map<string, Cordon>()
  readonly #marked = new Set<string>()
  readonly #unschedulable = new Set<string>()

  constructor(parts: JudgeParts) {
    this.#parts = parts
  }

  onDeletion({ daemonSet, decision, pod, atMs }: Deletion): void {
    const possible = [...daemonSet.terms.possible(decision, this.#parts.observations)]
    for (const consumer of this.#consumers.on(pod.node)) {
      if (consumer.sinceMs > decision.atMs - CURRENT_MS || !possible.every((terms) => this.#mustWaitFor(consumer, terms))) continue
      const text = `the pod ${consumer.namespace}/${consumer.name} still uses the agent, and the policy says to wait until it has left`
      this.#parts.breach({ guarantee: 'G4', atMs, node: pod.node, text })
    }
  }

  onWrite(write: RecordedWrite): void {
    if (write.kind === 'Pod' && write.verb === 'delete' && write.resource === EVICTION) this.#judgeEviction(write)
    this.#consumers.onWrite(write)
    if (write.kind === 'BatchRelease') this.#followPermits(write)
    else if (write.kind === 'Node') this.#followNode(write)
  }

  atEnd(lastMs: number): void {
    const { quiescentFromMs } = this.#parts.query
    if (quiescentFromMs === undefined || lastMs - quiescentFromMs < RELEASED_MS) return
    for (const node of this.#marked) if (!this.#hasFreshPermit(node, lastMs)) this.#reportLeft(node, 'a mark of a drain', lastMs)
    for (const [node, { isOurs }] of this.#cordons)
      if (isOurs && !this.#hasFreshPermit(node, lastMs)) this.#reportLeft(node, 'our cordon', lastMs)
  }

  #mustWaitFor(pod: ForeignPod, terms: RecordedTerms | undefined): boolean {
    return terms?.drain !== undefined && terms.drain.onTimeout !== 'Continue' && this.#isConsumer(pod, terms.drain)
  }

  #isConsumer(pod: ForeignPod, { consumers = [] }: RecordedDrain): boolean {
    return this.#consumers.isConsumer(pod, consumers)
  }

  #judgeEviction(write: RecordedWrite): void {
    if (!this.#parts.query.isOurs(write.actor ?? '')) return
    const pod = this.#consumers.pod(String(write.o['uid']))
    if (pod === undefined) {
      // An eviction marks the pod, and later removes it.
      if (write.type !== 'DELETED') this.#breach('G4', write, 'we evict a pod that is of a DaemonSet or has finished')
      return
    }
    const isAskedFor = this.#mayDrain(pod.node, this.#parts.observations.decisionOf(write), (drain) => this.#isConsumer(pod, drain))
    if (!isAskedFor)
      this.#breach(
        'G4',
        { ...write, node: pod.node },
        `we evict ${pod.namespace}/${pod.name}, which no policy with a permit there asks for`,
      )
  }

  /** Whether a DaemonSet with a permit on the node, as far as the decider knows, has terms that ask for it. */
  #mayDrain(node: string, { actor, atMs }: Decision, asks: (drain: RecordedDrain) => boolean): boolean {
    const { observations } = this.#parts
    const decision = { actor, atMs: atMs - CURRENT_MS }
    return [...(this.#permits.get(node)?.values() ?? [])].some(({ story, goneBy }) => {
      if (goneBy !== undefined && observations.hasSeen(decision, goneBy)) return false
      return [...story.terms.possible(decision, observations)].some((terms) => terms?.drain !== undefined && asks(terms.drain))
    })
  }

  #followPermits({ o, namespace, type, t, rv }: RecordedWrite): void {
    const { spec, status } = o as unknown as RecordedRelease
    const name = spec?.workloadRef?.name
    const story = name === undefined ? undefined : this.#parts.world.story(namespace, name)
    if (story === undefined) return
    const now = new Set(type === 'DELETED' ? [] : (status?.flight?.permits ?? []).map(({ node }) => node))
    for (const node of now) this.#permitsOn(node).set(story, { story, goneBy: undefined })
    for (const [node, permits] of this.#permits)
      if (!now.has(node) && permits.has(story) && permits.get(story)?.goneBy === undefined)
        permits.set(story, { story, goneBy: { t, rv, of: 'batchreleases' } })
  }

  #permitsOn(node: string): Map<DaemonSetStory, NodePermit> {
    const permits = this.#permits.get(node) ?? new Map<DaemonSetStory, NodePermit>()
    this.#permits.set(node, permits)
    return permits
  }

  #followNode(write: RecordedWrite): void {
    const { unschedulable = false, cordonMark, name } = write.o as unknown as RecordedNode
    if (write.type === 'DELETED') {
      for (const one of [this.#marked, this.#unschedulable, this.#cordons]) one.delete(name)
      return
    }
    if (cordonMark === undefined) this.#marked.delete(name)
    else this.#marked.add(name)
    if (unschedulable === this.#unschedulable.has(name)) return
    if (unschedulable) this.#followCordon(write, name)
    else this.#followUncordon(write, name)
  }

  #followCordon(write: RecordedWrite, node: string): void {
    const { actor = '' } = write
    const isOurs = this.#parts.query.isOurs(actor)
    this.#unschedulable.add(node)
    this.#cordons.set(node, { actor, isOurs })
    const mayCordon = !isOurs || this.#mayDrain(node, this.#parts.observations.decisionOf(write), ({ cordon }) => cordon !== false)
    if (!mayCordon) this.#breach('G11', write, 'we cordon the node, which no policy with a permit there asks for')
  }

  #followUncordon(write: RecordedWrite, node: string): void {
    const cordon = this.#cordons.get(node)
    this.#unschedulable.delete(node)
    this.#cordons.delete(node)
    if (this.#parts.query.isOurs(write.actor ?? '') && cordon?.isOurs !== true)
      this.#breach('G11', write, `we make the node schedulable, which ${cordon?.actor ?? 'another actor'} cordoned`)
  }

  /** Whether a permit is on the node, or left it a short time ago. */
  #hasFreshPermit(node: string, nowMs: number): boolean {
    return [...(this.#permits.get(node)?.values() ?? [])].some(({ goneBy }) => goneBy === undefined || nowMs - goneBy.t < RELEASED_MS)
  }

  #reportLeft(node: string, what: string, atMs: number): void {
    this.#parts.breach({ guarantee: 'G7', atMs, node, text: `it still has ${what}, although it has no permit any more` })
  }

  #breach(guarantee: 'G4' | 'G11', { t, node }: RecordedWrite, text: string): void {
    this.#parts.breach({ guarantee, atMs: t, ...(node !== undefined && { node }), text })
  }
}
