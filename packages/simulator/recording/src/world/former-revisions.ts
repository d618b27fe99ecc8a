import type { RecordedDaemonSet, RecordedNode, RecordedWrite } from '../record/recorded-write.ts'
import type { DaemonSetStory } from './daemon-set-story.ts'
import { isInMaintenance } from './maintenance.ts'
import type { NodeStory, PodStory } from './node-story.ts'
import type { Cause, Decision, Observations } from './observations.ts'
import type { RecordedRollout } from './stops.ts'
import { mayBeTaken } from './terms.ts'
import type { World } from './world.ts'

/**
 * Revisions that are from before a release, because they were stable once. A template becomes stable when a Rollout reports that its release
 * is complete, and every wanted node runs it, is out of reach, or is excluded by the policy. Those that run when a Rollout is created count
 * too, except the one of a frozen release. So does the first template of a DaemonSet that was created again: no release brought it. A template that is released again and does not become stable counts no longer. One that is replaced
 * before the status of a new Rollout names it was not released.
 */
export interface FormerRevisions {
  /** Called for each write, before it is applied to the world. */
  onWrite(write: RecordedWrite): void
  /**
   * @param withGone counts revisions, too, whose pods had all ended when a Rollout was created: its controller may not have known that @default true
   * @returns the `controller-revision-hash` of each pod of such a revision that the deciding process may know
   */
  possible(daemonSet: DaemonSetStory, decision: Decision, withGone?: boolean): ReadonlySet<string>
  /** @returns as {@link FormerRevisions.possible}, once for each state that the deciding process may have known, newest first */
  states(daemonSet: DaemonSetStory, decision: Decision): readonly ReadonlySet<string>[]
}

/** Follows the templates of each DaemonSet, and the nodes that run them. */
export function followFormerRevisions(world: World, observations: Observations, isOurs: (actor: string) => boolean): FormerRevisions {
  return new StableTemplates(world, observations, isOurs)
}

/** Knowledge of one DaemonSet. */
interface Known {
  /** Last template that became stable; undefined before the first. */
  stable: string | undefined
  /** Uid of the DaemonSet. */
  uid: string | undefined
  /** Whether the DaemonSet was created again, and still has the template with which it was. */
  isFirst: boolean
  /** False from the creation of a Rollout until its status first names a revision. */
  hasStatus: boolean
  /** Templates that were stable, newest last. */
  readonly former: FormerTemplates[]
}

interface FormerTemplates {
  readonly cause: Cause
  readonly templates: ReadonlySet<string>
  /** Those of them whose pods had all ended. */
  readonly gone: ReadonlySet<string>
}

class StableTemplates implements FormerRevisions {
  readonly #world: World
  readonly #observations: Observations
  readonly #isOurs: (actor: string) => boolean
  readonly #known = new Map<DaemonSetStory, Known>()
  /** Epoch milliseconds at which each node came back into reach. */
  readonly #backMs = new Map<string, number>()

  constructor(world: World, observations: Observations, isOurs: (actor: string) => boolean) {
    this.#world = world
    this.#observations = observations
    this.#isOurs = isOurs
  }

  onWrite(write: RecordedWrite): void {
    if (write.kind === 'Node') this.#followNode(write)
    else if (write.kind === 'DaemonSet') this.#followTemplate(write)
    else if (write.kind === 'Rollout' && write.type !== 'DELETED') this.#followRollout(write)
  }

  possible(daemonSet: DaemonSetStory, decision: Decision, withGone = true): ReadonlySet<string> {
    const templates = new Set<string>()
    for (const { templates: known, gone } of this.#seen(daemonSet, decision))
      for (const template of known) if (withGone || !gone.has(template)) templates.add(template)
    return this.#hashesOf(daemonSet, templates)
  }

  states(daemonSet: DaemonSetStory, decision: Decision): readonly ReadonlySet<string>[] {
    return this.#seen(daemonSet, decision).map(({ templates }) => this.#hashesOf(daemonSet, templates))
  }

  /** Newest first. */
  #seen(daemonSet: DaemonSetStory, decision: Decision): readonly FormerTemplates[] {
    const all = this.#of(daemonSet).former.toReversed()
    const first = all.findIndex(({ cause }) => this.#observations.hasSeen(decision, cause))
    return first === -1 ? all : all.slice(0, first + 1)
  }

  #hashesOf(daemonSet: DaemonSetStory, templates: ReadonlySet<string>): ReadonlySet<string> {
    const hashes = new Set<string>()
    for (const { pods } of daemonSet.nodes())
      for (const { last } of pods.values()) if (last.hash !== undefined && templates.has(this.#templateOf(last.hash))) hashes.add(last.hash)
    return hashes
  }

  #followNode({ o, t }: RecordedWrite): void {
    const node = o as unknown as RecordedNode
    if (!isReachable(node)) this.#backMs.set(node.name, Number.POSITIVE_INFINITY)
    else if (this.#backMs.get(node.name) === Number.POSITIVE_INFINITY) this.#backMs.set(node.name, t)
  }

  #followTemplate(write: RecordedWrite): void {
    const { name, template, uid } = write.o as unknown as RecordedDaemonSet
    const story = this.#world.story(write.namespace, name)
    if (story === undefined || write.type === 'DELETED') return
    const known = this.#of(story)
    if (known.uid !== undefined && uid !== known.uid) known.isFirst = true
    known.uid = uid
    const before = story.latest?.template
    if (template === undefined || before === undefined || before === template) return
    const templates = [...this.#latest(known)]
    if (known.isFirst) this.#note(story, write, [...templates, before])
    else if (before !== known.stable && known.hasStatus)
      this.#note(
        story,
        write,
        templates.filter((one) => one !== before),
      )
    known.isFirst = false
  }

  #followRollout(write: RecordedWrite): void {
    const { spec, status } = write.o as unknown as RecordedRollout
    const story = this.#world.story(write.namespace, spec.workloadRef?.name ?? '')
    if (story === undefined) return
    const known = this.#of(story)
    if (this.#world.before(write) === undefined) {
      known.stable = undefined
      known.hasStatus = false
      const frozen = this.#templateOf(frozenRevision(story))
      const on = (isMeant: (pod: PodStory) => boolean): readonly string[] =>
        templatesOn(story, isMeant, (hash) => this.#templateOf(hash)).filter((template) => template !== frozen)
      const standing = new Set(on(({ ended }) => ended === null))
      const all = on(() => true)
      this.#note(
        story,
        write,
        all,
        all.filter((template) => !standing.has(template)),
      )
    }
    const template = story.latest?.template
    const { canaryRevision } = status?.canaryStatus ?? {}
    if (this.#isOurs(write.actor ?? '') && (canaryRevision ?? '') !== '') known.hasStatus = true
    const isReported = this.#isOurs(write.actor ?? '') && status?.phase === 'Healthy'
    if (!isReported || template === undefined || template === known.stable) return
    if (this.#templateOf(canaryRevision ?? '') !== template || !this.#isOnEveryNode(story, template, write.t)) return
    known.stable = template
    const gone = this.#gone(story).filter((one) => one !== template)
    this.#note(story, write, [...this.#latest(known), template], gone)
  }

  #isOnEveryNode(story: DaemonSetStory, template: string, nowMs: number): boolean {
    const rules = story.terms.latest?.nodes ?? {}
    return [...story.nodes()].every((one) => {
      const { name, node, wanted } = one
      const isAway = !isReachable(node) || nowMs - (this.#backMs.get(name) ?? Number.NEGATIVE_INFINITY) < UNSEEN_MS
      return !wanted || node === undefined || isAway || !mayBeTaken(rules, node, undefined) || this.#runsOnly(one, template)
    })
  }

  #runsOnly({ pods }: NodeStory, template: string): boolean {
    return [...pods.values()].every(({ ended, last }) => ended !== null || this.#templateOf(last.hash ?? '') === template)
  }

  #note(story: DaemonSetStory, { t, rv }: RecordedWrite, templates: readonly string[], gone = this.#gone(story)): void {
    this.#of(story).former.push({ cause: { t, rv, of: 'daemonsets' }, templates: new Set(templates), gone: new Set(gone) })
  }

  #gone(story: DaemonSetStory): readonly string[] {
    return [...(this.#of(story).former.at(-1)?.gone ?? [])]
  }

  #latest({ former }: Known): Iterable<string> {
    return former.at(-1)?.templates ?? []
  }

  #templateOf(hash: string): string {
    return this.#world.templateOf(hash) ?? ''
  }

  #of(story: DaemonSetStory): Known {
    const known = this.#known.get(story) ?? { stable: undefined, uid: undefined, isFirst: false, hasStatus: true, former: [] }
    this.#known.set(story, known)
    return known
  }
}

/** How long a controller may not know yet that a node is back. */
const UNSEEN_MS = 60_000

function isReachable(node: RecordedNode | undefined): boolean {
  return node?.ready === 'True' && !isInMaintenance(node)
}

/** Templates of these pods on wanted nodes; of ended ones as far as they are remembered. */
function templatesOn(story: DaemonSetStory, isMeant: (pod: PodStory) => boolean, templateOf: (hash: string) => string): readonly string[] {
  const pods = [...story.nodes()].flatMap((node) => (node.wanted ? [...node.pods.values()].filter(isMeant) : []))
  return pods.flatMap(({ last: { hash } }) => (hash === undefined ? [] : [templateOf(hash)]))
}

function frozenRevision({ latest }: DaemonSetStory): string {
  return /"revision":"([^"]+)"/.exec(latest?.annotations?.['tranche.dev/frozen'] ?? '')?.[1] ?? ''
}
