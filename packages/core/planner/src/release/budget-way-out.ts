import { batchScope, exemptNodes, nodesInFlight } from '@tranche/fence'
import { nodeInView } from '@tranche/fleet'
import type { ReleaseView } from './view/release-view.ts'
import type { Wanted } from './progress/wanted-allowance.ts'

type Allowed = Wanted & { kind: 'allow' }

/**
 * Text about the end of a wait for a budget that is used up, where the names of the nodes that are down do not say it. Too many may be dead,
 * so that all of them count. More may be down than the limit allows, for instance after it was lowered. Begins with a semicolon; else empty.
 */
export function budgetWayOut(view: ReleaseView, wanted: Allowed): string {
  const { unavailable, exemption } = wanted.progress
  const { limit } = wanted.allowance
  const down = unavailable.length
  const raise = `maxUnavailable is at least ${down + 1}`
  const { dead, most } = exemption
  if (dead.length > most) {
    const others = unavailable.length - exemptIfAllowed(view, wanted, dead).length
    if (others >= limit) return `; it continues once fewer than ${limit} others are down and ${deadText(most)}, or ${raise}`
    const fewer = deadText(Math.max(most, limit - 1 - others))
    return `; it continues once ${fewer}, nodes.notReady.exempt is at least ${dead.length}, or ${raise}`
  }
  return down > limit ? `; nothing is deleted until fewer than ${limit} are down, or ${raise}` : ''
}

/** The dead nodes that would cost no budget if the policy exempted as many as there are, as executors count. */
function exemptIfAllowed(
  { fleet, release, monotonicMs }: ReleaseView,
  { allowance, stable }: Allowed,
  dead: readonly string[],
): readonly string[] {
  const { spec, status, metadata } = release
  const { rules } = batchScope(spec.tranche?.nodes, spec.releasePlan.batchPartition ?? null)
  const { names } = exemptNodes({
    unavailable: dead.flatMap((name) => nodeInView(fleet, name) ?? []),
    revisions: {
      canary: allowance.revision,
      stable,
      former: spec.tranche?.formerRevisions ?? [],
      begunAt: metadata.creationTimestamp,
    },
    inFlight: nodesInFlight(status?.flight?.permits ?? [], fleet),
    rules: { ...rules, exempt: dead.length },
    desired: fleet.desired,
    monotonicMs,
  })
  return [...names]
}

function deadText(most: number): string {
  return most === 0 ? 'no node is dead' : `no more than ${most} ${most === 1 ? 'is' : 'are'} dead`
}
