import { type ConfigObject, judgeConfig, type PinProspect, type PinProspectOf, pinProspects } from '@tranche/config'
import type { DaemonSet } from '@tranche/kube-types'
import { type Advice, adviceOf } from './problems/problem.ts'
import type { AdviceRule } from './problems/rules.ts'

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

/** A ConfigMap or Secret among the checked documents. */
export interface WrittenConfig extends ConfigObject {
  /** Empty where the document has none. */
  readonly namespace: string
}

/** Reads the identity of a ConfigMap or Secret, and none of its content; null for every other document. Never throws. */
export function toWrittenConfig(value: unknown): WrittenConfig | null {
  const { apiVersion, kind, metadata } = membersOf(value)
  const { namespace, name } = membersOf(metadata)
  if (apiVersion !== 'v1' || (kind !== 'ConfigMap' && kind !== 'Secret') || typeof name !== 'string') return null
  return { kind, name, namespace: typeof namespace === 'string' ? namespace : '' }
}

/** What a policy with `config: Pin` does with the config of a template. */
export interface PinAdvice {
  readonly advice: readonly Advice[]
  /** Objects of which pods read copies. */
  readonly pinned: readonly ConfigObject[]
}

/**
 * Advice about each ConfigMap and Secret of a template that `config: Pin` cannot pin, or cannot pin everywhere.
 *
 * @param documents those among which the DaemonSet is, with immutable ones marked
 */
export function advisePinnedConfig(
  { metadata, spec }: DaemonSet,
  { written, immutable }: { readonly written: readonly WrittenConfig[]; readonly immutable: readonly ImmutableConfig[] },
): PinAdvice {
  const among = (objects: readonly WrittenConfig[], { kind, name }: ConfigObject): boolean =>
    objects.some((one) => one.kind === kind && one.name === name && one.namespace === (metadata.namespace ?? ''))
  const prospects = pinProspects(spec.template, (object) => among(written, object))
  const advice = prospects.flatMap((one) => prospectAdvice(one, among(immutable, one)))
  return { advice, pinned: prospects.flatMap(({ prospect, kind, name }) => (prospect === 'pinned' ? [{ kind, name }] : [])) }
}

/** The content of an immutable object never changes, copied or not. */
function prospectAdvice({ prospect, path, name }: PinProspectOf, isImmutable: boolean): readonly Advice[] {
  const rule = prospectRules[prospect]
  return rule === null || (isImmutable && prospect !== 'beyond') ? [] : [adviceOf(rule, { path, value: name })]
}

const prospectRules: Readonly<Record<PinProspect, AdviceRule | null>> = {
  pinned: null,
  secret: 'PinSecretUnknown',
  driver: 'PinNotForDriver',
  optional: 'PinAfterCreation',
  beyond: 'PinOutOfReach',
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Readonly<Record<string, unknown>>) : {}
}
