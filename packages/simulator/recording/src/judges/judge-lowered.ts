import type { RecordedWrite } from '../record/recorded-write.ts'
import { resolveLimit, resolvePolicyLimit } from '../world/resolve-limit.ts'
import type { Deletion } from '../world/world.ts'
import type { Judge, JudgeParts } from './judge-parts.ts'

/**
 * G2, from what the user declares: without faults, a lowered `maxUnavailable` is in force two minutes later, whatever the record and the
 * BatchRelease say. From then on a deletion brings no more nodes into flight than the ReleasePolicy of the Rollout allows, or the DaemonSet
 * when no policy does. Not judged while a process is frozen.
 */
export function createLoweredJudge({ world, query, breach }: JudgeParts): Judge {
  /** `maxUnavailable` of each policy, by namespace and name; no entry when the policy does not set it. */
  const policies = new Map<string, number | string | undefined>()
  let changedMs = Number.NEGATIVE_INFINITY

  function mayJudge(atMs: number): boolean {
    const { quiescentFromMs = Number.POSITIVE_INFINITY, stalls = [] } = query
    const fromMs = atMs - FOLLOWED_MS
    return fromMs >= Math.max(quiescentFromMs, changedMs) && stalls.every((stall) => stall.toMs < fromMs || stall.fromMs > atMs)
  }

  function declaredFor({ daemonSet }: Deletion): number | null {
    const [rollout] = world.rolloutsOf(daemonSet)
    if (rollout === undefined || daemonSet.latest === undefined) return null
    const name = rollout.metadata.annotations?.['tranche.dev/release-policy']
    const ofPolicy = name === undefined ? undefined : policies.get(`${daemonSet.namespace}/${name}`)
    return ofPolicy === undefined
      ? resolveLimit(daemonSet.latest.strategy, daemonSet.wanted)
      : resolvePolicyLimit(ofPolicy, daemonSet.wanted)
  }

  return {
    onDeletion(deletion) {
      const { daemonSet, pod, atMs } = deletion
      const node = daemonSet.node(pod.node)
      if (!mayJudge(atMs) || node === undefined || !node.wanted || daemonSet.inFlight.has(node) || daemonSet.robbed.has(node)) return
      const declared = declaredFor(deletion)
      const inFlight = daemonSet.inFlight.size + 1
      if (declared === null || inFlight <= declared) return
      const text = `${inFlight} nodes are in flight, but maxUnavailable has been ${declared} for at least ${FOLLOWED_MS / 1000} s`
      breach({ guarantee: 'G2', atMs, node: pod.node, text })
    },
    onWrite(write, before) {
      if (query.isOurs(write.actor ?? '')) return
      if (write.kind === 'ReleasePolicy') followPolicy(write)
      if (deciding.has(write.kind) || isNewGeneration(write, before)) changedMs = write.t
    },
  }

  function followPolicy({ namespace, type, o }: RecordedWrite): void {
    const { metadata, spec } = o as {
      readonly metadata: { readonly name: string }
      readonly spec?: { readonly maxUnavailable?: number | string }
    }
    policies.set(`${namespace}/${metadata.name}`, type === 'DELETED' ? undefined : spec?.maxUnavailable)
  }
}

function isNewGeneration({ kind, o }: RecordedWrite, before: Readonly<Record<string, unknown>> | undefined): boolean {
  return kind === 'DaemonSet' && o['generation'] !== before?.['generation']
}

/** Time that our programs have to follow a change. */
const FOLLOWED_MS = 120_000

/** Kinds that decide how many nodes may be down. Nodes belong to them because percentages count them. */
const deciding: ReadonlySet<string> = new Set(['ReleasePolicy', 'Rollout', 'Node'])
