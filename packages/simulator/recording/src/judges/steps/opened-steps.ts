import type { DaemonSetStory } from '../../world/daemon-set-story.ts'
import { isInMaintenance } from '../../world/maintenance.ts'
import type { NodeStory, PodStory } from '../../world/node-story.ts'
import type { Cause } from '../../world/observations.ts'
import type { RecordedRollout } from '../../world/stops.ts'
import type { World } from '../../world/world.ts'
import { actionOf, stepOf } from '../../world/recorded-action.ts'
import type { JudgedWait } from '../clock-doubt.ts'
import { continuedStep, lastFilled, type ReplacedSteps, selectsNodes } from './continued-step.ts'
import { countWanted, isInReach, isWithin, leftIn, reachesOf, sizeAmongWanted, sizeOf, type Step, type StepReach } from './step-reach.ts'

/** How far the steps of one release have opened. */
export interface OpenedSteps {
  /** Number of the highest open step. */
  opened(): number
  /** @returns reaches, each of which may be updated; null when no step limits the release */
  granted(steps: readonly Step[]): readonly StepReach[] | null
  /** Opens the steps that need no user. @param steps as the user wrote them @default those last seen */
  look(nowMs: number, steps?: readonly Step[]): void
  /** Follows a write of the Rollout, before it is applied. */
  follow(before: RecordedRollout | undefined, next: RecordedRollout, write: FollowedWrite): void
}

/** A write of the Rollout. */
export interface FollowedWrite {
  readonly nowMs: number
  /** When it happened: a later writer may know of it. */
  readonly cause: Cause
  /** Steps before and after it, as the user wrote them. */
  readonly steps: { readonly before: readonly Step[] | undefined; readonly next: readonly Step[] }
  /** Whether the writer must have known of another write. */
  readonly hasSeen: (cause: Cause) => boolean
  readonly isOurs: boolean
  /** Names of the nodes that were NotReady as far as the watches of the writer had reported them. */
  readonly away: readonly string[]
  /** Whether the writer may still have known an available pod on the node. */
  readonly mayBeUp: (node: NodeStory) => boolean
}

/** Release that the steps belong to. */
export interface OpenedStepsOptions {
  readonly world: World
  readonly story: () => DaemonSetStory | undefined
  /** Digest of the template. */
  readonly template: string
  /** The release is a rollback, which no step limits. */
  readonly isFree: boolean
  /** Epoch milliseconds. */
  readonly begunMs: number
  /** @returns milliseconds by which a pause may seem shorter than it was */
  readonly doubtIn: (wait: JudgedWait) => number
}

/**
 * Starts with the first step open. A step opens the next one when it was jumped over, or when both of these hold:
 *
 * - At some time since it opened, as many nodes as it has were updated and had an available pod of the template. What the watches of the
 *   controller had not reported does not matter. Nodes NotReady since the release began are exempt, also if they are Ready again and no watch of the controller has reported that. One node is enough when the user
 *   tolerates failures, or has retried or resumed, even one of another step.
 * - Its pause is over: a user has approved it or promoted the release, or its duration has passed since the pods were available.
 *
 * An approval counts in the status or by an action, while the status says that the step waits, and for the step that the action names. A
 * Rollout that is enabled or created again resumes the release at the last step that has no more nodes than were open. All nodes follow the
 * last step.
 *
 * No step limits the stable template. A template is that when a user creates a Rollout while nodes run it, and most nodes run it before the
 * Rollout first reports a release (docs/explanation/concepts.md).
 */
export function createOpenedSteps(options: OpenedStepsOptions): OpenedSteps {
  return new ReleaseSteps(options)
}

class ReleaseSteps implements OpenedSteps {
  readonly #options: OpenedStepsOptions
  #opened = 1
  /** When the highest open step was opened. */
  #openedMs: number
  /** No step limits the release, or none does any more. */
  #isFree: boolean
  /** When the highest open step first became ready. */
  #readyMs: number | null = null
  #isApproved = false
  #isPromoted = false
  /** The user accepts failing nodes. */
  #isTolerant = false
  /** Nodes ran the template when the user created the Rollout, which has reported no release yet. */
  #mayBeStable = false
  /** What steps that were replaced had opened. */
  #granted: readonly StepReach[] = []
  #steps: readonly Step[] = []
  /** Replaced steps, as long as no controller has shown that it knows the new ones: meanwhile executors continue with the former ones. */
  #edit: (ReplacedSteps & { readonly cause: Cause }) | null = null
  #fewestWanted = Number.POSITIVE_INFINITY
  /** Nodes that were wanted all the time since steps began to select nodes; null before that. */
  #alwaysWanted: readonly NodeStory[] | null = null
  readonly #notReady = new Set<string>()
  /** Requested action without an answer so far. */
  #asked: ReturnType<typeof actionOf>
  /** Jump that was asked for and is not answered, and what was open before it. */
  #jumped: Jump | null = null

  constructor(options: OpenedStepsOptions) {
    this.#options = options
    this.#openedMs = options.begunMs
    this.#isFree = options.isFree
  }

  opened(): number {
    return this.#opened
  }

  granted(steps: readonly Step[]): readonly StepReach[] | null {
    if (this.#isFree || steps.length === 0) return null
    return [...this.#granted, ...reachesOf(steps).slice(0, this.#opened)]
  }

  look(nowMs: number, steps: readonly Step[] = this.#steps, mayBeUp = isUp): void {
    const story = this.#options.story()
    if (story === undefined || this.#isFree) return
    this.#steps = steps
    story.advance(nowMs)
    this.#noteNodes(story)
    if (this.#mayBeStable && this.#isOnMost(story)) this.#isFree = true
    if (this.#edit !== null) this.#open(continuedStep(story, steps, this.#edit), nowMs)
    for (let step = steps[this.#opened - 1]; step !== undefined; step = steps[this.#opened - 1]) {
      this.#readyMs ??= this.#readySince(story, reachesOf(steps)[this.#opened - 1]!, mayBeUp)
      if (this.#readyMs === null || !(this.#coversAll(story) || this.#isPauseOver(step, this.#readyMs, nowMs))) return
      this.#open(this.#opened + 1, nowMs)
    }
    if (steps.length > 0) this.#isFree = true
  }

  follow(before: RecordedRollout | undefined, next: RecordedRollout, write: FollowedWrite): void {
    const story = this.#options.story()
    if (story === undefined) return
    const { nowMs, isOurs, away, steps, hasSeen, mayBeUp } = write
    if (isOurs) for (const name of away) if (story.node(name)?.wanted === true) this.#notReady.add(name)
    this.look(nowMs, steps.before ?? (this.#steps.length > 0 ? this.#steps : steps.next))
    if (this.#edit !== null && hasSeen(this.#edit.cause)) this.#edit = null
    if (before === undefined) this.#mayBeStable = (this.#countNodes(story).get(this.#options.template) ?? 0) > 0
    else if (stepOf(next).index !== undefined) this.#mayBeStable = false
    if (!isOurs) {
      if (JSON.stringify(this.#steps) !== JSON.stringify(steps.next)) this.#replaceSteps(story, write, before === undefined)
      this.#takeActions(before, next, nowMs)
      if (isTakenUp(before, next)) this.#takeUp(story, steps.next, nowMs)
      if (isEndingItself(next)) this.#isFree = true
    }
    this.#isTolerant ||= (next.spec.strategy?.canary as { readonly failureThreshold?: unknown } | undefined)?.failureThreshold !== undefined
    this.#takeAction(next, nowMs)
    this.#takeBackJump(next)
    this.look(nowMs, steps.next, isOurs ? mayBeUp : isUp)
  }

  #open(step: number, nowMs: number): void {
    if (step <= this.#opened) return
    this.#opened = step
    this.#openedMs = nowMs
    this.#readyMs = null
    this.#isApproved = false
  }

  #noteNodes(story: DaemonSetStory): void {
    this.#fewestWanted = Math.min(this.#fewestWanted, story.wanted)
    if (this.#steps.some(({ nodes }) => nodes !== undefined))
      this.#alwaysWanted = [...(this.#alwaysWanted ?? story.nodes())].filter(({ wanted }) => wanted)
    if (this.#notReady.size >= story.wanted) return
    for (const { name, node, wanted } of story.nodes())
      if (wanted && node?.ready !== undefined && (node.ready !== 'True' || isInMaintenance(node))) this.#notReady.add(name)
  }

  #isOnMost(story: DaemonSetStory): boolean {
    const counts = this.#countNodes(story)
    const own = counts.get(this.#options.template) ?? 0
    return own > 0 && [...counts].every(([template, count]) => template === this.#options.template || count < own)
  }

  /** Counts wanted nodes by the template of their oldest pod that is not terminating. */
  #countNodes(story: DaemonSetStory): ReadonlyMap<string | undefined, number> {
    const counts = new Map<string | undefined, number>()
    for (const { wanted, pods } of story.nodes()) {
      const oldest = [...pods.values()].find(({ ended }) => ended === null)
      if (!wanted || oldest === undefined) continue
      const template = this.#options.world.templateOf(oldest.last.hash ?? '')
      counts.set(template, (counts.get(template) ?? 0) + 1)
    }
    return counts
  }

  /** @returns since when as many nodes as the step has are updated and have an available pod; null while they do not */
  #readySince(story: DaemonSetStory, reach: StepReach, mayBeUp: FollowedWrite['mayBeUp']): number | null {
    const { nodes, failure } = story.terms.latest ?? {}
    if (nodes?.exclude !== undefined) return this.#openedMs
    const isReached = (name: string): boolean => story.node(name)?.wanted === true && isInReach(reach, story.node(name)?.node)
    const spared = [...this.#notReady].filter(isReached).length
    const fewest = (within: Pick<StepReach, 'within'>): number => this.#fewest(within)
    const wanted = (within: Pick<StepReach, 'within'>): number => countWanted(story, within)
    const size = Math.min(sizeOf(reach, fewest, wanted), wanted(reach)) - spared
    if (size <= 0) return this.#openedMs
    const { world, template } = this.#options
    if (story.orders.revision === undefined || world.templateOf(story.orders.revision) !== template) return null
    if (story.taken.size < size) return null
    const taken = [...story.taken].filter(({ node }) => isInReach(reach, node))
    if (taken.length < size) return null
    const isLenient =
      this.#isTolerant || failure?.action === 'Continue' || failure?.maxFailedNodes !== undefined || failure?.autoResume !== undefined
    const times = [...(isLenient ? story.taken : taken)].flatMap((node) => {
      if (node.up) return [availableFrom(node.pods.values())]
      return mayBeUp(node) ? [this.#openedMs] : []
    })
    const needed = isLenient ? 1 : size
    return times.length < needed ? null : Math.max(this.#openedMs, times.toSorted((a, b) => a - b)[needed - 1]!)
  }

  /** As many nodes of the reach, or more, were wanted at any time since the release began. */
  #fewest(reach: Pick<StepReach, 'within'>): number {
    if (reach.within === null) return this.#fewestWanted
    return (this.#alwaysWanted ?? []).filter(({ node }) => isInReach(reach, node)).length
  }

  /** A last step of every node does not pause, nor does a step while no node is wanted: nothing is left to wait with. */
  #coversAll(story: DaemonSetStory): boolean {
    if (story.wanted === 0) return true
    const last = this.#steps.at(-1)
    if (last === undefined || this.#opened < this.#steps.length) return false
    const isOfAll = last.nodes === undefined && last.replicas === '100%'
    return isOfAll || sizeAmongWanted(story, reachesOf(this.#steps).at(-1)!) >= story.wanted
  }

  /** A step without a duration waits for a user, also where it has no pause. */
  #isPauseOver({ pause }: Step, sinceMs: number, nowMs: number): boolean {
    if (this.#isPromoted || this.#isApproved) return true
    return pause?.duration !== undefined && nowMs - sinceMs >= pause.duration * 1000 - this.#options.doubtIn({ sinceMs, nowMs })
  }

  /** A Rollout that was created again continues at the last open step up to which all nodes are updated. @see continuedStep */
  #replaceSteps(story: DaemonSetStory, { steps: { next }, cause }: FollowedWrite, isNew: boolean): void {
    const open = reachesOf(this.#steps).slice(0, this.#opened)
    const selected = selectsNodes(this.#steps)
    const readyMs = this.#readyMs
    this.#granted = [...this.#granted, ...open]
    this.#readyMs = null
    this.#steps = next
    const reaches = reachesOf(next)
    const selects = selectsNodes(next)
    if (open.length === 0 || (isNew && !selects)) return
    const before = this.#opened
    this.#edit = isNew ? null : { open, granted: this.#granted, selected, cause }
    this.#opened = this.#edit === null ? Math.max(1, Math.min(before, lastFilled(story, reaches))) : continuedStep(story, next, this.#edit)
    const present = reaches[this.#opened - 1]
    // A step that has all its nodes does not begin again: its pause began when they were first available.
    if (this.#opened === before && present !== undefined && isWithin(story, present, open.at(-1)!)) this.#readyMs = readyMs
    const hasOthers = present !== undefined && selects && !isWithin(story, present, open.at(-1)!)
    if (this.#opened !== before || (hasOthers && leftIn(story, present) > 0)) this.#isApproved = false
  }

  #takeActions(before: RecordedRollout | undefined, next: RecordedRollout, nowMs: number): void {
    const was = stepOf(before)
    const is = stepOf(next)
    if (is.state === 'StepReady' && was.state === 'StepPaused') this.#approve(was.index)
    if (is.next !== undefined && is.next !== was.next && this.#exists(is.next)) this.#open(is.next, nowMs)
    const action = actionOf(next)
    if (action !== undefined && action.id !== actionOf(before)?.id) this.#asked = action
    const isResumed = before?.spec.strategy?.paused === true && next.spec.strategy?.paused !== true
    if (action?.type === 'retry' || isResumed) this.#isTolerant = true
  }

  /** The updated nodes already satisfy every step that has no more than the open one. */
  #takeUp(story: DaemonSetStory, next: readonly Step[], nowMs: number): void {
    const reaches = reachesOf(next)
    const hasNoMore = (at: number): boolean => isWithin(story, reaches[at]!, reaches[at - 1]!)
    while (this.#opened < next.length && hasNoMore(this.#opened)) this.#open(this.#opened + 1, nowMs)
  }

  /** An action takes effect in the state in which it is answered. */
  #takeAction(next: RecordedRollout, nowMs: number): void {
    const asked = this.#asked
    if (asked === undefined) return
    const { index, state } = stepOf(next)
    const { id, result } = next.status?.lastAction ?? {}
    if (id === asked.id && result === 'Refused') return void (this.#asked = undefined)
    const isMeant = asked.expectedStep === undefined || index === undefined || asked.expectedStep === index
    if (isMeant && asked.type === 'approve' && (state === 'StepPaused' || state === undefined)) this.#approve(index)
    else if (isMeant && asked.type === 'jump') this.#jump(asked.id, asked.step ?? 0, nowMs)
    else if (isMeant && asked.type === 'promote') this.#isPromoted = true
    else if (id !== asked.id) return
    this.#asked = undefined
  }

  #exists(step: number): boolean {
    return step >= 1 && step <= this.#steps.length
  }

  /** A jump counts as soon as it is asked for, unless it is refused. */
  #jump(id: string, step: number, nowMs: number): void {
    if (!this.#exists(step) || step <= this.#opened) return
    const before = { opened: this.#opened, openedMs: this.#openedMs, readyMs: this.#readyMs, isApproved: this.#isApproved }
    this.#jumped = { id, step, before }
    this.#open(step, nowMs)
  }

  /** Closes the step of a jump that was refused, unless something else has opened a later one since. */
  #takeBackJump({ status }: RecordedRollout): void {
    const { id, result } = status?.lastAction ?? {}
    if (this.#jumped === null || id !== this.#jumped.id) return
    const { step, before } = this.#jumped
    this.#jumped = null
    if (result !== 'Refused' || this.#opened !== step || this.#isFree) return
    this.#opened = before.opened
    this.#openedMs = before.openedMs
    this.#readyMs = before.readyMs
    this.#isApproved = before.isApproved
  }

  /** Approving a step that was open already opens nothing. */
  #approve(index: number | undefined): void {
    if (index === undefined || index >= this.#opened) this.#isApproved = true
    else if (this.#jumped !== null && index >= this.#jumped.before.opened) this.#jumped.before.isApproved = true
  }
}

interface Jump {
  readonly id: string
  readonly step: number
  readonly before: { readonly opened: number; readonly openedMs: number; readonly readyMs: number | null; isApproved: boolean }
}

function isUp({ up }: NodeStory): boolean {
  return up
}

function availableFrom(pods: Iterable<PodStory>): number {
  return Math.min(
    ...[...pods].flatMap(({ ended, readySinceMs, neededMs }) => (ended === null && readySinceMs !== null ? [readySinceMs + neededMs] : [])),
  )
}

function isTakenUp(before: RecordedRollout | undefined, { spec }: RecordedRollout): boolean {
  return before === undefined || (before.spec.disabled === true && spec.disabled !== true)
}

/** Whether users end the release without its steps: the Rollout is deleted or disabled, and `on-delete` says how to end it. */
export function isEndingItself({ metadata, spec }: RecordedRollout): boolean {
  const policy = metadata.annotations?.['tranche.dev/on-delete']
  return (metadata.deletionTimestamp !== undefined || spec.disabled === true) && (policy === 'Complete' || policy === 'Rollback')
}
