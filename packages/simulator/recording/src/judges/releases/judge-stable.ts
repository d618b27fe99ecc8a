import type { RecordedDaemonSet, RecordedNode, RecordedWrite } from '../../record/recorded-write.ts'
import type { DaemonSetStory } from '../../world/daemon-set-story.ts'
import { isWantedOnReturn } from '../../world/eligibility.ts'
import type { NodeStory } from '../../world/node-story.ts'
import type { Cause, Decision } from '../../world/observations.ts'
import type { RecordedRollout } from '../../world/stops.ts'
import { mayBeTaken } from '../../world/terms.ts'
import type { Judge, JudgeParts } from '../judge-parts.ts'
import { createRanTemplates, type RanTemplates } from './ran-templates.ts'

/**
 * G3: a Rollout reports that a release is complete, and its revision stable, only if a pod of that template has been Ready on a wanted node.
 * Without a wanted node there is nothing to release. Excepted are nodes that are wanted as soon as they work again: only a taint for their
 * failure keeps the DaemonSet away. Their pods do not matter, because others may have deleted them. Nodes that the policy excludes do not count then. Nodes
 * count as they are as soon as the watches of the writer had reported them.
 */
export function createStableJudge(parts: JudgeParts): Judge {
  return new StableJudge(parts)
}

class StableJudge implements Judge {
  readonly #parts: JudgeParts
  readonly #ran: RanTemplates
  /** Last write before which the DaemonSet had no wanted node. */
  readonly #empty = new Map<DaemonSetStory, Cause>()
  /** Last write of each node. */
  readonly #written = new Map<string, Cause>()

  constructor(parts: JudgeParts) {
    this.#parts = parts
    this.#ran = createRanTemplates(parts.world)
  }

  onWrite(write: RecordedWrite, before: Readonly<Record<string, unknown>> | undefined): void {
    if (write.kind === 'Pod') this.#ran.followPod(write)
    else if (write.kind === 'Node') this.#followNode(write)
    else if (write.kind === 'DaemonSet') this.#followEmpty(write, 'daemonsets')
    else if (write.kind === 'Rollout' && write.type !== 'DELETED') this.#judge(write, before as unknown as RecordedRollout | undefined)
  }

  #followNode(write: RecordedWrite): void {
    this.#written.set((write.o as unknown as RecordedNode).name, { t: write.t, rv: write.rv, of: 'nodes' })
    this.#followEmpty(write, 'nodes')
  }

  #followEmpty({ t, rv, o, namespace }: RecordedWrite, of: Cause['of']): void {
    for (const story of this.#parts.world.stories()) {
      const isItself = of === 'nodes' || (story.namespace === namespace && story.name === (o as unknown as RecordedDaemonSet).name)
      if (isItself && story.wanted === 0) this.#empty.set(story, { t, rv, of })
    }
  }

  #judge(write: RecordedWrite, before: RecordedRollout | undefined): void {
    const { world, observations, query, breach } = this.#parts
    const { spec, status } = write.o as unknown as RecordedRollout
    const { stableRevision: stable, phase } = status ?? {}
    const was = before?.status?.stableRevision
    const story = world.story(write.namespace, spec.workloadRef?.name ?? '')
    if (story === undefined || !query.isOurs(write.actor ?? '') || phase !== 'Healthy') return
    if (stable === undefined || was === undefined || was === stable) return
    const nodes = this.#left(story, observations.decisionOf(write))
    if (nodes === 0 || this.#ran.hasRun(story, stable)) return
    const text = `revision ${stable} is reported as stable instead of ${was}, and no pod of it was ever Ready on any of the ${nodes} nodes`
    breach({ guarantee: 'G3', atMs: write.t, text })
  }

  /** Number of nodes to release to, as far as the writer knew them. */
  #left(story: DaemonSetStory, decision: Decision): number {
    const { observations } = this.#parts
    const hasSeen = (cause: Cause | undefined): boolean => cause === undefined || observations.hasSeen(decision, cause)
    if (story.wanted > 0) return hasSeen(this.#empty.get(story)) ? story.wanted : 0
    const rules = [...story.terms.possible(decision, observations)].map((terms) => terms?.nodes ?? {})
    const placements = [...story.possibleVersions(decision, observations)].map(({ placement }) => placement)
    const isGone = ({ node, name }: NodeStory): boolean =>
      node !== undefined &&
      hasSeen(this.#written.get(name)) &&
      placements.every((placement) => isWantedOnReturn(placement, node)) &&
      rules.every((one) => mayBeTaken(one, node, undefined))
    return [...story.nodes()].filter(isGone).length
  }
}
