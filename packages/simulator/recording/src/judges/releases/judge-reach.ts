import type { RecordedDaemonSet, RecordedNode, RecordedWrite } from '../../record/recorded-write.ts'
import type { DaemonSetStory } from '../../world/daemon-set-story.ts'
import { isWantedOnReturn } from '../../world/eligibility.ts'
import type { NodeStory } from '../../world/node-story.ts'
import type { Cause } from '../../world/observations.ts'
import { actionOf, stepOf } from '../../world/recorded-action.ts'
import type { RecordedRelease, RecordedRollout } from '../../world/stops.ts'
import { type RecordedNodeRules, selects } from '../../world/terms.ts'
import type { Deletion } from '../../world/world.ts'
import type { Judge, JudgeParts } from '../judge-parts.ts'
import { isEndingItself, stepsOf } from '../opened-steps.ts'
import { createRanTemplates, type RanTemplates } from './ran-templates.ts'

/**
 * G3: while an earlier step has a node, no pod is deleted on a node of a later step. This ends once a pod of the template has been Ready on a
 * wanted node. The earlier node may be dead, and its pods may be gone: it is to show that the version works. Nodes count that have been
 * there unchanged since the release began, that the policy does not exclude, and that the watches of the writer had reported. Nothing is judged
 * once users have jumped over a step, changed the steps or the policy, or detached the Rollout.
 */
export function createReachJudge(parts: JudgeParts): Judge {
  return new ReachJudge(parts)
}

/** What decides on the placement of a node, and since when. */
interface Placed {
  readonly text: string
  readonly cause: Cause
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

  constructor(parts: JudgeParts) {
    this.#parts = parts
    this.#ran = createRanTemplates(parts.world)
  }

  onWrite(write: RecordedWrite, before: Readonly<Record<string, unknown>> | undefined): void {
    if (write.kind === 'Pod') this.#ran.followPod(write)
    if (write.kind === 'Node') this.#followNode(write)
    if (write.kind === 'DaemonSet') this.#followTemplate(write)
    if (write.kind === 'Rollout') this.#followRollout(write, before as unknown as RecordedRollout | undefined)
    if (write.kind === 'BatchRelease') this.#followTerms(write, before as unknown as RecordedRelease | undefined)
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
    for (const terms of daemonSet.terms.possible(decision, observations)) {
      earlier = this.#earlierNodes(daemonSet, release, { rules: terms?.nodes ?? {}, place }).filter((name) =>
        observations.hasSeen(decision, this.#placed.get(name)!.cause),
      )
      if (earlier.length === 0) return
    }
    const text = `no pod of revision ${revision} was ever Ready, but ${earlier.join(', ')} of an earlier step ${earlier.length === 1 ? 'is' : 'are'} still to be updated`
    breach({ guarantee: 'G3', atMs, node: pod.node, text })
  }

  #earlierNodes(story: DaemonSetStory, { begunMs }: Release, { rules, place }: { rules: RecordedNodeRules; place: RecordedNode }) {
    const own = stepIn(rules, place)
    const isEarlier = ({ name, node }: NodeStory): boolean =>
      node !== undefined &&
      name !== place.name &&
      (this.#placed.get(name)?.cause.t ?? Number.POSITIVE_INFINITY) < begunMs &&
      isWantedOnReturn(story.latest?.placement, node) &&
      rules.exclude?.some((selector) => selects(selector, node)) !== true &&
      stepIn(rules, node) < own
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
    if (isJump || isTakenUp || hasOtherSteps || stepOf(before).next !== stepOf(next).next) this.#changed(story)
  }

  #followTerms(write: RecordedWrite, before: RecordedRelease | undefined): void {
    const next = write.o as unknown as RecordedRelease
    const story = this.#parts.world.story(write.namespace, next.spec?.workloadRef?.name ?? '')
    if (story === undefined || before === undefined || write.type === 'DELETED') return
    const [was, is] = [before.spec?.tranche, next.spec?.tranche]
    if (was?.release === is?.release && JSON.stringify(was?.nodes) !== JSON.stringify(is?.nodes)) this.#changed(story)
  }

  #followTemplate({ t, o, namespace, type }: RecordedWrite): void {
    const { name, template } = o as unknown as RecordedDaemonSet
    const key = `${namespace}/${name}`
    if (type === 'DELETED') this.#releases.delete(key)
    else if (this.#releases.get(key)?.template !== template) this.#releases.set(key, { template, begunMs: t, isChanged: false })
  }

  #changed(story: DaemonSetStory): void {
    const release = this.#releaseOf(story)
    if (release !== undefined) release.isChanged = true
  }

  #releaseOf({ namespace, name }: DaemonSetStory): Release | undefined {
    return this.#releases.get(`${namespace}/${name}`)
  }
}

/** Keys of taints that come and go with the state of a node. */
const KUBERNETES = /^node\.(cloudprovider\.)?kubernetes\.io\//

function isDetaching(rollout: RecordedRollout): boolean {
  return rollout.metadata.deletionTimestamp !== undefined || rollout.spec.disabled === true || isEndingItself(rollout)
}

/** First step that selects the node; Infinity where none does. */
function stepIn({ steps = [] }: RecordedNodeRules, node: RecordedNode): number {
  const step = steps.findIndex((selector) => selects(selector, node))
  return step === -1 ? Number.POSITIVE_INFINITY : step
}
