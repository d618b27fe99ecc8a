import { type AccessOptions, type CommandIo, parseWhole, textOf, toAccessOptions, type Values } from '@tranche/cli'

/** Options of `dashboard`. */
export interface DashboardOptions {
  readonly source: AccessOptions['source']
  /** The only namespace to show; undefined: all. */
  readonly namespace: string | undefined
  /** 0 picks a free port. */
  readonly port: number
  /** Whether to open a browser. */
  readonly opens: boolean
}

/** @throws {AppError} OPTION_INVALID */
export function toDashboardOptions(values: Values, env: CommandIo['env']): DashboardOptions {
  const { source, namespace } = toAccessOptions(values, env)
  return {
    source,
    namespace,
    port: parseWhole('--port', textOf(values, 'port') ?? '0', { min: 0, max: 65_535 }),
    opens: values['open'] !== false,
  }
}
