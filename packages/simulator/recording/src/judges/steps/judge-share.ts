import type { RecordedDaemonSet, RecordedNode, RecordedWrite } from '../../record/recorded-write.ts'
import type { DaemonSetStory } from '../../world/daemon-set-story.ts'
import { isInMaintenance } from '../../world/maintenance.ts'
import { type DeadNodes, followDeadNodes } from '../../world/dead-nodes.ts'
import { followFormerRevisions } from '../../world/former-revisions.ts'
import { type NodeStory, takenBy } from '../../world/node-story.ts'
import type { Cause } from '../../world/observations.ts'
import type { RecordedRelease, RecordedRollout } from '../../world/stops.ts'
import { mayBeTaken } from '../../world/terms.ts'
import type { Deletion } from '../../world/world.ts'
import { clockDoubtMs } from '../clock-doubt.ts'
import type { Judge, JudgeParts } from '../judge-parts.ts'
import { createOpenedSteps, isEndingItself, type OpenedSteps } from './opened-steps.ts'
import { isInReach, reachesOf, sizeOf, type Step, type StepReach, stepsOf } from './step-reach.ts'

/**
 * G3, from what the user wrote: pauses, approvals and available pods open steps. The nodes that we moved to a template, or that will come
 * back on it, never exceed the largest open step. Sizes come from `spec.strategy.canary.steps` and the nodes that the oracle counts itself.
 * Our partitions, sizes and records do not count, and leaked nodes cost nothing. Where steps select nodes, each open step allows as many of
 * its own nodes, and none of others. {@link createOpenedSteps} says how a step opens.
 *
 * No step limits a rollback: the way back to the template that ran on every node before, or with which the DaemonSet was created. A
 * template from earlier releases is released in steps like a new one. A hand-written BatchRelease is limited by its own batches.
 */
export function createShareJudge(parts: JudgeParts): Judge {
  return new ShareJudge(parts)
}

class ShareJudge implements Judge {
  readonly #parts: JudgeParts
  readonly #dead: DeadNodes
  readonly #shares = new Map<string, Share>()
  /** Steps of each Rollout as its user wrote them, and the generation that has them; by namespace and name. */
  readonly #written = new Map<
    string,
    { readonly generation: number | undefined; readonly steps: readonly Step[]; readonly isPruned: boolean }
  >()
  /** Last states of each node, oldest first. */
  readonly #nodeStates = new Map<string, readonly NodeState[]>()

  constructor(parts: JudgeParts) {
    this.#parts = parts
    const { world, observations, query } = parts
    this.#dead = followDeadNodes(observations, followFormerRevisions(world, observations, query.isOurs))
  }

  onWrite(write: RecordedWrite, before: Readonly<Record<string, unknown>> | undefined): void {
    this.#dead.onWrite(write)
    if (write.kind === 'Node') this.#followNode(write)
    if (write.kind === 'DaemonSet') this.#beginRelease(write)
    if (write.kind === 'Rollout') this.#followRollout(write, before as RecordedRollout | undefined)
    if (write.kind === 'BatchRelease') this.#followByHand(write)
    if (write.kind === 'Pod' || write.kind === 'Node' || write.kind === 'BatchRelease')
      for (const story of this.#parts.world.stories()) this.#releaseOf(story, story.latest?.template)?.look(write.t)
  }

  onDeletion(deletion: Deletion): void {
    const { daemonSet, pod, atMs, decision } = deletion
    const { world, observations, breach } = this.#parts
    const [rollout] = world.rolloutsOf(daemonSet)
    const granted =
      rollout === undefined ? byHand(this.#shareOf(daemonSet.namespace, daemonSet.name).plan) : this.#bySteps(daemonSet, rollout, atMs)
    if (granted === null) return
    const taken = this.#takenBeside(deletion)
    const { node } = daemonSet.node(pod.node) ?? {}
    const mayTake = (reach: StepReach): boolean => node === undefined || isInReach(reach, node)
    const wanted = ({ within }: Pick<StepReach, 'within'>): number =>
      daemonSet.mostWanted(decision, observations, within === null ? undefined : (one) => isInReach({ within }, one))
    const sizes = granted.reaches.map((reach) => {
      const size = mayTake(reach) ? Math.min(wanted(reach), sizeOf(reach, wanted)) : 0
      return { size, taken: taken.filter((one) => isInReach(reach, one.node)).length + 1 }
    })
    if (sizes.some(({ size, taken }) => taken <= size)) return
    const most = Math.max(0, ...sizes.map(({ size }) => size))
    const text = `${taken.length + 1} nodes run or will run the released revision, but ${granted.text} ${most}`
    breach({ guarantee: 'G3', atMs, node: pod.node, text })
  }

  /** Other nodes that we moved to the template. Not those that an earlier release moved, and that the process may have taken for dead since. */
  #takenBeside(deletion: Deletion): readonly NodeStory[] {
    const { daemonSet, pod } = deletion
    const { revision } = daemonSet.orders
    const exempt = this.#dead.exemptFor(deletion)
    const sinceMs = daemonSet.templateSinceMs(this.#parts.world.templateOf(revision ?? '') ?? '') ?? 0
    return [...daemonSet.taken].filter((node) => {
      const taken = takenBy(node, revision)
      return node.name !== pod.node && taken?.byUs === true && (taken.cause.t >= sinceMs || !exempt.has(node.name))
    })
  }

  #beginRelease(write: RecordedWrite): void {
    const { name, template, generation } = write.o as Partial<RecordedDaemonSet>
    if (name === undefined || template === undefined || write.type === 'DELETED') return
    const { world } = this.#parts
    const story = world.story(write.namespace, name)
    const share = this.#shareOf(write.namespace, name)
    const isRollback = share.stable.has(template) && share.releases.has(template)
    if (write.type === 'ADDED') {
      // The pods of a created DaemonSet start on every node without any step, also when it was deleted during a release.
      share.stable.add(template)
      // A created DaemonSet counts its generations from 1 again.
      share.replaced = undefined
    }
    if (isContinued(share, story?.latest, { template, generation })) return
    const isGoing = (one: RecordedRollout): boolean => one.metadata.deletionTimestamp !== undefined || one.status?.phase === 'Disabling'
    const isLast = story !== undefined && world.rolloutsOf(story).some((one) => isGoing(one) && isEndingItself(one))
    share.releases.set(
      template,
      createOpenedSteps({
        world,
        story: () => world.story(write.namespace, name),
        template,
        isFree: isRollback || isLast,
        begunMs: write.t,
        doubtIn: (wait) => clockDoubtMs(this.#parts.query, wait),
      }),
    )
  }

  #followRollout(write: RecordedWrite, before: RecordedRollout | undefined): void {
    const { world, query, observations } = this.#parts
    const next = write.o as unknown as RecordedRollout
    const steps = {
      before: before === undefined ? undefined : this.#stepsOf(write.namespace, before),
      next: this.#writtenBy(write, before, next),
    }
    const name = next.spec.workloadRef?.name
    const story = name === undefined ? undefined : world.story(write.namespace, name)
    if (story === undefined || write.type === 'DELETED') return
    const isOurs = query.isOurs(write.actor ?? '')
    const release = this.#releaseOf(story, story.latest?.template)
    const decision = observations.decisionOf(write)
    release?.follow(before, next, {
      nowMs: write.t,
      cause: { t: write.t, rv: write.rv, of: 'rollouts' },
      steps,
      isOurs,
      hasSeen: (cause) => isOurs && observations.hasSeen(decision, cause),
      away: isOurs ? this.#awayFor(write) : [],
      mayBeUp: ({ up, downBy }) => up || !observations.hasSeen(decision, downBy),
    })
    // A status from before the template changed reports on the previous one.
    const reported = world.templateOf(next.status?.canaryStatus?.canaryRevision ?? '') ?? story.latest?.template
    if (isOurs && next.status?.phase === 'Healthy' && reported === story.latest?.template) this.#noteStable(story, write)
    if (!isOurs && isTakenUp(before, next)) this.#addRunning(story)
  }

  /**
   * Other definitions prune `nodes` of steps, in a write that changes no generation: no user took them away. They count until the steps change,
   * or a user removes the annotation that says so.
   */
  #writtenBy({ namespace, type, actor = '' }: RecordedWrite, before: RecordedRollout | undefined, next: RecordedRollout): readonly Step[] {
    const key = `${namespace}/${next.metadata.name}`
    const known = this.#written.get(key)
    const { generation } = next.metadata
    const isAccepted = !this.#parts.query.isOurs(actor) && hasStepNodes(before) && !hasStepNodes(next)
    const steps = stepsOf(next)
    const isPruned =
      known !== undefined &&
      !sameJson(known.steps, steps) &&
      sameJson(known.steps.map(withoutNodes), steps) &&
      (known.isPruned ? !isAccepted : known.generation === generation)
    if (type === 'DELETED') this.#written.delete(key)
    else this.#written.set(key, { generation, steps: isPruned ? known.steps : steps, isPruned })
    return isPruned ? known.steps : steps
  }

  #stepsOf(namespace: string | undefined, rollout: RecordedRollout): readonly Step[] {
    return this.#written.get(`${namespace}/${rollout.metadata.name}`)?.steps ?? stepsOf(rollout)
  }

  #followNode({ o, t, rv, type }: RecordedWrite): void {
    const { name, ready } = o as unknown as RecordedNode
    const states = [...(this.#nodeStates.get(name) ?? []), { cause: { t, rv, of: 'nodes' as const }, isReady: ready === 'True' }]
    if (type === 'DELETED') this.#nodeStates.delete(name)
    else this.#nodeStates.set(name, states.slice(-NODE_STATES))
  }

  /** Nodes that are NotReady in the last state that the writer can have known for sure, though a later one may say otherwise. */
  #awayFor(write: RecordedWrite): readonly string[] {
    const { observations } = this.#parts
    const decision = observations.decisionOf(write)
    return [...this.#nodeStates].flatMap(([name, states]) => {
      const known = states.findLast(({ cause }) => observations.hasSeen(decision, cause))
      return known !== undefined && known !== states.at(-1) && !known.isReady ? [name] : []
    })
  }

  /** Notes that the status reports the release as complete, and all eligible Ready nodes run its template only. One that runs it may have seemed Ready only. */
  #noteStable(story: DaemonSetStory, write: RecordedWrite): void {
    const { template } = story.latest ?? {}
    if (template === undefined) return
    const { stable } = this.#shareOf(story.namespace, story.name)
    if (stable.size === 1 && stable.has(template)) return
    let isRun = story.wanted === 0
    for (const { node, wanted, pods } of story.nodes()) {
      if (!wanted || node === undefined || !mayBeTaken(story.terms.latest?.nodes ?? {}, node, undefined)) continue
      if (isInMaintenance(node) || !this.#mayBeReady(node.name, write)) continue
      for (const { ended, last } of pods.values()) {
        if (ended !== null || last.hash === undefined) continue
        if (this.#parts.world.templateOf(last.hash) === template) isRun = true
        else if (node.ready === 'True') return
      }
    }
    if (!isRun) return
    // Nodes that are wanted again may still run the template before.
    if (story.wanted > 0) stable.clear()
    stable.add(template)
  }

  /** Whether the node is Ready, or was so in a state that the writer may have taken for the last one. */
  #mayBeReady(name: string, write: RecordedWrite): boolean {
    const { observations } = this.#parts
    const decision = observations.decisionOf(write)
    const states = this.#nodeStates.get(name) ?? []
    const known = states.findLastIndex(({ cause }) => observations.hasSeen(decision, cause))
    return states.slice(Math.max(0, known)).some(({ isReady }) => isReady)
  }

  /** A new or re-enabled Rollout knows only the revisions that run. */
  #addRunning(story: DaemonSetStory): void {
    const { stable } = this.#shareOf(story.namespace, story.name)
    for (const { pods } of story.nodes())
      for (const { ended, last } of pods.values()) {
        const template = this.#parts.world.templateOf(last.hash ?? '')
        if (ended === null && template !== undefined) stable.add(template)
      }
  }

  #followByHand(write: RecordedWrite): void {
    const { spec, metadata } = write.o as unknown as RecordedRelease & {
      readonly spec?: { readonly releasePlan?: Plan }
      readonly metadata?: { readonly ownerReferences?: readonly { readonly kind: string }[] }
    }
    if (spec?.workloadRef === undefined || this.#parts.query.isOurs(write.actor ?? '')) return
    const isOwned = metadata?.ownerReferences?.some(({ kind }) => kind === 'Rollout') === true
    this.#shareOf(write.namespace, spec.workloadRef.name).plan = write.type === 'DELETED' || isOwned ? undefined : spec.releasePlan
  }

  #bySteps(daemonSet: DaemonSetStory, rollout: RecordedRollout, atMs: number): Granted | null {
    const { revision } = daemonSet.orders
    const release = revision === undefined ? undefined : this.#releaseOf(daemonSet, this.#parts.world.templateOf(revision))
    const steps = this.#stepsOf(daemonSet.namespace, rollout)
    release?.look(atMs, steps)
    const reaches = release?.granted(steps) ?? null
    if (release === undefined || reaches === null) return null
    const text = `open steps (1 to ${release.opened()} of ${steps.length}) allow`
    return { reaches, text }
  }

  #releaseOf(story: DaemonSetStory, template: string | undefined): OpenedSteps | undefined {
    return template === undefined ? undefined : this.#shareOf(story.namespace, story.name).releases.get(template)
  }

  #shareOf(namespace: string | undefined, name: string): Share {
    const key = `${namespace}/${name}`
    const known = this.#shares.get(key) ?? { releases: new Map(), stable: new Set(), replaced: undefined, plan: undefined }
    this.#shares.set(key, known)
    return known
  }
}

/** Whether the annotation says that steps had nodes. */
function hasStepNodes(rollout: RecordedRollout | undefined): boolean {
  return rollout?.metadata.annotations?.['tranche.dev/step-nodes'] !== undefined
}

function withoutNodes({ nodes: _nodes, ...step }: Step): Step {
  return step
}

function sameJson(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

/** Maximum number of states of a node that are remembered. */
const NODE_STATES = 20

/** State of a node from one write to the next. */
interface NodeState {
  readonly cause: Cause
  readonly isReady: boolean
}

/** Known releases of one DaemonSet. */
interface Share {
  /** By digest of the template. */
  readonly releases: Map<string, OpenedSteps>
  /** Templates that ran on every node before the current release. */
  readonly stable: Set<string>
  /** Last template that the DaemonSet controller observed, and the generation of its successor. */
  replaced: { readonly template: string; readonly generation: number } | undefined
  /** Plan of a hand-written BatchRelease. */
  plan: Plan | undefined
}

interface Plan {
  readonly batches?: readonly { readonly canaryReplicas: number | string }[]
  readonly batchPartition?: number
}

/** Reaches, each of which may be updated, and what allows them. */
interface Granted {
  readonly reaches: readonly StepReach[]
  readonly text: string
}

/** Whether a write of the DaemonSet with this template begins no release. Keeps `replaced` up to date. */
function isContinued(
  share: Share,
  latest: RecordedDaemonSet | undefined,
  { template, generation }: { readonly template: string; readonly generation: number | undefined },
): boolean {
  if (latest?.template === template) return true
  // A template that the DaemonSet controller never observed has no pods: the release before it continues.
  if ((latest?.observed ?? 0) >= (share.replaced?.generation ?? 0)) share.replaced = undefined
  if (share.replaced !== undefined && share.replaced.template === template) return true
  if (latest?.template !== undefined && generation !== undefined) share.replaced ??= { template: latest.template, generation }
  return false
}

/** Without batches, all nodes may be updated. */
function byHand(plan: Plan | undefined): Granted | null {
  if (plan?.batches === undefined || plan.batchPartition === undefined) return null
  const text = `batches 1 to ${plan.batchPartition + 1} of the BatchRelease allow`
  return {
    reaches: reachesOf(plan.batches.slice(0, plan.batchPartition + 1).map(({ canaryReplicas }) => ({ replicas: canaryReplicas }))),
    text,
  }
}

function isTakenUp(before: RecordedRollout | undefined, { spec }: RecordedRollout): boolean {
  return before === undefined || (before.spec.disabled === true && spec.disabled !== true)
}
