import type { RecordedDaemonSet, RecordedWrite } from '../recorded-write.ts'
import type { DaemonSetStory } from '../world/daemon-set-story.ts'
import { takenBy } from '../world/node-story.ts'
import { inNodes } from '../world/resolve-limit.ts'
import type { RecordedRelease, RecordedRollout } from '../world/stops.ts'
import { mayBeTaken } from '../world/terms.ts'
import { clockDoubtMs } from './clock-doubt.ts'
import type { Judge, JudgeParts } from './judge-parts.ts'
import { createOpenedSteps, isEndingItself, type OpenedSteps, type Step, stepsOf } from './opened-steps.ts'

/**
 * G3, from what the user wrote: never more nodes by our doing on a template, or coming back on it, than the highest step has that pauses,
 * approvals and available pods have opened so far. Sizes are those of `spec.strategy.canary.steps`, of the nodes that the oracle counts itself;
 * no partition, size or record of ours says anything here. What leaked costs nothing. How a step opens: {@link createOpenedSteps}.
 *
 * No step binds the way back to the template that ran on every node before, or with which the DaemonSet was created: that is a rollback, which
 * is fast. A template that was there earlier is released in steps as a new one is. A BatchRelease by hand is bound by its own batches.
 */
export function createShareJudge({ world, observations, breach, query }: JudgeParts): Judge {
  const shares = new Map<string, Share>()

  function shareOf(namespace: string | undefined, name: string): Share {
    const key = `${namespace}/${name}`
    const known = shares.get(key) ?? { releases: new Map(), stable: new Set(), replaced: undefined, plan: undefined }
    shares.set(key, known)
    return known
  }

  function releaseOf(story: DaemonSetStory, template: string | undefined): OpenedSteps | undefined {
    return template === undefined ? undefined : shareOf(story.namespace, story.name).releases.get(template)
  }

  function beginRelease(write: RecordedWrite): void {
    const { name, template, generation } = write.o as Partial<RecordedDaemonSet>
    if (name === undefined || template === undefined || write.type === 'DELETED') return
    const story = world.story(write.namespace, name)
    const share = shareOf(write.namespace, name)
    const { releases, stable } = share
    const isRollback = stable.has(template) && releases.has(template)
    if (write.type === 'ADDED') {
      // Its pods come on every node without any step, also where it was deleted in mid-release.
      stable.add(template)
      // Its generations begin again.
      share.replaced = undefined
    }
    const latest = story?.latest
    if (latest?.template === template) return
    // Nothing was made of a template that the DaemonSet controller never observed: the release before it goes on.
    if ((latest?.observed ?? 0) >= (share.replaced?.generation ?? 0)) share.replaced = undefined
    if (share.replaced !== undefined && share.replaced.template === template) return
    if (latest?.template !== undefined && generation !== undefined) share.replaced ??= { template: latest.template, generation }
    const isGoing = (one: RecordedRollout): boolean => one.metadata.deletionTimestamp !== undefined || one.status?.phase === 'Disabling'
    const isLast = story !== undefined && world.rolloutsOf(story).some((one) => isGoing(one) && isEndingItself(one))
    releases.set(
      template,
      createOpenedSteps({
        world,
        story: () => world.story(write.namespace, name),
        template,
        isFree: isRollback || isLast,
        begunMs: write.t,
        doubtAt: (nowMs) => clockDoubtMs(query, nowMs),
      }),
    )
  }

  function followRollout(write: RecordedWrite, before: RecordedRollout | undefined): void {
    const next = write.o as unknown as RecordedRollout
    const name = next.spec.workloadRef?.name
    const story = name === undefined ? undefined : world.story(write.namespace, name)
    if (story === undefined || write.type === 'DELETED') return
    const isOurs = query.isOurs(write.actor ?? '')
    const release = releaseOf(story, story.latest?.template)
    release?.follow(before, next, { nowMs: write.t, isOurs })
    // A status from before the template came speaks of another one.
    const reported = world.templateOf(next.status?.canaryStatus?.canaryRevision ?? '') ?? story.latest?.template
    if (isOurs && next.status?.phase === 'Healthy' && reported === story.latest?.template) noteStable(story)
    if (!isOurs && isTakenUp(before, next)) addRunning(story)
  }

  /** The user was told that the release is over, and the nodes that could be taken run it, and nothing else. */
  function noteStable(story: DaemonSetStory): void {
    const { template } = story.latest ?? {}
    if (template === undefined) return
    const { stable } = shareOf(story.namespace, story.name)
    if (stable.size === 1 && stable.has(template)) return
    let isRun = story.wanted === 0
    for (const { node, wanted, pods } of story.nodes()) {
      if (!wanted || node?.ready !== 'True' || !mayBeTaken(story.terms.latest?.nodes ?? {}, node, undefined)) continue
      for (const { ended, last } of pods.values()) {
        if (ended !== null || last.hash === undefined) continue
        if (world.templateOf(last.hash) !== template) return
        isRun = true
      }
    }
    if (!isRun) return
    stable.clear()
    stable.add(template)
  }

  /** A Rollout that comes anew knows only what runs. */
  function addRunning(story: DaemonSetStory): void {
    const { stable } = shareOf(story.namespace, story.name)
    for (const { pods } of story.nodes())
      for (const { ended, last } of pods.values()) {
        const template = world.templateOf(last.hash ?? '')
        if (ended === null && template !== undefined) stable.add(template)
      }
  }

  function followByHand(write: RecordedWrite): void {
    const { spec, metadata } = write.o as unknown as RecordedRelease & {
      readonly spec?: { readonly releasePlan?: Plan }
      readonly metadata?: { readonly ownerReferences?: readonly { readonly kind: string }[] }
    }
    if (spec?.workloadRef === undefined || query.isOurs(write.actor ?? '')) return
    const isOwned = metadata?.ownerReferences?.some(({ kind }) => kind === 'Rollout') === true
    shareOf(write.namespace, spec.workloadRef.name).plan = write.type === 'DELETED' || isOwned ? undefined : spec.releasePlan
  }

  return {
    onWrite(write, before) {
      if (write.kind === 'DaemonSet') beginRelease(write)
      if (write.kind === 'Rollout') followRollout(write, before as RecordedRollout | undefined)
      if (write.kind === 'BatchRelease') followByHand(write)
      if (write.kind === 'Pod' || write.kind === 'Node' || write.kind === 'BatchRelease')
        for (const story of world.stories()) releaseOf(story, story.latest?.template)?.look(write.t)
    },
    onDeletion({ daemonSet, pod, atMs, decision }) {
      const { revision } = daemonSet.orders
      const [rollout] = world.rolloutsOf(daemonSet)
      const wanted = daemonSet.mostWanted(decision, observations)
      const granted = rollout === undefined ? byHand(shareOf(daemonSet.namespace, daemonSet.name).plan) : bySteps(daemonSet, rollout, atMs)
      if (granted === null) return
      const most = Math.min(wanted, Math.max(0, ...granted.shares.map((share) => inNodes(share, wanted))))
      const taken = [...daemonSet.taken].filter((node) => node.name !== pod.node && takenBy(node, revision)?.byUs === true).length + 1
      if (taken > most) breach({ guarantee: 'G3', atMs, node: pod.node, text: `${taken} nodes are taken, and ${granted.text} ${most}` })
    },
  }

  function bySteps(daemonSet: DaemonSetStory, rollout: RecordedRollout, atMs: number): Granted | null {
    const { revision } = daemonSet.orders
    const release = revision === undefined ? undefined : releaseOf(daemonSet, world.templateOf(revision))
    const steps = stepsOf(rollout)
    release?.look(atMs, steps)
    const shares = release?.shares(steps) ?? null
    if (release === undefined || shares === null) return null
    const text = `the steps up to ${release.opened()} of ${steps.length}, which people, pauses and available pods have opened, have`
    return { shares, text }
  }
}

/** What is known of the releases of one DaemonSet. */
interface Share {
  /** By digest of the template. */
  readonly releases: Map<string, OpenedSteps>
  /** Templates that ran on every node before the release under way. */
  readonly stable: Set<string>
  /** The last template that the DaemonSet controller has observed, and the generation of the one that came after it. */
  replaced: { readonly template: string; readonly generation: number } | undefined
  /** Of the BatchRelease that somebody wrote by hand. */
  plan: Plan | undefined
}

interface Plan {
  readonly batches?: readonly { readonly canaryReplicas: number | string }[]
  readonly batchPartition?: number
}

/** What may be taken, and by what. */
interface Granted {
  readonly shares: readonly Step['replicas'][]
  readonly text: string
}

/** Without a batch all nodes may be taken. */
function byHand(plan: Plan | undefined): Granted | null {
  if (plan?.batches === undefined || plan.batchPartition === undefined) return null
  const text = `the batches up to ${plan.batchPartition + 1} of the BatchRelease have`
  return { shares: plan.batches.slice(0, plan.batchPartition + 1).map(({ canaryReplicas }) => canaryReplicas), text }
}

function isTakenUp(before: RecordedRollout | undefined, { spec }: RecordedRollout): boolean {
  return before === undefined || (before.spec.disabled === true && spec.disabled !== true)
}
