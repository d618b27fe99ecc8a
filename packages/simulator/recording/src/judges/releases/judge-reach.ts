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
import { bindingOf } from '../binding.ts'
import { stepsOf } from '../steps/step-reach.ts'
import { createRanTemplates, type RanTemplates } from './ran-templates.ts'

/**
 * G3: while an earlier step has a node, no pod is deleted on a node of a later step. This ends once a pod of the template has been Ready on
 * a wanted node. The earlier node may be dead, and its pods may be gone: it is to show that the version works. The selectors of the steps
 * are those of the Rollout in charge, whatever its BatchRelease says. One of the last minute before the release may allow the deletion, too.
 * Nodes count that have been there unchanged since the release began, that the policy does not exclude, and that the watches of the writer
 * had reported. Nothing is judged once users have jumped over a step, changed which nodes the steps, the policy or its exclusions select, or
 * detached the Rollout.
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

/** Selectors of the steps of a Rollout, until users changed them. */
interface FormerSteps {
  readonly steps: readonly RecordedSelector[]
  readonly untilMs: number
}

/** Release of a template. */
interface Release {
  readonly template: string | undefined
  readonly begunMs: number
  /** Rollout that the DaemonSet last named. */
  by: string | undefined
  /** Whether users have changed which nodes its steps have. */
  isChanged: boolean
}

class ReachJudge implements Judge {
  readonly #parts: JudgeParts
  readonly #ran: RanTemplates
  readonly #placed = new Map<string, Placed>()
  /** By namespace and name of the DaemonSet. */
  readonly #releases = new Map<string, Release>()
  /** By namespace and name of the Rollout. */
  readonly #formerSteps = new Map<string, readonly FormerSteps[]>()

  constructor(parts: JudgeParts) {
    this.#parts = parts
    this.#ran = createRanTemplates(parts.world)
  }

  onWrite(write: RecordedWrite, before: Readonly<Record<string, unknown>> | undefined): void {
    if (write.kind === 'Pod') this.#ran.followPod(write)
    if (write.kind === 'Node') this.#followNode(write)
    if (write.kind === 'DaemonSet') this.#followDaemonSet(write)
    if (write.kind === 'Rollout') this.#followRollout(write, before as unknown as RecordedRollout | undefined)
    if (write.kind === 'ReleasePolicy') this.#followPolicy(write, before as unknown as RecordedPolicy | undefined)
  }

  onDeletion({ daemonSet, pod, atMs, decision }: Deletion): void {
    const { world, observations, breach } = this.#parts
    const { revision } = daemonSet.orders
    const release = this.#releaseOf(daemonSet)
    const rollout = bindingOf(world, daemonSet)
    if (release === undefined || release.isChanged || rollout === undefined || isDetaching(rollout)) return
    if (revision === undefined || world.templateOf(revision) !== release.template || this.#ran.hasRun(daemonSet, revision)) return
    const place = daemonSet.node(pod.node)?.node
    if (place === undefined) return
    let earlier: readonly string[] = []
    for (const steps of this.#possibleSteps(daemonSet, rollout, release))
      for (const terms of daemonSet.terms.possible(decision, observations)) {
        const rules = { steps, exclude: terms?.nodes?.exclude ?? [] }
        earlier = this.#earlierNodes(daemonSet, release, { rules, place }).filter((name) =>
          observations.hasSeen(decision, this.#placed.get(name)!.cause),
        )
        if (earlier.length === 0) return
      }
    const text = `no pod of revision ${revision} was ever Ready, but ${earlier.join(', ')} of an earlier step ${earlier.length === 1 ? 'is' : 'are'} still to be updated`
    breach({ guarantee: 'G3', atMs, node: pod.node, text })
  }

  /** The present selectors, and those that a process may still have known when the release began. */
  #possibleSteps({ namespace }: DaemonSetStory, rollout: RecordedRollout, { begunMs }: Release): readonly FormerSteps['steps'][] {
    const former = this.#formerSteps.get(`${namespace}/${rollout.metadata.name}`) ?? []
    return [selectorsOf(rollout), ...former.filter(({ untilMs }) => untilMs > begunMs - KNOWN_AFTER_MS).map(({ steps }) => steps)]
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
    if (write.type === 'DELETED' || query.isOurs(write.actor ?? '')) return
    const hasOtherSteps = before !== undefined && JSON.stringify(selectorsOf(before)) !== JSON.stringify(selectorsOf(next))
    if (hasOtherSteps) {
      const key = `${write.namespace}/${next.metadata.name}`
      this.#formerSteps.set(key, [...(this.#formerSteps.get(key) ?? []), { steps: selectorsOf(before), untilMs: write.t }])
    }
    if (story === undefined || !isInCharge(bindingOf(world, story), next)) return
    const action = actionOf(next)
    const isJump = action?.type === 'jump' && action.id !== actionOf(before)?.id
    const isTakenUp = before === undefined || (before.spec.disabled === true && next.spec.disabled !== true)
    const hasOtherPolicy = before !== undefined && policyOf(before) !== policyOf(next)
    if (isJump || isTakenUp || hasOtherSteps || hasOtherPolicy || stepOf(before).next !== stepOf(next).next) this.#changed(story)
  }

  #followPolicy({ namespace, o, type, actor = '' }: RecordedWrite, before: RecordedPolicy | undefined): void {
    const { world, query } = this.#parts
    const { metadata, spec } = o as unknown as RecordedPolicy
    const next = type === 'DELETED' ? undefined : spec
    if (query.isOurs(actor) || excludedText(before?.spec) === excludedText(next)) return
    for (const story of world.stories()) {
      const rollout = story.namespace === namespace ? bindingOf(world, story) : undefined
      if (rollout !== undefined && policyOf(rollout) === metadata.name) this.#changed(story)
    }
  }

  /** Another template begins a release. Another Rollout that takes over has steps of its own. */
  #followDaemonSet({ t, o, namespace, type }: RecordedWrite): void {
    const { name, template, annotations } = o as unknown as RecordedDaemonSet
    const key = `${namespace}/${name}`
    const by = annotations?.[BOUND]
    const known = this.#releases.get(key)
    if (type === 'DELETED') this.#releases.delete(key)
    else if (known === undefined || known.template !== template) this.#releases.set(key, { template, begunMs: t, by, isChanged: false })
    else if (by !== undefined && by !== known.by) {
      known.isChanged ||= known.by !== undefined
      known.by = by
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

/** A ReleasePolicy, limited to what decides on the nodes of a release. */
interface RecordedPolicy {
  readonly metadata: { readonly name: string }
  readonly spec?: { readonly nodes?: { readonly exclude?: readonly RecordedSelector[] } }
}

/** Time (ms) after which each process that runs knows the steps that a user has changed. */
const KNOWN_AFTER_MS = 60_000

const BOUND = 'tranche.dev/rollout'

/** Keys of taints that come and go with the state of a node. */
const KUBERNETES = /^node\.(cloudprovider\.)?kubernetes\.io\//

function isDetaching(rollout: RecordedRollout): boolean {
  return rollout.metadata.deletionTimestamp !== undefined || rollout.spec.disabled === true
}

/** Whether the Rollout is in charge, or may be, as none is. */
function isInCharge(charge: RecordedRollout | undefined, { metadata }: RecordedRollout): boolean {
  return charge === undefined || charge.metadata.name === metadata.name
}

function excludedText(spec: RecordedPolicy['spec']): string {
  return JSON.stringify(spec?.nodes?.exclude ?? [])
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
