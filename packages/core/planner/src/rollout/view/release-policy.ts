import {
  durationMs,
  type PolicyInUse,
  type ReleasePolicy,
  type Rollout,
  sizeLimits,
  UNUSABLE_REASONS_MAX,
  type StalledReason,
  type TrancheSpec,
} from '@tranche/api-schema'
import { rolloutAnnotations, clipText } from '@tranche/kube-types'
import { type Problem, problemsText } from '@tranche/validation'
import type { RolloutView } from './rollout-view.ts'
import { selectsNodes } from './step-nodes.ts'

/** Result of reading the ReleasePolicy that a Rollout names. */
export type PolicyReading =
  /** The Rollout names no policy: the defaults apply. */
  | { readonly kind: 'none' }
  /** The API server serves no policies, or has not listed them yet. */
  | { readonly kind: 'unseen'; readonly name: string }
  | { readonly kind: 'missing'; readonly name: string }
  /** With what {@link policyProblems} finds: clients that plan no release have no need of it, and do not carry the code of queries. */
  | { readonly kind: 'found'; readonly policy: ReleasePolicy; readonly problems: readonly Problem[] }

/** A policy that a release cannot follow: the release holds, and nothing laxer replaces the policy. */
export interface PolicyObstacle {
  readonly reason: StalledReason
  readonly message: string
}

/** Seconds after the last batch in which a crash still counts. @default 10 (`soak.final` of a policy changes it) */
export const FINAL_SETTLE_SECONDS = 10

/** Why a release cannot follow the policy that its Rollout names; null where it can, or names none. */
export function policyObstacle({ policy: reading, rollout }: RolloutView): PolicyObstacle | null {
  switch (reading.kind) {
    case 'none':
      return null
    case 'unseen':
      return {
        reason: 'PolicyNotFound',
        message: `${namedText(reading.name)}, and ReleasePolicies cannot be read; apply the CustomResourceDefinitions and the roles of this version`,
      }
    case 'missing':
      return {
        reason: 'PolicyNotFound',
        message: `${namedText(reading.name)}: there is no such ReleasePolicy in namespace ${rollout.metadata.namespace ?? ''}; create it, or name another one`,
      }
    case 'found': {
      const { problems } = reading
      const [first] = problems
      if (first === undefined) return null
      return { reason: first.reason, message: `ReleasePolicy ${reading.policy.metadata.name}: ${problemsText(problems)}` }
    }
    default:
      return reading satisfies never
  }
}

/** The policy as reported in the status; undefined where the Rollout names none. */
export function policyInUse(view: RolloutView): PolicyInUse | undefined {
  const { policy: reading } = view
  if (reading.kind === 'none') return undefined
  const name = clipText(reading.kind === 'found' ? reading.policy.metadata.name : reading.name, sizeLimits.objectName)
  const obstacle = policyObstacle(view)
  if (obstacle !== null) return { name, message: obstacle.message }
  if (reading.kind !== 'found') return { name }
  const generation = reading.policy.metadata.generation ?? 0
  const message = unusableText(reading.policy)
  const { unusable: reasons = [] } = reading.policy.status ?? {}
  const unusable = reasons.slice(0, UNUSABLE_REASONS_MAX).map((reason) => clipText(reason, sizeLimits.reason))
  return { name, generation, ...(message !== null && { message, ...(unusable.length > 0 && { unusable }) }) }
}

/** What the policy's status says about unusable parts; null without a report for its present generation. */
function unusableText({ metadata, status }: ReleasePolicy): string | null {
  const usable = status?.conditions?.find(({ type }) => type === 'Usable')
  if (usable?.status !== 'False' || usable.observedGeneration !== metadata.generation) return null
  return `ReleasePolicy ${metadata.name} cannot be used in full: ${usable.message}`
}

/** Terms of a policy for a release, as in `spec.tranche` of its BatchRelease. */
export type PolicyTerms = Pick<
  TrancheSpec,
  'nodes' | 'maxUnavailable' | 'failure' | 'analysis' | 'prePull' | 'drain' | 'downtime' | 'finalSettleSeconds' | 'stepSoakSeconds'
>

/**
 * The policy's terms for this release. While the policy cannot be used, the last terms remain: a release that is ended
 * meanwhile must not follow laxer ones.
 */
export function policyTerms(view: RolloutView): PolicyTerms {
  if (policyObstacle(view) !== null) return termsOf(view.release?.spec.tranche)
  const spec = view.policy.kind === 'found' ? view.policy.policy.spec : {}
  const { maxUnavailable, analysis, prePull, drain, downtime, soak } = spec
  const nodes = nodeRulesFor(view.rollout, spec.nodes)
  const failure = failureOf(view, spec.failure)
  const stepSoakSeconds = secondsOf(soak?.step)
  const finalSettleSeconds = secondsOf(soak?.final)
  return termsOf({ nodes, maxUnavailable, failure, analysis, prePull, drain, downtime, stepSoakSeconds, finalSettleSeconds })
}

/** The BatchRelease's terms without those of a policy. */
export function withoutPolicyTerms(tranche: TrancheSpec | undefined): TrancheSpec {
  const { nodes: _n, maxUnavailable: _m, failure: _f, analysis: _a, prePull: _p, drain: _r, downtime: _d, ...others } = tranche ?? {}
  const { finalSettleSeconds: _s, stepSoakSeconds: _t, ...rest } = others
  return rest
}

/** Drops undefined members. */
function termsOf(tranche: TrancheSpec | undefined): PolicyTerms {
  const { nodes, maxUnavailable, failure, analysis, prePull, drain, downtime, stepSoakSeconds } = tranche ?? {}
  const { finalSettleSeconds = FINAL_SETTLE_SECONDS } = tranche ?? {}
  return { nodes, maxUnavailable, failure, analysis, prePull, drain, downtime, stepSoakSeconds, finalSettleSeconds }
}

/** The steps' selectors belong to the rules: one per batch, where any step has one. */
export function nodeRulesFor(rollout: Rollout, rules: PolicyTerms['nodes']): PolicyTerms['nodes'] {
  if (!selectsNodes(rollout)) return rules
  const steps = rollout.spec.strategy.canary?.steps ?? []
  return { ...rules, steps: steps.map(({ nodes }) => nodes ?? {}) }
}

/** Tolerates as many failed nodes as `failureThreshold`, unless the policy sets `maxFailedNodes`. */
function failureOf({ rollout }: RolloutView, rules: PolicyTerms['failure']): PolicyTerms['failure'] {
  const maxFailedNodes = rules?.maxFailedNodes ?? rollout.spec.strategy.canary?.failureThreshold
  return maxFailedNodes === undefined ? rules : { ...rules, maxFailedNodes }
}

/** Whole seconds, rounded up. */
function secondsOf(duration: string | undefined): number | undefined {
  return duration === undefined ? undefined : Math.ceil(durationMs(duration) / 1000)
}

function namedText(name: string): string {
  return `the annotation ${rolloutAnnotations.releasePolicy} is "${clipText(name, sizeLimits.objectName)}"`
}
