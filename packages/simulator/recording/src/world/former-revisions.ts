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
 * is complete, and every wanted node runs it, is out of reach, or is excluded by the policy. Those that run before the first release of a Rollout
 * count too, except the one of a frozen release. So does the first template of a DaemonSet that was created again: no release brought it. A template
 * counts no longer once the status of a Rollout names another one in its place, unless it has become stable. Until a status names it, it is
 * only applied, and not released.
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
  /** First template of a DaemonSet that was created again, until a status names another one. */
  first: string | undefined
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
    if (known.isFirst) {
      this.#note(story, write, [...this.#latest(known), before])
      known.first = before
    }
    known.isFirst = false
  }

  #followRollout(write: RecordedWrite): void {
    const { spec } = write.o as unknown as RecordedRollout
    const story = this.#world.story(write.namespace, spec.workloadRef?.name ?? '')
    if (story === undefined) return
    const before = this.#world.before(write)
    if (before === undefined) this.#followCreation(story, write)
    if (!this.#isOurs(write.actor ?? '')) return
    if (before !== undefined && this.#released(before) === '') this.#followFirstPass(story, write)
    this.#followReleased(story, write)
    this.#followStable(story, write)
  }

  #followCreation(story: DaemonSetStory, write: RecordedWrite): void {
    this.#of(story).stable = undefined
    const standing = new Set(this.#templatesOn(story, ({ ended }) => ended === null))
    const all = this.#templatesOn(story, () => true)
    const gone = all.filter((template) => !standing.has(template))
    this.#note(story, write, all, gone)
  }

  /** Pods may have come up since the Rollout was created: until its controller names a release, they ran before the first one. */
  #followFirstPass(story: DaemonSetStory, write: RecordedWrite): void {
    const standing = this.#templatesOn(story, ({ ended }) => ended === null)
    const gone = this.#gone(story).filter((template) => !standing.includes(template))
    this.#note(story, write, [...this.#latest(this.#of(story)), ...standing], gone)
  }

  /** Templates of these pods, without the one of a frozen release. */
  #templatesOn(story: DaemonSetStory, isMeant: (pod: PodStory) => boolean): readonly string[] {
    const frozen = this.#templateOf(frozenRevision(story))
    return templatesOn(story, isMeant, (hash) => this.#templateOf(hash)).filter((template) => template !== frozen)
  }

  /** A template that the status named, and names no more, was released. */
  #followReleased(story: DaemonSetStory, write: RecordedWrite): void {
    const known = this.#of(story)
    const released = this.#released(this.#world.before(write))
    if (released === this.#released(write.o)) return
    const { first } = known
    known.first = undefined
    if (released === '' || released === known.stable || released === first) return
    const kept = [...this.#latest(known)].filter((template) => template !== released)
    this.#note(story, write, kept)
  }

  #followStable(story: DaemonSetStory, write: RecordedWrite): void {
    const known = this.#of(story)
    const { status } = write.o as unknown as RecordedRollout
    const template = story.latest?.template
    if (status?.phase !== 'Healthy' || template === undefined || template === known.stable) return
    if (this.#released(write.o) !== template || !this.#isOnEveryNode(story, template, write.t)) return
    known.stable = template
    const gone = this.#gone(story).filter((one) => one !== template)
    this.#note(story, write, [...this.#latest(known), template], gone)
  }

  /** @returns the template that the status of a Rollout names as released; empty without one */
  #released(rollout: Readonly<Record<string, unknown>> | undefined): string {
    const { status } = (rollout ?? {}) as unknown as Partial<RecordedRollout>
    return this.#templateOf(status?.canaryStatus?.canaryRevision ?? '')
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
    const known = this.#known.get(story) ?? { stable: undefined, uid: undefined, isFirst: false, first: undefined, former: [] }
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
