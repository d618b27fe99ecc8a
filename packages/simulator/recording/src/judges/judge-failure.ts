import type { RecordedNode, RecordedPod, RecordedWrite } from '../record/recorded-write.ts'
import type { DaemonSetStory } from '../world/daemon-set-story.ts'
import { isWantedOnReturn } from '../world/eligibility.ts'
import type { NodeStory, PodStory } from '../world/node-story.ts'
import type { RecordedPermit } from '../world/orders.ts'
import { inNodes } from '../world/resolve-limit.ts'
import type { Cause, Decision } from '../world/observations.ts'
import { followFormerRevisions, type FormerRevisions } from '../world/former-revisions.ts'
import type { RecordedRelease, RecordedRollout } from '../world/stops.ts'
import type { RecordedTerms } from '../world/terms.ts'
import type { Deletion } from '../world/world.ts'
import type { Judge, JudgeParts } from './judge-parts.ts'

/**
 * G9, for a failing version: no pod is deleted for it after the watches of the deciding process had reported failures on more nodes than
 * are tolerated. A status need not say so yet. Counts only nodes that were healthy when we updated them. Counts only waiting reasons that
 * follow a failure, and nodes whose kubelets fell silent after they had started the new pod, desired or not; timeouts are not judged. A
 * Rollout that is disabled or deleted and comes back changes nothing; another revision in between does. Once users read that the release
 * has ended, the nodes that it updated count no more; those that it left count from then on.
 */
export function createFailureJudge(parts: JudgeParts): Judge {
  return new FailureJudge(parts)
}

class FailureJudge implements Judge {
  readonly #parts: JudgeParts
  readonly #former: FormerRevisions
  /** Uid of each failing pod → its failure. */
  readonly #failing = new Map<string, Failing>()
  /** Uid of each pod that its kubelet has started → the write that first said so. */
  readonly #started = new Map<string, Cause>()
  /** Node whose kubelet has fallen silent → the write that first said so. */
  readonly #silent = new Map<string, Cause>()
  /** DaemonSet and node, of nodes that were healthy when we updated them. */
  readonly #fair = new Set<string>()
  /** DaemonSet → nodes whose failure the status says is accepted. */
  readonly #accepted = new Map<string, ReadonlySet<string>>()
  /** Rollouts whose last status says that their release has ended. */
  readonly #over = new Set<string>()
  /** Uid of each Ready pod → the write that made it so. */
  readonly #readyFrom = new Map<string, Cause>()
  /** Ready node → the write that made it so. */
  readonly #nodeReadyFrom = new Map<string, Cause>()
  /** DaemonSet → uid of each permitted pod → what the process knew when it wrote the permit. */
  readonly #permitted = new Map<string, ReadonlyMap<string, Known>>()
  /** Uids of the pods that we deleted on nodes that were healthy until then. */
  readonly #takenFromHealthy = new Set<string>()
  /** DaemonSet → revision last released. */
  readonly #released = new Map<string, string>()
  /** DaemonSet → last retry, and when it or another revision was written. */
  readonly #retried = new Map<string, { readonly retry: string | undefined; readonly t: number }>()

  constructor(parts: JudgeParts) {
    this.#parts = parts
    this.#former = followFormerRevisions(parts.world, parts.observations, parts.query.isOurs)
  }

  onDeletion(deletion: Deletion): void {
    this.#judgeDeletion(deletion)
    const { daemonSet, pod } = deletion
    const id = `${keyOf(daemonSet)} ${pod.node}`
    const isFair = this.#wasHealthy(deletion)
    if (isFair) this.#takenFromHealthy.add(pod.uid)
    if (isFair) this.#fair.add(id)
    else this.#fair.delete(id)
  }

  onWrite(write: RecordedWrite): void {
    this.#former.onWrite(write)
    if (write.kind === 'Pod') this.#followPod(write)
    else if (write.kind === 'Node') this.#followNode(write)
    else if (write.kind === 'BatchRelease') this.#followRelease(write)
    else if (write.kind === 'Rollout') this.#followRollout(write)
  }

  /**
   * Whether the node is healthy, or was before a version that is still starting there. Such a version was never stable, no pod has been available
   * since, and the record has the permit.
   */
  #wasHealthy({ daemonSet, decision, pod }: Deletion): boolean {
    const node = daemonSet.node(pod.node)
    if (node?.node?.ready !== 'True') return false
    const { orders } = daemonSet
    const last = [...(node.flight?.uids ?? [])].findLast((uid) => orders.isPermitted(uid))
    const isStarting = last !== undefined && this.#takenFromHealthy.has(last) && this.#isSuperseded(daemonSet, pod, decision)
    const ofNode = (orders.flight?.permits ?? []).filter((one) => one.node === pod.node && one.wasBad === true)
    if (ofNode.every(({ podUid }) => podUid !== pod.uid)) return node.up || isStarting
    // A process may not know yet that a version has become available on a node that was bad before it.
    if (ofNode.length > 1) return false
    const known = this.#permitted.get(keyOf(daemonSet))?.get(pod.uid)
    return known?.isNodeReady === true && (isStarting || (node.up && known.isPodReady))
  }

  /** Whether every process must know that the pod runs a version that was never stable. */
  #isSuperseded(daemonSet: DaemonSetStory, { last: { hash } }: PodStory, decision: Decision): boolean {
    const { observations } = this.#parts
    if (hash === undefined || this.#former.possible(daemonSet, decision).has(hash)) return false
    const stables = [...daemonSet.possibleVersions(decision, observations)].map(({ annotations }) => annotations?.[STABLE])
    return stables.every((stable) => stable !== undefined && stable !== hash)
  }

  #judgeDeletion(deletion: Deletion): void {
    const { observations, breach } = this.#parts
    const { daemonSet, pod, atMs } = deletion
    const { revision } = daemonSet.orders
    const stable = daemonSet.latest?.annotations?.[STABLE]
    if (revision === undefined || stable === undefined || stable === revision) return
    for (const terms of daemonSet.terms.possible(deletion.decision, observations)) if (!this.#isBroken(deletion, terms)) return
    const nodes = this.#failedNodes(deletion, undefined).join(', ')
    breach({ guarantee: 'G9', atMs, node: pod.node, text: `revision ${revision} had failed on ${nodes}, and the watches had reported it` })
  }

  #isBroken(deletion: Deletion, terms: RecordedTerms | undefined): boolean {
    const { failure } = terms ?? {}
    if (failure?.action === 'Continue') return false
    const { daemonSet, decision } = deletion
    const lost = [...daemonSet.nodes()].filter((node) => !node.wanted && isCounted(daemonSet, node)).length
    const tolerated = inNodes(failure?.maxFailedNodes ?? 0, daemonSet.mostWanted(decision, this.#parts.observations) + lost)
    return this.#failedNodes(deletion, terms).length > tolerated
  }

  #failedNodes({ daemonSet, decision, pod: { node: taken } }: Deletion, terms: RecordedTerms | undefined): readonly string[] {
    const key = keyOf(daemonSet)
    const names: string[] = []
    for (const node of daemonSet.nodes()) {
      const { name } = node
      if (name === taken || !this.#fair.has(`${key} ${name}`) || this.#accepted.get(key)?.has(name) === true) continue
      const found = podsOf(daemonSet, node).flatMap((pod) => (isCounted(daemonSet, node) ? this.#failuresOf(name, pod) : []))
      const isKnown = found.some(
        ({ reason, causes }) =>
          terms?.failure?.ignoreReasons?.includes(reason) !== true &&
          causes.every((cause) => this.#parts.observations.hasSeen(decision, cause)) &&
          causes.some(({ t }) => t > (this.#retried.get(key)?.t ?? 0)),
      )
      if (isKnown) names.push(name)
    }
    return names
  }

  /** A container that waits for good, and the loss of the node after its kubelet had started the pod. */
  #failuresOf(name: string, { uid }: PodStory): readonly Failing[] {
    const [waits, started, silent] = [this.#failing.get(uid), this.#started.get(uid), this.#silent.get(name)]
    const hasLost = started !== undefined && silent !== undefined && started.t < silent.t
    return [...(waits === undefined ? [] : [waits]), ...(hasLost ? [{ reason: 'NodeNotReady', causes: [started, silent] }] : [])]
  }

  #followNode({ t, rv, o }: RecordedWrite): void {
    const { name, ready } = o as unknown as RecordedNode
    if (ready !== 'True') this.#nodeReadyFrom.delete(name)
    else if (!this.#nodeReadyFrom.has(name)) this.#nodeReadyFrom.set(name, { t, rv, of: 'nodes' })
    if (ready !== 'Unknown') this.#silent.delete(name)
    else if (!this.#silent.has(name)) this.#silent.set(name, { t, rv, of: 'nodes' })
  }

  #followPod(write: RecordedWrite): void {
    const pod = write.o as unknown as RecordedPod
    const { uid, waiting, phase } = pod
    this.#followReady(write, pod)
    if (write.type === 'DELETED') this.#started.delete(uid)
    else if (phase === 'Running' && !this.#started.has(uid)) this.#started.set(uid, { t: write.t, rv: write.rv, of: 'pods' })
    if (write.type === 'DELETED' || waiting === undefined || !fatal.has(waiting)) return void this.#failing.delete(uid)
    const known = this.#failing.get(uid)
    if (known === undefined) this.#failing.set(uid, { reason: waiting, causes: [{ t: write.t, rv: write.rv, of: 'pods' }] })
  }

  #followReady(write: RecordedWrite, { uid, ready }: RecordedPod): void {
    if (!ready || write.type === 'DELETED') this.#readyFrom.delete(uid)
    else if (!this.#readyFrom.has(uid)) this.#readyFrom.set(uid, { t: write.t, rv: write.rv, of: 'pods' })
  }

  #followRelease(write: RecordedWrite): void {
    const { spec, status } = write.o as unknown as RecordedRelease
    const story = spec?.workloadRef === undefined ? undefined : this.#parts.world.story(write.namespace, spec.workloadRef.name)
    if (story === undefined) return
    const key = keyOf(story)
    this.#followPermits(write, key, status?.flight?.permits ?? [])
    const isOther = this.#followRevision(key, spec?.tranche?.canaryRevision)
    if (isOther) this.#accepted.delete(key)
    const named = spec?.tranche?.release ?? status?.flight?.revision
    const { accepted = [], release = named } = status?.failure ?? {}
    const isOfRelease = release?.replace(/\/left$/, '') === named
    if (isOfRelease) this.#accepted.set(key, new Set([...(this.#accepted.get(key) ?? []), ...accepted]))
    const { retry } = spec?.tranche ?? {}
    if (isOther || (retry !== undefined && this.#retried.get(key)?.retry !== retry)) this.#retried.set(key, { retry, t: write.t })
  }

  /** What the record calls bad before its update is believed only where the process could not know better. */
  #followPermits(write: RecordedWrite, key: string, permits: readonly RecordedPermit[]): void {
    const { observations } = this.#parts
    const before = this.#permitted.get(key)
    const now = new Map<string, Known>()
    const isKnown = (cause: Cause | undefined): boolean =>
      cause !== undefined && observations.hasSeen(observations.decisionOf(write), cause)
    for (const { node, podUid } of permits) {
      const known = { isPodReady: isKnown(this.#readyFrom.get(podUid)), isNodeReady: isKnown(this.#nodeReadyFrom.get(node)) }
      now.set(podUid, before?.get(podUid) ?? known)
    }
    this.#permitted.set(key, now)
  }

  #followRollout(write: RecordedWrite): void {
    const { metadata, spec, status } = write.o as unknown as RecordedRollout
    const id = `${write.namespace}/${metadata.name}`
    const isOver = write.type !== 'DELETED' && status?.phase === 'Healthy'
    const story = spec.workloadRef === undefined ? undefined : this.#parts.world.story(write.namespace, spec.workloadRef.name)
    if (isOver && !this.#over.has(id) && story !== undefined) this.#forgetUpdated(story)
    if (isOver) this.#over.add(id)
    else this.#over.delete(id)
  }

  /** Nodes without a pod of the revision are not updated yet, whatever the status says. */
  #forgetUpdated(story: DaemonSetStory): void {
    for (const { name, pods } of story.nodes()) {
      const isUpdated = [...pods.values()].some(({ ended, last }) => ended === null && last.hash === story.orders.revision)
      if (isUpdated) this.#fair.delete(`${keyOf(story)} ${name}`)
    }
  }

  #forget(key: string): void {
    for (const id of this.#fair) if (id.startsWith(`${key} `)) this.#fair.delete(id)
  }

  /** @returns whether the revision differs from the last one released; pods that ran it before are not part of its release */
  #followRevision(key: string, revision: string | undefined): boolean {
    if (revision === undefined || this.#released.get(key) === revision) return false
    this.#released.set(key, revision)
    this.#forget(key)
    return true
  }
}

/** What a process knew of a pod and its node when it permitted the pod to be deleted. */
interface Known {
  readonly isPodReady: boolean
  readonly isNodeReady: boolean
}

/** Reason that only a failure has, and the writes that first reported it. */
interface Failing {
  readonly reason: string
  readonly causes: readonly Cause[]
}

/** Pods of the revision that do not terminate. */
function podsOf({ orders }: DaemonSetStory, { pods }: NodeStory): readonly PodStory[] {
  return [...pods.values()].filter(({ ended, last }) => ended === null && last.hash === orders.revision)
}

/** Whether a failure on the node counts: it has a pod of the revision, and it is wanted, or would be if it worked. */
function isCounted(story: DaemonSetStory, own: NodeStory): boolean {
  return own.node !== undefined && isWantedOnReturn(story.latest?.placement, own.node) && podsOf(story, own).length > 0
}

const STABLE = 'rollouts.kruise.io/daemonset-stable-revision'
const fatal: ReadonlySet<string> = new Set([
  'CrashLoopBackOff',
  'ErrImagePull',
  'ImagePullBackOff',
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
])

function keyOf({ namespace, name }: DaemonSetStory): string {
  return `${namespace}/${name}`
}
