import { ownValue } from '../world/own-value.ts'
import type { RecordedPod, RecordedWrite } from '../record/recorded-write.ts'
import type { DaemonSetStory } from '../world/daemon-set-story.ts'
import { isInMaintenance } from '../world/maintenance.ts'
import { followFormerRevisions, type FormerRevisions } from '../world/former-revisions.ts'
import type { NodeStory } from '../world/node-story.ts'
import { type RecordedFlight, type RecordedPermit, stepsIn } from '../world/orders.ts'
import type { Cause, Decision } from '../world/observations.ts'
import { mayBeTaken, type RecordedNodeRules, type RecordedTerms } from '../world/terms.ts'
import { followKeptNodes, type KeptNodes } from '../world/kept-nodes.ts'
import type { Deletion } from '../world/world.ts'
import type { Judge, JudgeParts } from './judge-parts.ts'
import { type Candidate, compareCandidates, isSorted } from '../world/pod-order.ts'

/**
 * G5: the writer of permits takes the first pods of the order, among those that its watches had reported and whose nodes the policy
 * includes. The order is: superseded revisions; then failed, crashing, pending, not ready, healthy; then the order of the policy; then the
 * oldest; then the name. Tolerated exceptions:
 *
 * - A node in maintenance is passed over, and so is a NotReady node, unless its kubelet answers and it runs a superseded revision. Such a
 *   node may come anywhere among the superseded.
 * - A revision that was stable once is not superseded, or still is in the view of the writer.
 * - Where the budget may be used up, pods that are not Ready may come before Ready ones of any revision. Nodes in flight, or with a permit
 *   still in the record, may come before others.
 * - Where the policy asks for checks of nodes, a node that may have failed one is passed over, see {@link KeptNodes}.
 * - Where a spread rule makes nodes with an available pod wait for nodes of the same value without one, the latter may come first. A pod
 *   may be available or not by any `minReadySeconds` that the writer may have seen.
 *
 * Judged only when deliveries to the writer were recorded and nothing delayed it. Permits that a record takes over from another one are no
 * choice. Nodes whose readiness or labels the writer may have seen otherwise are left out.
 */
export function createOrderJudge(parts: JudgeParts): Judge {
  return new OrderJudge(parts)
}

class OrderJudge implements Judge {
  readonly #parts: JudgeParts
  readonly #versions = new Map<string, Version[]>()
  readonly #nodeChanged = new Map<string, Cause>()
  readonly #kept: KeptNodes
  readonly #former: FormerRevisions
  /** Epoch milliseconds of the last write, by writer. */
  readonly #lastWriteMs = new Map<string, number>()

  constructor(parts: JudgeParts) {
    this.#parts = parts
    this.#kept = followKeptNodes(parts.query.failures ?? [], parts.query.clockSteps)
    this.#former = followFormerRevisions(parts.world, parts.observations, parts.query.isOurs)
  }

  onDeletion(deletion: Deletion): void {
    this.#kept.onDeletion(deletion)
  }

  onWrite(write: RecordedWrite): void {
    if (write.kind === 'Pod') remember(this.#versions, write)
    this.#kept.onWrite(write)
    this.#former.onWrite(write)
    if (write.kind === 'Node') this.#nodeChanged.set(String(write.o['name']), { t: write.t, rv: write.rv, of: 'nodes' })
    this.#judgeWrite(write)
    if (write.actor !== undefined) this.#lastWriteMs.set(write.actor, write.t)
  }

  #judgeWrite(write: RecordedWrite): void {
    const { world, query } = this.#parts
    if (write.kind !== 'BatchRelease' || !query.isOurs(write.actor ?? '') || write.type === 'DELETED') return
    const { spec, status } = write.o as {
      readonly spec?: { readonly workloadRef?: { readonly name: string } }
      readonly status?: { readonly flight?: RecordedFlight }
    }
    const story = spec?.workloadRef === undefined ? undefined : world.story(write.namespace, spec.workloadRef.name)
    if (story !== undefined && status?.flight !== undefined) this.#judgeAppend(write, story, status.flight)
  }

  #judgeAppend(write: RecordedWrite, story: DaemonSetStory, next: RecordedFlight): void {
    const { observations, breach } = this.#parts
    const known = new Set((story.orders.flight?.permits ?? []).map(idOf))
    const appended = (next.permits ?? []).filter((permit) => !known.has(idOf(permit)))
    const decision = observations.decisionOf(write)
    if (appended.length === 0 || story.orders.flight?.state !== 'open' || decision.atMs < (write.sent ?? write.t)) return
    let first: string | undefined
    for (const view of this.#viewsOf(story, decision, holderOf(write))) {
      const fault = this.#faultOf(story, next, appended, view)
      if (fault === null) return
      first ??= fault
    }
    if (first !== undefined) breach({ guarantee: 'G5', atMs: write.t, node: appended[0]!.node, text: first })
  }

  /** What the writer may have seen: with each of the terms, versions of pods, and stable revisions. */
  *#viewsOf(story: DaemonSetStory, decision: Decision, holder: string): Iterable<View> {
    const { observations } = this.#parts
    const stables = new Set([...story.possibleVersions(decision, observations)].map(({ annotations }) => annotations?.[STABLE]))
    const all = this.#former.possible(story, decision)
    const standing = this.#former.possible(story, decision, false)
    const sets = [all, standing, new Set<string>(), ...this.#former.states(story, decision)]
    const formers = new Map(sets.map((one) => [[...one].toSorted().join(' '), one])).values().toArray()
    for (const terms of new Set(story.terms.possible(decision, observations)))
      for (const position of observations.positions(decision, 'pods') ?? [])
        for (const stable of stables)
          for (const known of formers) yield { decision, holder, position, rules: terms?.nodes ?? {}, terms, stable, former: known }
  }

  /** @returns what is wrong with the choice as seen in this view; null when nothing is wrong, or the view does not show it */
  #faultOf(story: DaemonSetStory, next: RecordedFlight, appended: readonly RecordedPermit[], view: View): string | null {
    const all = candidatesIn(this.#versions, story, next, view)
    const chosen = appended.flatMap(({ podUid }) => all.find(({ uid }) => uid === podUid) ?? [])
    if (chosen.length < appended.length) return null
    const unfit = chosen.find((one) => this.#isUnfit(story, one, view))
    if (unfit !== undefined) return `${unfit.pod.name} was chosen on ${unfit.node}, which is NotReady`
    const ranked = chosen.filter(({ node }) => this.#isSureOf(story, node, view.decision))
    if (ranked.length === 0) return null
    const taken = new Set([...permittedNodes(story.orders.flight), ...permittedNodes(next)])
    const steps = stepsIn(next.scope)
    const others = all.filter(
      ({ node, place }) =>
        !taken.has(node) &&
        this.#isSureOf(story, node, view.decision) &&
        mayBeTaken(view.rules, place, steps) &&
        !this.#kept.mayBeKept(node, next.revision ?? '', { story, ...view }),
    )
    const faults = this.#variants(story, next, view).map((first) => faultOfChoice(ranked, others, { first, rules: view.rules }))
    return faults.includes(null) ? null : faults[0]!
  }

  /** Tolerated sort keys before the order of G5; the first is none. */
  #variants(story: DaemonSetStory, next: RecordedFlight, { decision, rules: { spread = [] } }: View): readonly Choice['first'][] {
    const kept = permittedNodes(story.orders.flight)
    const inFlightFirst = ({ node }: Candidate): number => (story.node(node)?.flight != null || kept.has(node) ? 0 : 1)
    const bothFirst = (one: Candidate): number => 2 * inFlightFirst(one) + brokenFirst(one)
    const variants = [(): number => 0, inFlightFirst, ...(this.#mayBeUsedUp(story, next, decision) ? [brokenFirst, bothFirst] : [])]
    if (spread.length === 0) return variants
    const downFirst = [
      (node: NodeStory) => node.up,
      (node: NodeStory) => this.#looksUp(story, node, decision),
      (node: NodeStory) => node.up && !this.#isAheadOf(node, decision),
    ].map(
      (isUp): Choice['first'] =>
        ({ node }) =>
          isUp(story.node(node)!) ? 1 : 0,
    )
    return [...variants, ...downFirst]
  }

  /**
   * Whether the writer may have seen the budget as used up: by the smaller of the declared limit and the one in the record, and by the longest
   * `minReadySeconds`.
   */
  #mayBeUsedUp(story: DaemonSetStory, next: RecordedFlight, decision: Decision): boolean {
    const { observations } = this.#parts
    const names = permittedNodes(story.orders.flight)
    for (const { name } of [...story.down, ...story.inFlight]) names.add(name)
    for (const node of story.nodes()) {
      const { name, pods, wanted } = node
      if (!wanted || names.has(name)) continue
      const isDownOrUnseen = [...pods.values()].some(
        ({ rv, last, ended }) =>
          (ended === null && !last.ready) || !observations.hasSeen(decision, { t: Number.POSITIVE_INFINITY, rv, of: 'pods' }),
      )
      if (isDownOrUnseen || !this.#looksUp(story, node, decision)) names.add(name)
    }
    return names.size >= Math.min(next.limit, story.mostDeclared(decision, observations))
  }

  /**
   * Whether the writer must have seen an available pod on the node. Uses the longest `minReadySeconds` that the DaemonSet may have had in
   * the writer's view, whatever the record's generation says. The wait starts when the writer's watch reported the pod as Ready.
   */
  #looksUp(story: DaemonSetStory, { pods }: NodeStory, decision: Decision): boolean {
    const { observations } = this.#parts
    const seconds = [...story.possibleVersions(decision, observations)].map(({ minReadySeconds = 0 }) => minReadySeconds)
    const neededMs = 1_000 * Math.max(0, ...seconds)
    return [...pods.values()].some(({ ended, readyRv }) => {
      if (ended !== null || readyRv === null) return false
      const deliveredMs = observations.deliveredAtMs(decision.actor, { t: Number.POSITIVE_INFINITY, rv: readyRv, of: 'pods' })
      return deliveredMs + neededMs <= decision.atMs
    })
  }

  /** Whether a pod may have seemed to come from the future: the server's clock was set, and the writer has had no answer since. */
  #isAheadOf({ pods }: NodeStory, { actor, atMs }: Decision): boolean {
    const answeredMs = this.#lastWriteMs.get(actor) ?? Number.NEGATIVE_INFINITY
    return [...pods.values()].some(
      ({ ended, last, readySinceMs }) =>
        ended === null && Date.parse(last.created ?? '') > atMs && readySinceMs !== null && answeredMs < readySinceMs,
    )
  }

  #isSureOf(story: DaemonSetStory, name: string, decision: Decision): boolean {
    const { wanted, node } = story.node(name) ?? {}
    const changed = this.#nodeChanged.get(name)
    const isFit = wanted === true && node?.ready === 'True' && !isInMaintenance(node)
    return isFit && (changed === undefined || this.#parts.observations.hasSeen(decision, changed))
  }

  /** Whether the node is certainly in maintenance, or NotReady and its kubelet does not answer or its pod runs the stable revision. */
  #isUnfit(story: DaemonSetStory, { node: name, pod }: Candidate, { decision, stable, former }: View): boolean {
    const { node } = story.node(name) ?? {}
    const changed = this.#nodeChanged.get(name)
    if (node === undefined || changed === undefined || !this.#parts.observations.hasSeen(decision, changed)) return false
    const { ready } = node
    if (isInMaintenance(node)) return true
    return ready === 'Unknown' || (ready === 'False' && pod.hash !== undefined && (pod.hash === stable || former.has(pod.hash)))
  }
}

const STABLE = 'rollouts.kruise.io/daemonset-stable-revision'

/** Decision, the version of pods and the stable revision that its watches had reported, and the rules that it followed. */
interface View {
  readonly decision: Decision
  /** Identity by which the BatchRelease holds Leases of nodes. */
  readonly holder: string
  readonly position: number
  readonly rules: RecordedNodeRules
  readonly terms: RecordedTerms | undefined
  readonly stable: string | undefined
  readonly former: ReadonlySet<string>
}

interface Version {
  readonly rv: number
  /** Undefined when the pod is gone. */
  readonly pod: RecordedPod | undefined
}

function remember(versions: Map<string, Version[]>, { type, rv, o }: RecordedWrite): void {
  const pod = o as unknown as RecordedPod
  const known = versions.get(pod.uid)
  const version = { rv, pod: type === 'DELETED' ? undefined : pod }
  if (known === undefined) versions.set(pod.uid, [version])
  else known.push(version)
}

type Versions = ReadonlyMap<string, readonly Version[]>

function holderOf({ o, namespace }: RecordedWrite): string {
  const { metadata } = o as { readonly metadata?: { readonly name: string; readonly uid: string } }
  return `tranche/${namespace}/${metadata?.name}/${metadata?.uid}`
}

/** Old pods that were not terminating, by their versions up to `position`. */
function candidatesIn(
  versions: Versions,
  story: DaemonSetStory,
  { revision }: RecordedFlight,
  { position, stable, former }: View,
): readonly Candidate[] {
  const candidates: Candidate[] = []
  for (const { name: node, node: place = { name: node }, pods } of story.nodes()) {
    for (const { uid } of pods.values()) {
      const pod = versionAt(versions.get(uid) ?? [], position)
      if (pod === undefined || pod.deleting || pod.hash === revision) continue
      candidates.push({ uid, node, place, pod, superseded: stable !== undefined && pod.hash !== stable && !former.has(pod.hash ?? '') })
    }
  }
  return candidates
}

function versionAt(versions: readonly Version[], position: number): RecordedPod | undefined {
  for (let at = versions.length - 1; at >= 0; at--) if (versions[at]!.rv <= position) return versions[at]!.pod
  return undefined
}

function permittedNodes(flight: RecordedFlight | undefined): Set<string> {
  return new Set((flight?.permits ?? []).map(({ node }) => node))
}

function brokenFirst({ pod }: Candidate): number {
  return pod.ready ? 1 : 0
}

/** One tolerated way to choose. */
interface Choice {
  /** Sort key before the order of G5; lower comes first. */
  readonly first: (one: Candidate) => number
  readonly rules: RecordedNodeRules
}

/** With a spread rule, nodes of another topology value may be passed over. */
function faultOfChoice(chosen: readonly Candidate[], others: readonly Candidate[], { first, rules }: Choice): string | null {
  const compare = (a: Candidate, b: Candidate): number => first(a) - first(b) || compareCandidates(a, b, rules)
  const { spread = [] } = rules
  if (spread.length === 0 && !isSorted(chosen, compare))
    return `the permits are out of order: ${chosen.map(({ pod }) => pod.name).join(', ')}`
  const last = chosen.at(-1)!
  const isOfItsKind = ({ place }: Candidate): boolean =>
    spread.every(({ topologyKey }) => ownValue(place.labels, topologyKey) === ownValue(last.place.labels, topologyKey))
  const passedOver = others.find((other) => isOfItsKind(other) && compare(other, last) < 0)
  return passedOver === undefined ? null : `${last.pod.name} was chosen before ${passedOver.pod.name} on ${passedOver.node}`
}

function idOf({ podUid, podResourceVersion }: RecordedPermit): string {
  return `${podUid}@${podResourceVersion}`
}
