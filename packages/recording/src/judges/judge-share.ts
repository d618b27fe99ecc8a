import type { RecordedWrite } from '../recorded-write.ts'
import type { DaemonSetStory } from '../world/daemon-set-story.ts'
import { takenBy } from '../world/node-story.ts'
import { inNodes } from '../world/resolve-limit.ts'
import type { RecordedRollout } from '../world/stops.ts'
import type { Judge, JudgeParts } from './judge-parts.ts'
import { actionOf } from './wishes.ts'

/**
 * G3, from what the user wrote: never more nodes by our doing on a template, or coming back on it, than the highest step has that pauses and
 * approvals have opened so far. Sizes are those of `spec.strategy.canary.steps`, of the nodes that the oracle counts itself; no partition,
 * record or status of ours says anything here. What leaked costs nothing.
 *
 * A step without a pause opens the next at once, one with a duration when that much time has passed since it opened. One that waits for a person
 * is opened by each approval, jump or promote that anybody else has written. A Rollout that is enabled or created again takes the release up
 * at the last step that has no more nodes than were open. A template that was there before may be a rollback, which
 * knows no steps; so may be what a Rollout does that is going with `Complete` or `Rollback`.
 */
export function createShareJudge({ world, sight, breach, query }: JudgeParts): Judge {
  /** DaemonSet → digest of each template that it has had. */
  const releases = new Map<string, Map<string, Release>>()

  /** How much shorter a pause may seem, in milliseconds: the clocks of our machines shorten none (F14). */
  function doubtAt(nowMs: number): number {
    const steps = (query.clockSteps ?? []).filter(({ atMs }) => atMs <= nowMs)
    return ROUNDED_MS + steps.reduce((sum, { ms }) => sum + Math.abs(ms), 0)
  }

  function releaseOf(story: DaemonSetStory, template: string | undefined): Release | undefined {
    return template === undefined ? undefined : releases.get(keyOf(story.namespace, story.name))?.get(template)
  }

  function beginRelease(write: RecordedWrite): void {
    const { name, template } = write.o as { readonly name?: string; readonly template?: string }
    if (name === undefined || template === undefined || write.type === 'DELETED') return
    if (world.story(write.namespace, name)?.latest?.template === template) return
    const key = keyOf(write.namespace, name)
    const known = releases.get(key) ?? new Map<string, Release>()
    releases.set(key, known)
    known.set(template, { opened: 1, sinceMs: write.t, isFree: known.has(template), granted: [] })
  }

  function followRollout(write: RecordedWrite, before: RecordedRollout | undefined): void {
    const next = write.o as unknown as RecordedRollout
    const name = next.spec.workloadRef?.name
    const story = name === undefined ? undefined : world.story(write.namespace, name)
    const release = story === undefined ? undefined : releaseOf(story, story.latest?.template)
    if (story === undefined || release === undefined || write.type === 'DELETED') return
    const steps = stepsOf(before ?? next)
    pass(release, steps, { nowMs: write.t, doubtMs: doubtAt(write.t) })
    if (query.isOurs(write.actor ?? '')) return
    if (before !== undefined && JSON.stringify(steps) !== JSON.stringify(stepsOf(next)))
      replaceSteps(release, story, [steps, stepsOf(next)])
    takeApprovals(release, before, next, write.t)
    if (isTakenUp(before, next)) takeUp(release, story, stepsOf(next))
    if (isEndingItself(next)) release.isFree = true
  }

  return {
    onWrite(write, before) {
      if (write.kind === 'DaemonSet') beginRelease(write)
      if (write.kind === 'Rollout') followRollout(write, before as RecordedRollout | undefined)
    },
    onDeletion({ daemonSet, pod, atMs, decision }) {
      const { revision } = daemonSet.orders
      const release = revision === undefined ? undefined : releaseOf(daemonSet, world.templateOf(revision))
      const [rollout] = world.rolloutsOf(daemonSet)
      if (release === undefined || rollout === undefined) return
      const steps = stepsOf(rollout)
      pass(release, steps, { nowMs: atMs, doubtMs: doubtAt(atMs) })
      if (release.isFree || steps.length === 0) return
      const wanted = daemonSet.mostWanted(decision, sight)
      const sizes = [...release.granted, ...steps.slice(0, release.opened).map(({ replicas }) => replicas)].map((share) =>
        inNodes(share, wanted),
      )
      const most = Math.min(wanted, Math.max(...sizes))
      const taken = [...daemonSet.taken].filter((node) => node.name !== pod.node && takenBy(node, revision)?.byUs === true).length + 1
      if (taken <= most) return
      const text = `${taken} nodes are taken, and the steps up to ${release.opened} of ${steps.length}, which people and pauses have opened, have ${most}`
      breach({ guarantee: 'G3', atMs, node: pod.node, text })
    },
  }
}

function keyOf(namespace: string | undefined, name: string): string {
  return `${namespace}/${name}`
}

/** What has been opened of the release of one template. */
interface Release {
  /** Number of the highest step that is open. */
  opened: number
  /** Since when it is. */
  sinceMs: number
  /** No step binds it. */
  isFree: boolean
  /** Sizes of steps that were open in a plan that has been replaced. */
  granted: (number | string)[]
}

interface Step {
  readonly replicas: number | string
  readonly pause?: { readonly duration?: number }
}

function stepsOf({ spec }: RecordedRollout): readonly Step[] {
  const { strategy } = spec as { readonly strategy?: { readonly canary?: { readonly steps?: readonly Partial<Step>[] } } }
  return (strategy?.canary?.steps ?? []).map((step) => ({ ...step, replicas: step.replicas ?? '100%' }))
}

/** Goes on over what needs nobody. After the last step come all nodes. */
function pass(release: Release, steps: readonly Step[], { nowMs, doubtMs }: { readonly nowMs: number; readonly doubtMs: number }): void {
  for (;;) {
    const step = steps[release.opened - 1]
    if (step === undefined) break
    const { pause } = step
    const waitMs = pause === undefined ? 0 : pause.duration === undefined ? Number.POSITIVE_INFINITY : pause.duration * 1000
    if (nowMs - release.sinceMs < waitMs - doubtMs) return
    open(release, release.opened + 1, nowMs)
  }
  if (steps.length > 0) release.isFree = true
}

/** A `Date` has whole seconds, at the stamp and at its reading (F14). */
const ROUNDED_MS = 2_000

function open(release: Release, step: number, nowMs: number): void {
  if (step <= release.opened) return
  release.opened = step
  release.sinceMs = nowMs
}

/** The new plan is open up to its first step that has as many nodes as were open. */
function replaceSteps(release: Release, story: DaemonSetStory, [old, next]: readonly [readonly Step[], readonly Step[]]): void {
  release.granted.push(...old.slice(0, release.opened).map(({ replicas }) => replicas))
  const most = Math.max(0, ...release.granted.map((share) => inNodes(share, story.wanted)))
  const at = next.findIndex(({ replicas }) => inNodes(replicas, story.wanted) >= most)
  release.opened = at === -1 ? Math.max(1, next.length) : at + 1
}

function isTakenUp(before: RecordedRollout | undefined, { spec }: RecordedRollout): boolean {
  return before === undefined || (before.spec.disabled === true && spec.disabled !== true)
}

/** What is updated already fits every step that has as many nodes as the one that was open. */
function takeUp(release: Release, story: DaemonSetStory, steps: readonly Step[]): void {
  const sizeOf = (at: number): number => inNodes(steps[at]?.replicas ?? '100%', story.wanted)
  while (release.opened < steps.length && sizeOf(release.opened) <= sizeOf(release.opened - 1)) release.opened++
}

function takeApprovals(release: Release, before: RecordedRollout | undefined, next: RecordedRollout, nowMs: number): void {
  const { currentStepState: was, nextStepIndex: planned } = before?.status?.canaryStatus ?? {}
  const { currentStepState: is, nextStepIndex } = next.status?.canaryStatus ?? {}
  if (is === 'StepReady' && was !== is) open(release, release.opened + 1, nowMs)
  if (nextStepIndex !== undefined && nextStepIndex !== planned) open(release, nextStepIndex, nowMs)
  const action = actionOf(next)
  if (action === undefined || action.id === actionOf(before)?.id) return
  if (action.type === 'approve') open(release, release.opened + 1, nowMs)
  if (action.type === 'jump') open(release, action.step ?? 0, nowMs)
  if (action.type === 'promote') release.isFree = true
}

function isEndingItself({ metadata, spec }: RecordedRollout): boolean {
  const policy = metadata.annotations?.['tranche.dev/on-delete']
  return (metadata.deletionTimestamp !== undefined || spec.disabled === true) && (policy === 'Complete' || policy === 'Rollback')
}
