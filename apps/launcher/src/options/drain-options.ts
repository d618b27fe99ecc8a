import { misplaced, parseNamespace, textsOf, type Values } from '@tranche/cli'

/** Which policies may drain nodes, and whether other programs see it. */
export interface DrainOptions {
  /** Namespaces whose policies may drain nodes; `*` for all. */
  readonly drainNamespaces: readonly string[]
  /** Whether nodes have the condition `DrainInProgress` while they are drained. */
  readonly drainConditions: boolean
}

/** @throws {AppError} OPTION_INVALID */
export function toDrainOptions(values: Values): DrainOptions {
  const drainConditions = values['drainConditions'] === true
  const drainNamespaces = textsOf(values, 'drainNamespace').map((value) =>
    value === '*' ? value : parseNamespace('--drain-namespace', value),
  )
  if (drainConditions && drainNamespaces.length === 0)
    throw misplaced('--drain-conditions', 'requires --drain-namespace', 'name the namespaces whose policies may drain nodes')
  return { drainNamespaces, drainConditions }
}
