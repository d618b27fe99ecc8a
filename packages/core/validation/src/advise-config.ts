import { type ConfigObject, judgeConfig } from '@tranche/config'
import type { DaemonSet } from '@tranche/kube-types'
import { type Advice, adviceOf } from './problems/problem.ts'

/** A ConfigMap or Secret among the checked documents that has `immutable: true`. */
export interface ImmutableConfig extends ConfigObject {
  /** Empty where the document has none. */
  readonly namespace: string
}

/** Reads the identity of an immutable ConfigMap or Secret, and none of its content; null for every other document. Never throws. */
export function toImmutableConfig(value: unknown): ImmutableConfig | null {
  const { apiVersion, kind, metadata, immutable } = membersOf(value)
  const { namespace, name } = membersOf(metadata)
  if (apiVersion !== 'v1' || (kind !== 'ConfigMap' && kind !== 'Secret') || immutable !== true || typeof name !== 'string') return null
  return { kind, name, namespace: typeof namespace === 'string' ? namespace : '' }
}

/**
 * Advice about each ConfigMap and Secret that a template reads and that is not part of its version.
 *
 * @param immutable those of the documents that are immutable
 */
export function adviseConfig({ metadata, spec }: DaemonSet, immutable: readonly ImmutableConfig[]): readonly Advice[] {
  const own = immutable.filter(({ namespace }) => namespace === (metadata.namespace ?? ''))
  const config = judgeConfig(spec.template, ({ kind, name }) => own.some((one) => one.kind === kind && one.name === name))
  if (config === null) return []
  const rule = config.hasChecksum ? 'ConfigChecksumOnly' : 'ConfigUnversioned'
  return config.references.map(({ path, name }) => adviceOf(rule, { path, value: name }))
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Readonly<Record<string, unknown>>) : {}
}
