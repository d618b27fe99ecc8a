import { invalid, misplaced, parseNamespace, textOf, textsOf, type Values } from '@tranche/cli'
import { NODE_LOCK_NAMESPACE } from '@tranche/kube-types'

/** Which policies may lock nodes, and where the Leases of nodes are. */
export interface NodeLockOptions {
  /** Namespaces whose policies may lock nodes, at least one; `*` for all. */
  readonly lockNamespaces: readonly string[]
  /** Namespace of the Leases of nodes. */
  readonly lockLeaseNamespace: string
}

/** Namespace of the heartbeats of all kubelets, which a watch of Leases would receive. */
const HEARTBEATS = 'kube-node-lease'

/**
 * Reads which policies may lock nodes; undefined for none.
 *
 * @throws {AppError} OPTION_INVALID
 */
export function toNodeLockOptions(values: Values): NodeLockOptions | undefined {
  const lockNamespaces = textsOf(values, 'lockNamespace').map((value) =>
    value === '*' ? value : parseNamespace('--lock-namespace', value),
  )
  const given = textOf(values, 'lockLeaseNamespace')
  if (lockNamespaces.length === 0) {
    if (given === undefined) return undefined
    throw misplaced('--lock-lease-namespace', 'requires --lock-namespace', 'name the namespaces whose policies may lock nodes')
  }
  const lockLeaseNamespace = parseNamespace('--lock-lease-namespace', given ?? NODE_LOCK_NAMESPACE)
  if (lockLeaseNamespace === HEARTBEATS)
    throw invalid('--lock-lease-namespace', lockLeaseNamespace, 'give another namespace, in which kubelets write no heartbeats')
  return { lockNamespaces, lockLeaseNamespace }
}

/**
 * Reads where downtime is remembered; undefined where policies may not limit it.
 *
 * @throws {AppError} OPTION_INVALID
 */
export function toDowntimeNamespace(values: Values): string | undefined {
  const given = textOf(values, 'downtimeNamespace')
  if (given === undefined) return undefined
  const namespace = parseNamespace('--downtime-namespace', given)
  if (namespace === HEARTBEATS)
    throw invalid('--downtime-namespace', namespace, 'give another namespace, in which kubelets write no heartbeats')
  return namespace
}
