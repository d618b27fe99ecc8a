import { misplaced, parseNamespace, textsOf, type Values } from '@tranche/cli'

/** What policies may pin. */
export interface PinOptions {
  /** Whether policies may pin config. */
  readonly pinConfig: boolean
  /** Namespaces whose Secrets they pin too; `*` for all. */
  readonly pinSecretNamespaces: readonly string[]
}

/** @throws {AppError} OPTION_INVALID */
export function toPinOptions(values: Values): PinOptions {
  const pinConfig = values['pinConfig'] === true
  const pinSecretNamespaces = textsOf(values, 'pinSecretNamespace').map((value) =>
    value === '*' ? value : parseNamespace('--pin-secret-namespace', value),
  )
  if (pinSecretNamespaces.length > 0 && !pinConfig)
    throw misplaced('--pin-secret-namespace', 'requires --pin-config', 'let policies pin config, or leave it out')
  return { pinConfig, pinSecretNamespaces }
}
