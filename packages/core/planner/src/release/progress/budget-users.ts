import { type BudgetUse, type BudgetUser, budgetUses, GROUPED_NODES_MAX, type Permit } from '@tranche/api-schema'
import { hasOldPod, nodesInFlight } from '@tranche/fence'
import { type FleetView, nodeInView, type NodeView } from '@tranche/fleet'
import type { BatchProgress } from './batch-progress.ts'
import { firstNodes } from './unwell-text.ts'

/** Facts about nodes that use the budget. */
export interface BudgetQuestion {
  readonly fleet: FleetView
  readonly progress: Pick<BatchProgress, 'exemption' | 'excluded'>
  /** Revision that is released. */
  readonly revision: string
  readonly permits: readonly Permit[]
}

/** Groups nodes that use the budget by how they use it, in the order of {@link budgetUses}. @param names nodes without an available pod that count */
export function budgetUsers(names: readonly string[], { fleet, progress, revision, permits }: BudgetQuestion): readonly BudgetUser[] {
  const inFlight = nodesInFlight(permits, fleet)
  const dead = new Set(progress.exemption.dead)
  const excluded = excludedWithPod(fleet, progress)
  const useOf = (name: string): BudgetUse => {
    const node = nodeInView(fleet, name)
    if (dead.has(name)) return 'Dead'
    // A node that went away during its update is not being updated any more.
    if (node === undefined || !node.ready || node.maintenance !== undefined) return 'Away'
    // The permit of an earlier release may remain: its new pod became the old one.
    if (excluded.has(name)) return 'Excluded'
    if (inFlight.has(name) && !hasTrouble(node, revision)) return 'InFlight'
    return hasOldPod(node, revision) ? 'Old' : 'Updated'
  }
  const byUse = Map.groupBy(names, useOf)
  return budgetUses.flatMap((use) => {
    const alike = byUse.get(use) ?? []
    return alike.length === 0 ? [] : [{ use, count: alike.length, nodes: alike.slice(0, GROUPED_NODES_MAX) }]
  })
}

/** Whether the new pod does not run: the executor has done its part. */
function hasTrouble({ pods }: NodeView, revision: string): boolean {
  return pods.some(({ terminating, hash, trouble }) => !terminating && hash === revision && trouble !== undefined)
}

/** @returns the groups as one text, without a stop: `2 being updated (a, b), 1 dead (c)` */
export function budgetUsersText(users: readonly BudgetUser[]): string {
  return users.map(({ use, count, nodes }) => `${count} ${titles[use]} (${firstNodes(nodes, undefined, count)})`).join(', ')
}

const titles: Readonly<Record<BudgetUse, string>> = {
  InFlight: 'being updated',
  Updated: 'whose new pod is not available',
  Old: 'whose old pod is not available',
  Excluded: 'excluded by the policy',
  Away: 'NotReady or in maintenance',
  Dead: 'dead',
}

/** @returns names of the nodes that the policy excludes, and that have an old pod, which nothing replaces */
export function excludedWithPod(fleet: FleetView, { excluded }: Pick<BatchProgress, 'excluded'>): ReadonlySet<string> {
  return new Set(excluded.filter((name) => nodeInView(fleet, name)?.pods.some(({ terminating }) => !terminating) === true))
}
