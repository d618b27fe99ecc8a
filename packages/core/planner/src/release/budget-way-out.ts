import { batchScope, hasOldPod } from '@tranche/fence'
import { firstNodes } from './progress/unwell-text.ts'
import type { Wanted } from './progress/wanted-allowance.ts'
import type { ReleaseView } from './view/release-view.ts'

type Allowed = Wanted & { kind: 'allow' }

/**
 * Text about the end of a wait for a budget that is used up, where the names of the nodes that are down do not say it. Too many may be dead,
 * so that all of them count. More may be down than the limit allows, for instance after it was lowered. Only a later step may select them.
 * Begins with a semicolon; else empty.
 */
export function budgetWayOut(view: ReleaseView, wanted: Allowed): string {
  return laterNodesText(view, wanted) || tooManyText(wanted)
}

/**
 * Nodes that no step so far selects use up the budget: nothing updates them before their own step, which waits for this one. Names the first
 * step that takes enough of them.
 */
function laterNodesText({ fleet, release }: ReleaseView, { progress: { unavailable }, allowance: { limit, revision } }: Allowed): string {
  const { releasePlan, tranche } = release.spec
  const { rules, steps } = batchScope(tranche?.nodes, releasePlan.batchPartition ?? null)
  const down = new Set(unavailable)
  const updatable = fleet.nodes.flatMap((node) => {
    const { step, isExcluded } = rules.factsOf(node.labels)
    const isOthers = hasOldPod(node, revision) && node.ready && node.maintenance === undefined && !isExcluded && Number.isFinite(step)
    return down.has(node.name) && isOthers ? [{ name: node.name, step: step + 1 }] : []
  })
  const later = updatable.filter(({ step }) => step > steps)
  if (later.length < limit) return ''
  const isEnough = (last: number): boolean => unavailable.length - updatable.filter(({ step }) => step <= last).length < limit
  const step = later
    .map(({ step }) => step)
    .toSorted((a, b) => a - b)
    .find(isEnough)
  if (step === undefined) return ''
  const names = firstNodes(later.flatMap((node) => (node.step <= step ? [node.name] : [])))
  return `; only step ${step} updates ${names}: it continues once fewer than ${limit} are down, after a jump to step ${step}, or once maxUnavailable is at least ${unavailable.length + 1}`
}

function tooManyText(wanted: Allowed): string {
  const { unavailable, exemption } = wanted.progress
  const { limit } = wanted.allowance
  const down = unavailable.length
  const raise = `maxUnavailable is at least ${down + 1}`
  const { dead, most } = exemption
  if (dead.length > most) {
    const others = down - dead.length
    if (others >= limit) return `; it continues once fewer than ${limit} others are down and ${deadText(most)}, or ${raise}`
    const fewer = deadText(Math.max(most, limit - 1 - others))
    return `; it continues once ${fewer}, nodes.notReady.exempt is at least ${dead.length}, or ${raise}`
  }
  return down > limit ? `; nothing is deleted until fewer than ${limit} are down, or ${raise}` : ''
}

function deadText(most: number): string {
  return most === 0 ? 'no node is dead' : `no more than ${most} ${most === 1 ? 'is' : 'are'} dead`
}
