import type { RolloutSummary } from '@tranche/api-schema'

/** Groups of the fleet, in the order in which an on-call engineer reads them. */
export const fleetGroups = ['needsYou', 'running', 'well', 'off'] as const
/** @see fleetGroups */
export type FleetGroup = (typeof fleetGroups)[number]

/** Sort orders within a group. */
export const fleetSorts = ['urgency', 'name', 'progress', 'age'] as const
/** @see fleetSorts */
export type FleetSort = (typeof fleetSorts)[number]

/** Selection of the fleet, kept in the URL. */
export interface FleetFilter {
  /** Text in namespace, name, DaemonSet or image; every word must occur. */
  readonly text: string
  /** Empty: every namespace. */
  readonly namespace: string
  /** Null: every group. */
  readonly group: FleetGroup | null
  readonly sort: FleetSort
}

/** @returns the filter of a URL; unknown values count as absent */
export function filterOf(query: Readonly<Record<string, string>>): FleetFilter {
  return {
    text: query['q'] ?? '',
    namespace: query['namespace'] ?? '',
    group: fleetGroups.find((group) => group === query['group']) ?? null,
    sort: fleetSorts.find((sort) => sort === query['sort']) ?? 'urgency',
  }
}

/** @returns the query of a filter; defaults are left out */
export function queryOf({ text, namespace, group, sort }: FleetFilter): Readonly<Record<string, string>> {
  return {
    ...(text !== '' && { q: text }),
    ...(namespace !== '' && { namespace }),
    ...(group !== null && { group }),
    ...(sort !== 'urgency' && { sort }),
  }
}

/** @returns the group of a Rollout: needs a person, in progress, up to date, or disabled */
export function groupOf({ outcome, disabled, phase, need }: RolloutSummary): FleetGroup {
  if (need !== undefined || outcome === 'Failed' || outcome === 'Blocked' || outcome === 'Waiting') return 'needsYou'
  if (disabled && phase !== 'Disabling' && phase !== 'Terminating') return 'off'
  return outcome === 'Running' && phase !== 'Initial' ? 'running' : 'well'
}

/** Most urgent first: a bad version, then a release that cannot continue, then decisions. */
const urgency: Readonly<Record<RolloutSummary['outcome'], number>> = {
  Failed: 0,
  Blocked: 1,
  Waiting: 2,
  RolledBack: 3,
  Running: 4,
  Done: 5,
}

/** @returns the Rollouts of a filter by group, each sorted; equal ones by namespace and name */
export function groupFleet(
  rollouts: Iterable<RolloutSummary>,
  filter: FleetFilter,
): readonly { readonly group: FleetGroup; readonly rollouts: readonly RolloutSummary[] }[] {
  const words = filter.text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  const shown = [...rollouts].filter((rollout) => isShown(rollout, filter, words))
  const byGroup = Map.groupBy(shown, groupOf)
  return fleetGroups
    .filter((group) => byGroup.has(group) && (filter.group === null || filter.group === group))
    .map((group) => ({ group, rollouts: byGroup.get(group)!.sort((a, b) => compare(a, b, filter.sort)) }))
}

function isShown(rollout: RolloutSummary, { namespace }: FleetFilter, words: readonly string[]): boolean {
  if (namespace !== '' && rollout.namespace !== namespace) return false
  const text = [rollout.namespace, rollout.name, rollout.daemonSet, ...rollout.images].join('\n').toLowerCase()
  return words.every((word) => text.includes(word))
}

function compare(a: RolloutSummary, b: RolloutSummary, sort: FleetSort): number {
  return orderBy(a, b, sort) || compareText(a.namespace, b.namespace) || compareText(a.name, b.name)
}

function orderBy(a: RolloutSummary, b: RolloutSummary, sort: FleetSort): number {
  switch (sort) {
    case 'urgency':
      return urgency[a.outcome] - urgency[b.outcome] || compareText(sinceOf(a), sinceOf(b))
    case 'name':
      return compareText(a.name, b.name)
    case 'progress':
      return shareOf(a) - shareOf(b)
    case 'age':
      return compareText(sinceOf(a), sinceOf(b))
  }
}

/** The longest wait first; one without a start last. */
function sinceOf({ need, waitingFor, step }: RolloutSummary): string {
  return need?.since ?? waitingFor?.since ?? step?.since ?? '9'
}

function shareOf({ nodes }: RolloutSummary): number {
  return nodes.desired === 0 ? 1 : nodes.updatedAvailable / nodes.desired
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
