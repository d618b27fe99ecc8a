import { judgeConfig } from '@tranche/config'
import type { RolloutReading } from './rollout-port.ts'

/** Reads which ConfigMaps are immutable, where the installation allows that. No decision but a condition depends on it. */
export interface ConfigPort {
  /**
   * @param names ConfigMaps of the namespace
   * @returns those that are known to be immutable; one that cannot be read is not among them
   * @throws the signal's reason once it aborts, and nothing else
   */
  immutableOf(namespace: string, names: readonly string[], signal: AbortSignal): Promise<ReadonlySet<string>>
}

/** Maximum number of ConfigMaps of one template that are read. */
const MOST_READ = 20

/** Reads only ConfigMaps whose names carry no hash. @returns the immutable ones */
export async function readImmutable(
  port: ConfigPort,
  { rollout, daemonSet }: RolloutReading,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const found = rollout.spec.disabled === true ? null : judgeConfig(daemonSet?.spec.template)
  const names = (found?.references ?? []).flatMap(({ kind, name }) => (kind === 'ConfigMap' ? [name] : []))
  return names.length === 0 ? new Set() : port.immutableOf(rollout.metadata.namespace ?? '', names.slice(0, MOST_READ), signal)
}
