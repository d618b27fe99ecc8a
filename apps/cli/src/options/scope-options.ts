import { invalid, misplaced } from '../option-values.ts'

/** Which part of a cluster a process works on. */
export interface ScopeOptions {
  /** Whose objects are watched, at least one; undefined: all. */
  readonly namespaces: readonly string[] | undefined
  /** Where the Lease is by which controllers elect their leader; undefined: where it is by default. */
  readonly leaseNamespace: string | undefined
}

const NAMESPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/

/**
 * Controllers of other namespaces are others: they must not share a Lease by mistake, for only one of them would act.
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
      'stands without --lease-namespace',
      'name a namespace for the Lease: installations that share one stand by for each other, whatever they watch',
    )
  return { namespaces, leaseNamespace: toLeaseNamespace(leaseNamespace) }
}

/** @throws {AppError} OPTION_INVALID */
export function toLeaseNamespace(value: unknown): string | undefined {
  return typeof value === 'string' ? parseNamespace('--lease-namespace', value) : undefined
}

function parseNamespace(option: string, value: string): string {
  if (!NAMESPACE.test(value)) throw invalid(option, value, 'give the name of a namespace')
  return value
}
