import { misplaced, parseNamespace, toLeaseNamespace } from '@tranche/cli'

/** Namespaces that a process watches, and the namespace of its Lease. */
export interface ScopeOptions {
  /** Watched namespaces, at least one; undefined: all. */
  readonly namespaces: readonly string[] | undefined
  /** Namespace of the Lease of controllers; undefined: the default. */
  readonly leaseNamespace: string | undefined
}

/**
 * Reads the scope. Controllers of different namespaces must not share a Lease: only one of them would act.
 *
 * @throws {AppError} OPTION_INVALID
 */
export function toScopeOptions(values: Readonly<Record<string, unknown>>): ScopeOptions {
  const { watchNamespace, leaseNamespace, leaderElection } = values
  const namespaces = Array.isArray(watchNamespace) ? [...new Set(watchNamespace.map(String))] : undefined
  for (const namespace of namespaces ?? []) parseNamespace('--watch-namespace', namespace)
  const hasLease = 'leaderElection' in values && leaderElection !== false
  if (namespaces !== undefined && hasLease && leaseNamespace === undefined)
    throw misplaced(
      '--watch-namespace',
      'requires --lease-namespace',
      'name a namespace for the Lease: of the installations that share a Lease only one acts',
    )
  return { namespaces, leaseNamespace: toLeaseNamespace(leaseNamespace) }
}
