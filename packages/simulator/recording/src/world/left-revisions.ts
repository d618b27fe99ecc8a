import type { RecordedDaemonSet, RecordedNode, RecordedPod, RecordedWrite } from '../record/recorded-write.ts'
import type { DaemonSetStory } from './daemon-set-story.ts'
import { isInMaintenance } from './maintenance.ts'
import type { NodeStory } from './node-story.ts'
import type { Cause, Decision, Observations } from './observations.ts'
import { mayBeTaken } from './terms.ts'
import type { World } from './world.ts'

/**
 * Revisions that completed releases left behind on nodes. A template is released when it was on every wanted node that it could reach, before
 * the next template came. It could not reach nodes that were NotReady or in maintenance at a time, or that the policy excludes. A template
 * that comes back after one that was not released leaves nothing behind.
 */
export interface LeftRevisions {
  /** Called for each write, before it is applied to the world. */
  onWrite(write: RecordedWrite): void
  /** @returns the `controller-revision-hash` of each revision that the deciding process may know to be left behind */
  possible(daemonSet: DaemonSetStory, decision: Decision): ReadonlySet<string>
}

/** Follows the templates of each DaemonSet, and the nodes that run them. */
export function followLeftRevisions(world: World, observations: Observations): LeftRevisions {
  return new TemplatesOnNodes(world, observations)
}

/** Knowledge of one DaemonSet. */
interface Known {
  /** Nodes that have run the present template, or could not be reached since it came. */
  readonly reached: Set<string>
  /** Last template that was released; undefined before the first, and for a new Rollout. */
  released: string | undefined
  /** The revisions left behind, newest last. */
  readonly left: { readonly cause: Cause; readonly revisions: ReadonlySet<string> }[]
}

class TemplatesOnNodes implements LeftRevisions {
  readonly #world: World
  readonly #observations: Observations
  readonly #known = new Map<DaemonSetStory, Known>()

  constructor(world: World, observations: Observations) {
    this.#world = world
    this.#observations = observations
  }

  onWrite(write: RecordedWrite): void {
    if (write.kind === 'Pod') this.#followPod(write)
    else if (write.kind === 'Node') this.#followNode(write.o as unknown as RecordedNode)
    else if (write.kind === 'DaemonSet') this.#followTemplate(write)
    else if (write.kind === 'Rollout') this.#followRollout(write)
  }

  possible(daemonSet: DaemonSetStory, decision: Decision): ReadonlySet<string> {
    const found = new Set<string>()
    for (const { cause, revisions } of this.#of(daemonSet).left.toReversed()) {
      for (const revision of revisions) found.add(revision)
      if (this.#observations.hasSeen(decision, cause)) break
    }
    return found
  }

  #followPod({ namespace, o, type }: RecordedWrite): void {
    const { owner, node, hash, deleting } = o as unknown as RecordedPod
    const story = owner === undefined ? undefined : this.#world.story(namespace, owner)
    if (story === undefined || node === undefined || type === 'DELETED' || deleting) return
    if (this.#isOf(hash, story.latest?.template)) this.#of(story).reached.add(node)
  }

  #followNode(node: RecordedNode): void {
    if (isReachable(node)) return
    for (const story of this.#world.stories()) this.#of(story).reached.add(node.name)
  }

  /** A Rollout that is created knows nothing of releases before it. */
  #followRollout(write: RecordedWrite): void {
    if (this.#world.before(write) !== undefined) return
    const { spec } = write.o as { readonly spec?: { readonly workloadRef?: { readonly name?: string } } }
    const story = this.#world.story(write.namespace, spec?.workloadRef?.name ?? '')
    if (story !== undefined) this.#of(story).released = undefined
  }

  #followTemplate({ namespace, o, type, t, rv }: RecordedWrite): void {
    const { name, template } = o as unknown as RecordedDaemonSet
    const story = this.#world.story(namespace, name)
    const before = story?.latest?.template
    if (story === undefined || type === 'DELETED' || template === undefined || before === template) return
    const known = this.#of(story)
    const left =
      before === undefined || before === known.released || !this.#isReleased(story) ? this.#leftBy(known) : this.#othersOn(story, before)
    if (before !== undefined && this.#isReleased(story)) known.released = before
    known.left.push({ cause: { t, rv, of: 'daemonsets' }, revisions: new Set([...left].filter((hash) => !this.#isOf(hash, template))) })
    known.reached.clear()
    for (const node of story.nodes())
      if (!isReachable(node.node) || standing(node).some((hash) => this.#isOf(hash, template))) known.reached.add(node.name)
  }

  #isReleased(story: DaemonSetStory): boolean {
    const { reached } = this.#of(story)
    const rules = story.terms.latest?.nodes ?? {}
    return [...story.nodes()].every(
      ({ name, wanted, node, pods }) =>
        !wanted || reached.has(name) || node === undefined || !mayBeTaken(rules, node, undefined) || standing({ pods }).length === 0,
    )
  }

  /** Terminating pods count too, and ended ones as far as they are remembered. */
  #othersOn(story: DaemonSetStory, template: string): readonly string[] {
    const pods = [...story.nodes()].flatMap((node) => (node.wanted ? [...node.pods.values()] : []))
    return pods.flatMap(({ last: { hash } }) => (hash === undefined || this.#isOf(hash, template) ? [] : [hash]))
  }

  #leftBy({ left }: Known): Iterable<string> {
    return left.at(-1)?.revisions ?? []
  }

  #isOf(hash: string | undefined, template: string | undefined): boolean {
    return hash !== undefined && template !== undefined && this.#world.templateOf(hash) === template
  }

  #of(story: DaemonSetStory): Known {
    const known = this.#known.get(story) ?? { reached: new Set(), released: undefined, left: [] }
    this.#known.set(story, known)
    return known
  }
}

function isReachable(node: RecordedNode | undefined): boolean {
  return node?.ready === 'True' && !isInMaintenance(node)
}

/** Revisions of the pods that are not ended. */
function standing({ pods }: Pick<NodeStory, 'pods'>): readonly string[] {
  return [...pods.values()].flatMap(({ ended, last }) => (ended === null && last.hash !== undefined ? [last.hash] : []))
}
