import type { RecordedNode, RecordedWrite } from '../record/recorded-write.ts'
import { isInMaintenance } from './maintenance.ts'
import { inNodes } from './resolve-limit.ts'
import type { DaemonSetStory } from './daemon-set-story.ts'
import type { NodeStory, PodStory } from './node-story.ts'
import type { Cause, Decision, Observations } from './observations.ts'
import type { Deletion } from './world.ts'

/** Nodes that cost no budget because they died before their update, with the stable revision (G1). */
export interface DeadNodes {
  /** Called for each write, before it is applied to the world. */
  onWrite(write: RecordedWrite): void
  /** @returns the nodes that the deciding process may have exempted: none where it must have seen more dead ones than the user allows */
  exemptFor(deletion: Deletion): ReadonlySet<string>
}

/** Without a policy, a tenth of the wanted nodes, rounded up, may be dead without a cost. */
const WITHOUT_POLICY = { exempt: '10%', after: '5m' }

/** Follows the outages of nodes. */
export function followDeadNodes(observations: Observations): DeadNodes {
  /** By node name: its state, and the last write that changed it. */
  const outages = new Map<string, { readonly state: string; readonly by: Cause }>()

  /** Whether a node may have looked dead to the deciding process, and whether it must have. */
  function lookOf(
    node: NodeStory,
    { daemonSet, decision, atMs }: Deletion,
    afterMs: number,
  ): { readonly may: boolean; readonly must: boolean } {
    const { revision } = daemonSet.orders
    const pods = [...node.pods.values()]
    const outage = outages.get(node.name)
    const stables = stablesFor(daemonSet, decision)
    const isSuperseded = ({ last }: PodStory): boolean => stables.every((stable) => stable !== undefined && last.hash !== stable)
    const old = pods.filter((pod) => mayLookOld(pod, revision, decision))
    if (node.node === undefined || outage === undefined || old.length === 0) return neither
    if (old.some((pod) => pod.ended === null && isSuperseded(pod) && observations.hasSeen(decision, podWrite(pod.rv, atMs)))) return neither
    if (!observations.hasSeen(decision, outage.by)) return { may: true, must: false }
    const isOld = pods.some(
      ({ ended, last, rv }) =>
        ended === null &&
        last.hash !== revision &&
        stables.every((stable) => stable === last.hash) &&
        observations.hasSeen(decision, podWrite(rv, atMs)),
    )
    if (isInMaintenance(node.node) || node.node.ready === 'Unknown') return { may: true, must: isOld }
    if (node.node.ready !== 'False') return neither
    const seenMs = observations.deliveredAtMs(decision.actor, outage.by)
    return { may: atMs - outage.by.t >= afterMs, must: isOld && decision.atMs - seenMs > afterMs + SLACK_MS }
  }

  /** @returns the stable revisions that the deciding process may have read */
  function stablesFor(daemonSet: DaemonSetStory, decision: Decision): readonly (string | undefined)[] {
    return [...daemonSet.possibleVersions(decision, observations)].map(({ annotations }) => annotations?.[STABLE])
  }

  function mayLookOld({ ended, last }: PodStory, revision: string | undefined, decision: Decision): boolean {
    return (last.hash === undefined || last.hash !== revision) && (ended === null || !observations.hasSeen(decision, ended))
  }

  return {
    onWrite(write) {
      if (write.kind !== 'Node') return
      const node = write.o as unknown as RecordedNode
      const state = `${node.ready} ${isInMaintenance(node)}`
      if (outages.get(node.name)?.state !== state) outages.set(node.name, { state, by: { t: write.t, rv: write.rv, of: 'nodes' } })
    },
    exemptFor(deletion) {
      const { daemonSet, decision } = deletion
      const wanted = daemonSet.mostWanted(decision, observations)
      const exempt = new Set<string>()
      for (const terms of daemonSet.terms.possible(decision, observations)) {
        const { exempt: most, after } = { ...WITHOUT_POLICY, ...terms?.nodes?.notReady }
        const looks = [...daemonSet.down].map((node) => ({ node, ...lookOf(node, deletion, inMs(after)) }))
        if (looks.filter(({ must }) => must).length > inNodes(most, wanted)) continue
        for (const { node, may } of looks) if (may) exempt.add(node.name)
      }
      return exempt
    },
  }
}

const STABLE = 'rollouts.kruise.io/daemonset-stable-revision'

/** Timers may be late, and a process may act on what it saw a moment before. */
const SLACK_MS = 10_000

const neither = { may: false, must: false }

function podWrite(rv: number, t: number): Cause {
  return { rv, t, of: 'pods' }
}

/** @param text duration such as `90s`, `5m` or `1h30m` */
function inMs(text: string): number {
  const unit: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }
  return [...text.matchAll(/([\d.]+)(ms|s|m|h)/g)].reduce((sum, [, number, of]) => sum + Number(number) * (unit[of!] ?? 0), 0)
}
