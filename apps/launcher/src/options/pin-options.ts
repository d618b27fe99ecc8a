import { invalid, misplaced, parseNamespace, textOf, textsOf, type Values } from '@tranche/cli'

/** What policies may pin. */
export interface PinOptions {
  /** Whether policies may pin config. */
  readonly pinConfig: boolean
  /** Namespaces whose Secrets they pin too; `*` for all. */
  readonly pinSecretNamespaces: readonly string[]
  /** Name of the policy for pods and of its binding; undefined: that of the chart's release `tranche`. */
  readonly podPolicy: string | undefined
}

/** Name of a cluster-scoped object. */
const NAME = /^[a-z0-9](?:[-.a-z0-9]{0,251}[a-z0-9])?$/

/** @throws {AppError} OPTION_INVALID */
export function toPinOptions(values: Values): PinOptions {
  const pinConfig = values['pinConfig'] === true
  const pinSecretNamespaces = textsOf(values, 'pinSecretNamespace').map((value) =>
    value === '*' ? value : parseNamespace('--pin-secret-namespace', value),
  )
  const podPolicy = textOf(values, 'podPolicy')
  if (podPolicy !== undefined && !NAME.test(podPolicy))
    throw invalid('--pod-policy', podPolicy, 'give the name of the MutatingAdmissionPolicy for pods, such as tranche-pods')
  const needsPins = pinSecretNamespaces.length > 0 ? '--pin-secret-namespace' : podPolicy === undefined ? null : '--pod-policy'
  if (needsPins !== null && !pinConfig) throw misplaced(needsPins, 'requires --pin-config', 'let policies pin config, or leave it out')
  return { pinConfig, pinSecretNamespaces, podPolicy }
}
