import type { RecordedNode, RecordedWrite } from '../record/recorded-write.ts'
import { isInMaintenance } from './maintenance.ts'
import type { FormerRevisions } from './former-revisions.ts'
import { inNodes } from './resolve-limit.ts'
import type { DaemonSetStory } from './daemon-set-story.ts'
import type { NodeStory, PodStory } from './node-story.ts'
import type { Cause, Decision, Observations } from './observations.ts'
import type { Deletion } from './world.ts'
import { millisecondsOf } from './terms.ts'

/** Nodes that cost no budget because they died before their update, with the stable revision or one left behind (G1). */
export interface DeadNodes {
  /** Called for each write, before it is applied to the world. */
  onWrite(write: RecordedWrite): void
  /** @returns the nodes that the deciding process may have exempted: none where it must have seen more dead ones than the user allows */
  exemptFor(deletion: Deletion): ReadonlySet<string>
}

/** Without a policy, a tenth of the wanted nodes, rounded up, may be dead without a cost. */
const WITHOUT_POLICY = { exempt: '10%', after: '5m' }

/** Follows the outages of nodes. */
export function followDeadNodes(observations: Observations, former: FormerRevisions): DeadNodes {
  return new OutagesOfNodes(observations, former)
}

class OutagesOfNodes implements DeadNodes {
  /** By node name: its state, and the last write that changed it. */
  readonly #outages = new Map<string, { readonly state: string; readonly by: Cause }>()
  readonly #observations: Observations
  readonly #former: FormerRevisions

  constructor(observations: Observations, former: FormerRevisions) {
    this.#observations = observations
    this.#former = former
  }

  onWrite(write: RecordedWrite): void {
    this.#former.onWrite(write)
    if (write.kind !== 'Node') return
    const node = write.o as unknown as RecordedNode
    const state = `${node.ready} ${isInMaintenance(node)}`
    if (this.#outages.get(node.name)?.state !== state)
      this.#outages.set(node.name, { state, by: { t: write.t, rv: write.rv, of: 'nodes' } })
  }

  exemptFor(deletion: Deletion): ReadonlySet<string> {
    const { daemonSet, decision } = deletion
    const wanted = daemonSet.mostWanted(decision, this.#observations)
    const exempt = new Set<string>()
    for (const terms of daemonSet.terms.possible(decision, this.#observations)) {
      const { exempt: most, after } = { ...WITHOUT_POLICY, ...terms?.nodes?.notReady }
      const looks = [...daemonSet.down].map((node) => ({ node, ...this.#lookOf(node, deletion, millisecondsOf(after)) }))
      if (looks.filter(({ must }) => must).length > inNodes(most, wanted)) continue
      for (const { node, may } of looks) if (may) exempt.add(node.name)
    }
    return exempt
  }

  /** Whether a node may have looked dead to the deciding process, and whether it must have. */
  #lookOf(node: NodeStory, deletion: Deletion, afterMs: number): Look {
    const { atMs, decision } = deletion
    const outage = this.#outages.get(node.name)
    if (node.node === undefined || outage === undefined || !this.#mayLookUntouched(node, deletion)) return neither
    if (!this.#observations.hasSeen(decision, outage.by)) return { may: true, must: false }
    // A node that died in its update counts against the budget, and not as one that was dead before.
    const isOld = this.#isKnownToBeOld(node, deletion) && !deletion.daemonSet.inFlight.has(node)
    if (isInMaintenance(node.node) || node.node.ready === 'Unknown') return { may: true, must: isOld }
    if (node.node.ready !== 'False') return neither
    const seenMs = this.#observations.deliveredAtMs(decision.actor, outage.by)
    return { may: atMs - outage.by.t >= afterMs, must: isOld && decision.atMs - seenMs > afterMs + SLACK_MS }
  }

  /**
   * Whether no release may have taken the node down in the decision's view: it had a pod of a revision from before, and none of a superseded
   * one. Or all of its pods were terminating, and another client deleted the last one.
   */
  #mayLookUntouched(node: NodeStory, { daemonSet, decision, atMs }: Deletion): boolean {
    const { revision } = daemonSet.orders
    const before = this.#revisionsBefore(daemonSet, decision)
    const isProven = ({ last: { hash } }: PodStory): boolean =>
      (before.mayBeAnyOther && hash !== revision) || (hash !== undefined && before.known.has(hash))
    const isSeen = ({ rv }: PodStory): boolean => this.#observations.hasSeen(decision, podWrite(rv, atMs))
    const pods = [...node.pods.values()]
    const standing = pods.filter(({ ended }) => ended === null || !this.#observations.hasSeen(decision, ended))
    if (standing.some((pod) => pod.ended === null && pod.last.hash !== revision && !isProven(pod) && isSeen(pod))) return false
    if (standing.some(isProven)) return true
    const last = pods.filter(({ ended }) => ended !== null).sort((a, b) => b.ended!.t - a.ended!.t)[0]
    if (last === undefined || last.deletedByUs || pods.some((pod) => pod.ended === null && isSeen(pod))) return false
    return isProven(last)
  }

  #revisionsBefore(daemonSet: DaemonSetStory, decision: Decision): RevisionsBefore {
    const stables = this.#stablesFor(daemonSet, decision)
    const known = new Set(this.#former.possible(daemonSet, decision))
    for (const stable of stables) if (stable !== undefined) known.add(stable)
    return { known, mayBeAnyOther: stables.includes(undefined) }
  }

  /** Whether the decision's view had a pod of the stable revision on the node. */
  #isKnownToBeOld(node: NodeStory, { daemonSet, decision, atMs }: Deletion): boolean {
    const stables = this.#stablesFor(daemonSet, decision)
    return [...node.pods.values()].some(
      ({ ended, last, rv }) =>
        ended === null &&
        last.hash !== daemonSet.orders.revision &&
        stables.every((stable) => stable === last.hash) &&
        this.#observations.hasSeen(decision, podWrite(rv, atMs)),
    )
  }

  /** @returns the stable revisions that the deciding process may have read */
  #stablesFor(daemonSet: DaemonSetStory, decision: Decision): readonly (string | undefined)[] {
    return [...daemonSet.possibleVersions(decision, this.#observations)].map(({ annotations }) => annotations?.[STABLE])
  }
}

/** Revisions that the deciding process may count as from before its release. */
interface RevisionsBefore {
  readonly known: ReadonlySet<string>
  /** Any but the one that it releases, because it may know no stable one. */
  readonly mayBeAnyOther: boolean
}

/** How a node may have looked. */
interface Look {
  /** The deciding process may have taken it for dead. */
  readonly may: boolean
  /** The deciding process must have taken it for dead. */
  readonly must: boolean
}

const STABLE = 'rollouts.kruise.io/daemonset-stable-revision'

/** Timers may be late, and a process may act on what it saw a moment before. */
const SLACK_MS = 10_000

const neither: Look = { may: false, must: false }

function podWrite(rv: number, t: number): Cause {
  return { rv, t, of: 'pods' }
}
