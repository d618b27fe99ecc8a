import type { RecordedDaemonSet, RecordedNode, RecordedWrite } from '../../record/recorded-write.ts'
import type { DaemonSetStory } from '../../world/daemon-set-story.ts'
import { isWantedOnReturn } from '../../world/eligibility.ts'
import type { NodeStory } from '../../world/node-story.ts'
import type { Cause } from '../../world/observations.ts'
import { actionOf, stepOf } from '../../world/recorded-action.ts'
import type { RecordedRollout } from '../../world/stops.ts'
import { type RecordedSelector, selects } from '../../world/terms.ts'
import type { Deletion } from '../../world/world.ts'
import type { Judge, JudgeParts } from '../judge-parts.ts'
import { stepsOf } from '../opened-steps.ts'
import { createRanTemplates, type RanTemplates } from './ran-templates.ts'

/**
 * G3: while an earlier step has a node, no pod is deleted on a node of a later step. This ends once a pod of the template has been Ready on
 * a wanted node. The earlier node may be dead, and its pods may be gone: it is to show that the version works. The selectors of the steps
 * are those of the Rollout, whatever its BatchRelease says. Nodes count that have been there unchanged since the release began, that the
 * policy does not exclude, and that the watches of the writer had reported. Nothing is judged once users have jumped over a step, changed
 * the steps or the policy, or detached the Rollout.
 */
export function createReachJudge(parts: JudgeParts): Judge {
  return new ReachJudge(parts)
}

/** What decides on the placement of a node, and since when. */
interface Placed {
  readonly text: string
  readonly cause: Cause
}

/** Selectors that decide which nodes a step has. */
interface Rules {
  readonly steps: readonly RecordedSelector[]
  readonly exclude: readonly RecordedSelector[]
}

/** Release of a template. */
interface Release {
  readonly template: string | undefined
  readonly begunMs: number
  /** Whether users have changed what its steps are. */
  isChanged: boolean
}

class ReachJudge implements Judge {
  readonly #parts: JudgeParts
  readonly #ran: RanTemplates
  readonly #placed = new Map<string, Placed>()
  /** By namespace and name of the DaemonSet. */
  readonly #releases = new Map<string, Release>()
  /** When users last changed the steps, by namespace and name of the DaemonSet. */
  readonly #changedMs = new Map<string, number>()

  constructor(parts: JudgeParts) {
    this.#parts = parts
    this.#ran = createRanTemplates(parts.world)
  }

  onWrite(write: RecordedWrite, before: Readonly<Record<string, unknown>> | undefined): void {
    if (write.kind === 'Pod') this.#ran.followPod(write)
    if (write.kind === 'Node') this.#followNode(write)
    if (write.kind === 'DaemonSet') this.#followTemplate(write)
    if (write.kind === 'Rollout') this.#followRollout(write, before as unknown as RecordedRollout | undefined)
    if (write.kind === 'ReleasePolicy') this.#followPolicy(write)
  }

  onDeletion({ daemonSet, pod, atMs, decision }: Deletion): void {
    const { world, observations, breach } = this.#parts
    const { revision } = daemonSet.orders
    const release = this.#releaseOf(daemonSet)
    const rollouts = world.rolloutsOf(daemonSet)
    if (release === undefined || release.isChanged || rollouts.length === 0 || rollouts.some(isDetaching)) return
    if (revision === undefined || world.templateOf(revision) !== release.template || this.#ran.hasRun(daemonSet, revision)) return
    const place = daemonSet.node(pod.node)?.node
    if (place === undefined) return
    let earlier: readonly string[] = []
    for (const rollout of rollouts)
      for (const terms of daemonSet.terms.possible(decision, observations)) {
        const rules = { steps: selectorsOf(rollout), exclude: terms?.nodes?.exclude ?? [] }
        earlier = this.#earlierNodes(daemonSet, release, { rules, place }).filter((name) =>
          observations.hasSeen(decision, this.#placed.get(name)!.cause),
        )
        if (earlier.length === 0) return
      }
    const text = `no pod of revision ${revision} was ever Ready, but ${earlier.join(', ')} of an earlier step ${earlier.length === 1 ? 'is' : 'are'} still to be updated`
    breach({ guarantee: 'G3', atMs, node: pod.node, text })
  }

  #earlierNodes(story: DaemonSetStory, { begunMs }: Release, { rules, place }: { rules: Rules; place: RecordedNode }) {
    const own = stepIn(rules.steps, place)
    const isEarlier = ({ name, node }: NodeStory): boolean =>
      node !== undefined &&
      (this.#placed.get(name)?.cause.t ?? Number.POSITIVE_INFINITY) < begunMs &&
      isWantedOnReturn(story.latest?.placement, node) &&
      !rules.exclude.some((selector) => selects(selector, node)) &&
      stepIn(rules.steps, node) < own
    return [...story.nodes()].filter(isEarlier).map(({ name }) => name)
  }

  #followNode({ t, rv, o, type }: RecordedWrite): void {
    const node = o as unknown as RecordedNode
    if (type === 'DELETED') return void this.#placed.delete(node.name)
    const lasting = (node.taints ?? []).filter(({ key }) => !KUBERNETES.test(key))
    const text = JSON.stringify([node.labels, lasting])
    const known = this.#placed.get(node.name)
    if (known?.text !== text) this.#placed.set(node.name, { text, cause: { t, rv, of: 'nodes' } })
  }

  #followRollout(write: RecordedWrite, before: RecordedRollout | undefined): void {
    const { world, query } = this.#parts
    const next = write.o as unknown as RecordedRollout
    const story = world.story(write.namespace, next.spec.workloadRef?.name ?? '')
    if (story === undefined || write.type === 'DELETED' || query.isOurs(write.actor ?? '')) return
    const action = actionOf(next)
    const isJump = action?.type === 'jump' && action.id !== actionOf(before)?.id
    const isTakenUp = before === undefined || (before.spec.disabled === true && next.spec.disabled !== true)
    const hasOtherSteps = before !== undefined && JSON.stringify(stepsOf(before)) !== JSON.stringify(stepsOf(next))
    const hasOtherPolicy = before !== undefined && policyOf(before) !== policyOf(next)
    if (hasOtherSteps) this.#changedMs.set(`${story.namespace}/${story.name}`, write.t)
    if (isJump || isTakenUp || hasOtherSteps || hasOtherPolicy || stepOf(before).next !== stepOf(next).next) this.#changed(story)
  }

  #followPolicy({ namespace, o, actor = '' }: RecordedWrite): void {
    const { world, query } = this.#parts
    if (query.isOurs(actor)) return
    const { name } = o['metadata'] as { readonly name: string }
    for (const story of world.stories())
      if (story.namespace === namespace && world.rolloutsOf(story).some((rollout) => policyOf(rollout) === name)) this.#changed(story)
  }

  #followTemplate({ t, o, namespace, type }: RecordedWrite): void {
    const { name, template } = o as unknown as RecordedDaemonSet
    const key = `${namespace}/${name}`
    if (type === 'DELETED') this.#releases.delete(key)
    else if (this.#releases.get(key)?.template !== template) {
      const isChanged = t - (this.#changedMs.get(key) ?? Number.NEGATIVE_INFINITY) < KNOWN_AFTER_MS
      this.#releases.set(key, { template, begunMs: t, isChanged })
    }
  }

  #changed(story: DaemonSetStory): void {
    const release = this.#releaseOf(story)
    if (release !== undefined) release.isChanged = true
  }

  #releaseOf({ namespace, name }: DaemonSetStory): Release | undefined {
    return this.#releases.get(`${namespace}/${name}`)
  }
}

/** Time (ms) after which each process that runs knows the steps that a user has changed. */
const KNOWN_AFTER_MS = 60_000

/** Keys of taints that come and go with the state of a node. */
const KUBERNETES = /^node\.(cloudprovider\.)?kubernetes\.io\//

function isDetaching(rollout: RecordedRollout): boolean {
  return rollout.metadata.deletionTimestamp !== undefined || rollout.spec.disabled === true
}

function policyOf({ metadata }: RecordedRollout): string | undefined {
  return metadata.annotations?.['tranche.dev/release-policy']
}

/** Selector of each step; one without a selector selects all nodes. */
function selectorsOf(rollout: RecordedRollout): readonly RecordedSelector[] {
  return stepsOf(rollout).map(({ nodes }) => nodes ?? {})
}

/** First step that selects the node; Infinity where none does. */
function stepIn(steps: readonly RecordedSelector[], node: RecordedNode): number {
  const step = steps.findIndex((selector) => selects(selector, node))
  return step === -1 ? Number.POSITIVE_INFINITY : step
}
