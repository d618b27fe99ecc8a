import { valueIn } from '@tranche/kube-types'
import type { PolicyReport, ReleasePolicy, Rollout } from '@tranche/api-schema'
import { needsPerson } from '@tranche/planner'
import {
  type Advice,
  configCopiesAdvice,
  downtimeAdvice,
  drainAdvice,
  groupAdvice,
  type InstallationRule,
  installationRules,
  nodeLockAdvice,
  pinAdvice,
  prePullAdvice,
  roomAdvice,
} from '@tranche/validation'

type Section = PolicyReport['sections'][number]

/** A part of a policy that an installation may not allow. */
export interface AskedPart {
  readonly section: Section['section']
  /** What the policy asks for. */
  readonly sentences: readonly string[]
}

/** Parts of a policy by the reason for which they may be unusable. */
export type AskedParts = Partial<Readonly<Record<InstallationRule, AskedPart>>>

/**
 * Moves what a policy asks for and the installation does not allow out of the sentences that are in force, by the controller's report in
 * the status of the policy. Secrets and hosts stay: without them, checks and notifications fail, and say so.
 */
export function withoutUnusable(sections: readonly Section[], policy: ReleasePolicy, asked: AskedParts): readonly Section[] {
  const parts = reasonsOf(policy).flatMap((reason) => {
    const part = valueIn(asked, reason)
    const advice = valueIn(adviceTexts, reason)?.(policy)
    return part === undefined || advice === undefined ? [] : [{ ...part, reason, message: textOf(advice) }]
  })
  if (parts.length === 0) return sections
  const unusable = new Set(parts.flatMap(({ sentences }) => sentences))
  return sections.map((one) => {
    const own = parts.filter(({ section }) => section === one.section)
    if (own.length === 0) return one
    return {
      ...one,
      sentences: one.sentences.filter((sentence) => !unusable.has(sentence)),
      unusable: own.map(({ reason, message, sentences }) => ({ reason, message, sentences })),
    }
  })
}

/**
 * The other parts of the policy that the installation does not allow: allowing only the one that nodes wait for now ends no wait. Begins with a
 * semicolon; empty without any.
 */
export function othersNotAllowedText({ status }: Rollout, reason: string): string {
  if (!isInstallationRule(reason)) return ''
  const others = (status?.policy?.unusable ?? []).filter((one) => one !== reason && needsPerson(one)).filter(isInstallationRule)
  const fields = others.map((one) => installationRules[one].path.replace(/^spec\./, ''))
  return fields.length === 0 ? '' : `; not allowed either: ${fields.join(', ')} (tranche doctor shows the values to set)`
}

function isInstallationRule(reason: string): reason is InstallationRule {
  return Object.hasOwn(installationRules, reason)
}

/** Reasons in the status of the policy; none without a report about its present generation. */
function reasonsOf({ metadata, status }: ReleasePolicy): readonly InstallationRule[] {
  const usable = status?.conditions?.find(({ type }) => type === 'Usable')
  if (usable?.status !== 'False' || usable.observedGeneration !== metadata.generation) return []
  return (status?.unusable ?? []) as readonly InstallationRule[]
}

const adviceTexts: Partial<Readonly<Record<InstallationRule, (policy: ReleasePolicy) => Advice>>> = {
  RoomNotAllowed: ({ spec }) => roomAdvice(spec.nodes?.room ?? ''),
  PrePullNotAllowed: ({ spec }) => prePullAdvice(spec.prePull ?? {}),
  DrainNotAllowed: ({ spec, metadata }) => drainAdvice(spec.drain ?? {}, metadata.namespace ?? ''),
  GroupNotAllowed: ({ spec }) => groupAdvice(spec.downtime?.group ?? ''),
  NodeLockNotAllowed: ({ spec, metadata }) => nodeLockAdvice(spec.downtime?.nodeLock ?? '', metadata.namespace ?? ''),
  DowntimeNotAllowed: ({ spec }) => downtimeAdvice(spec.downtime?.perDay ?? ''),
  PinNotAllowed: () => pinAdvice(),
  PodPolicyMissing: () => configCopiesAdvice(),
}

/** Two sentences: the effect, and the field with its fix. */
function textOf({ path, message, fix }: Advice): string {
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}. ${path}: ${fix}.`
}
