import { judgeConfig } from '@tranche/config'
import type { RolloutReading } from './rollout-port.ts'

/** Reads which ConfigMaps are immutable, where the installation allows that. No decision but a condition depends on it. */
export interface ConfigPort {
  /**
   * @param names ConfigMaps of the namespace, at least one
   * @throws the signal's reason once it aborts, and nothing else
   */
  immutableOf(namespace: string, names: readonly string[], signal: AbortSignal): Promise<ConfigReading>
}

/** Result of reading ConfigMaps. */
export interface ConfigReading {
  /** Names of the immutable ones. One that cannot be read is not among them. */
  readonly immutable: ReadonlySet<string>
  /** Milliseconds until one of them must be read again. */
  readonly recheckAfterMs: number
}

/** Maximum number of ConfigMaps of one template that are read. */
const MOST_READ = 20

/** Reads only ConfigMaps whose names carry no hash. @returns null where there are none */
export async function readImmutable(
  port: ConfigPort,
  { rollout, daemonSet }: RolloutReading,
  signal: AbortSignal,
): Promise<ConfigReading | null> {
  const found = rollout.spec.disabled === true ? null : judgeConfig(daemonSet?.spec.template)
  const names = (found?.references ?? []).flatMap(({ kind, name }) => (kind === 'ConfigMap' ? [name] : []))
  return names.length === 0 ? null : port.immutableOf(rollout.metadata.namespace ?? '', names.slice(0, MOST_READ), signal)
}
