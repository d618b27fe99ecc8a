import type { ReleasePolicy, Rollout } from '@tranche/api-schema'
import { type DaemonSet, rolloutAnnotations } from '@tranche/kube-types'
import {
  adviseConfig,
  advisePinnedConfig,
  type ImmutableConfig,
  type PinAdvice,
  toImmutableConfig,
  toWrittenConfig,
  type WrittenConfig,
} from './advise-config.ts'
import { adviseDaemonSet } from './advise-others.ts'
import { checkBatchRelease, type Checked, checkPolicy, checkRollout } from './check-object.ts'
import { adviseNearMiss } from './fields/near-misses.ts'
import { adviseReferences, toWrittenSecret, type WrittenSecret } from './policy/advise-references.ts'
import { firstAdvice } from './problems/bounded.ts'
import { type Advice, adviceOf, type Problem, problemOf } from './problems/problem.ts'
import { validateDaemonSetBudget } from './validate-budget.ts'
import { validateKeys } from './validate-keys.ts'
import { isDaemonSetRef, isSameWorkload, validateBinding } from './fields/workload.ts'

/** Problems and advice of one document. */
export interface Findings {
  readonly problems: readonly Problem[]
  readonly advice: readonly Advice[]
  /** Whether its kind is checked: Rollout, BatchRelease, ReleasePolicy, DaemonSet. */
  readonly judged: boolean
  /** What a policy among the documents pins by copies; absent without `config: Pin`. */
  readonly pinned?: PinnedByPolicy
}

/** Config that a policy among the documents pins. */
export interface PinnedByPolicy extends Pick<PinAdvice, 'pinned'> {
  /** Name of the ReleasePolicy. */
  readonly policy: string
}

/** Facts about a cluster that need no request to it. */
export interface Surroundings {
  /** Whether policies may name the host of this URL. @default every host */
  readonly isAllowed?: (url: URL) => boolean
}

/**
 * Checks documents that are applied together, without a cluster. Never throws.
 *
 * - Rollouts, BatchReleases and ReleasePolicies: every rule, including the references between the documents.
 * - DaemonSets: the annotations that Tranche owns and, when a Rollout among the documents names them, what the release needs.
 * - Other kinds: only a hint when the kind is close to one of these.
 *
 * @param documents one object each, as parsed from YAML or JSON
 * @param surroundings facts about the cluster that the documents are for
 * @returns one entry for each document, in the same order
 */
export function checkDocuments(documents: readonly unknown[], { isAllowed }: Surroundings = {}): readonly Findings[] {
  const parts = documents.map(toPart)
  const together: Together = {
    rollouts: parts.flatMap((part) => (part.kind === 'Rollout' && part.rollout !== null ? [part.rollout] : [])),
    daemonSets: parts.flatMap((part) => (part.kind === 'DaemonSet' ? [part.daemonSet] : [])),
    policies: parts.flatMap((part) => (part.kind === 'ReleasePolicy' && part.checked.object !== null ? [part.checked.object] : [])),
    written: documents.flatMap((document) => toWrittenConfig(document) ?? []),
    immutable: documents.flatMap((document) => toImmutableConfig(document) ?? []),
    secrets: parts.flatMap((part) => (part.kind === 'Secret' ? [part.secret] : [])),
    isAllowed: isAllowed ?? (() => true),
  }
  return parts.map((part) => {
    const { advice, ...findings } = findingsOf(part, together)
    return { ...findings, advice: firstAdvice(advice) }
  })
}

function findingsOf(part: Part, together: Together): Findings {
  switch (part.kind) {
    case 'Rollout':
      return rolloutFindings(part.value, together)
    case 'BatchRelease': {
      const { problems, advice } = checkBatchRelease(part.value)
      return { problems, advice, judged: true }
    }
    case 'ReleasePolicy':
      return policyFindings(part.checked, together)
    case 'DaemonSet':
      return daemonSetFindings(part.daemonSet, together)
    case 'oldVersion':
      return { problems: [problemOf(part.rule, { value: part.apiVersion })], advice: [], judged: true }
    case 'Secret':
      return { problems: [], advice: [], judged: false }
    case 'other':
      return { problems: [], advice: adviseNearMiss(membersOf(part.value)), judged: false }
    default:
      return part satisfies never
  }
}

/** The readable documents, by kind. */
interface Together {
  readonly rollouts: readonly Rollout[]
  readonly daemonSets: readonly DaemonSet[]
  readonly policies: readonly ReleasePolicy[]
  /** ConfigMaps and Secrets. */
  readonly written: readonly WrittenConfig[]
  /** ConfigMaps and Secrets with `immutable: true`. */
  readonly immutable: readonly ImmutableConfig[]
  readonly secrets: readonly WrittenSecret[]
  readonly isAllowed: (url: URL) => boolean
}

/** One document by kind, reduced to the parts that are checked. */
type Part =
  | { readonly kind: 'Rollout'; readonly value: unknown; readonly rollout: Rollout | null }
  | { readonly kind: 'BatchRelease'; readonly value: unknown }
  | { readonly kind: 'ReleasePolicy'; readonly checked: Checked<ReleasePolicy> }
  | { readonly kind: 'DaemonSet'; readonly daemonSet: DaemonSet }
  | { readonly kind: 'Secret'; readonly secret: WrittenSecret }
  | { readonly kind: 'oldVersion'; readonly rule: 'RolloutVersion' | 'BatchReleaseVersion' | 'PolicyVersion'; readonly apiVersion: string }
  | { readonly kind: 'other'; readonly value: unknown }

const unknownSurroundings = { desired: null, workloadExists: null }

function toPart(value: unknown): Part {
  const { apiVersion, kind } = membersOf(value)
  if (apiVersion === 'v1' && kind === 'Secret') return { kind, secret: toWrittenSecret(value) }
  if (apiVersion === 'apps/v1' && kind === 'DaemonSet') return { kind, daemonSet: toDaemonSet(value) }
  if (typeof apiVersion === 'string' && apiVersion.startsWith('tranche.dev/') && kind === 'ReleasePolicy') {
    return apiVersion === 'tranche.dev/v1alpha1'
      ? { kind, checked: checkPolicy(value) }
      : { kind: 'oldVersion', rule: 'PolicyVersion', apiVersion }
  }
  if (typeof apiVersion !== 'string' || !apiVersion.startsWith('rollouts.kruise.io/')) return { kind: 'other', value }
  if (kind !== 'Rollout' && kind !== 'BatchRelease') return { kind: 'other', value }
  if (apiVersion !== 'rollouts.kruise.io/v1beta1') return { kind: 'oldVersion', rule: `${kind}Version`, apiVersion }
  return kind === 'Rollout' ? { kind, value, rollout: checkRollout(value, unknownSurroundings).object } : { kind, value }
}

/** Reads the checked fields and drops those of a wrong type, which the API server rejects itself. */
function toDaemonSet(value: unknown): DaemonSet {
  const { metadata, spec } = membersOf(value)
  const { name, namespace, annotations } = membersOf(metadata)
  const { template, updateStrategy, revisionHistoryLimit } = membersOf(spec)
  const { type, rollingUpdate } = membersOf(updateStrategy)
  const texts = Object.entries(membersOf(annotations)).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  return {
    metadata: {
      name: typeof name === 'string' ? name : '',
      uid: '',
      resourceVersion: '',
      annotations: Object.fromEntries(texts),
      ...(typeof namespace === 'string' && { namespace }),
    },
    spec: {
      template: membersOf(template),
      updateStrategy: { ...(typeof type === 'string' && { type }), rollingUpdate: membersOf(rollingUpdate) },
      ...(typeof revisionHistoryLimit === 'number' && { revisionHistoryLimit }),
    },
  }
}

/** When two Rollouts name one DaemonSet, the one that would not get it has the problem. */
function rolloutFindings(value: unknown, { rollouts, daemonSets, policies }: Together): Findings {
  const { problems, advice, object } = checkRollout(value, unknownSurroundings)
  if (object === null || !isDaemonSetRef(object.spec.workloadRef)) return { problems, advice, judged: true }
  const neighbours = daemonSets.filter(({ metadata }) => namespaceOf(metadata) === namespaceOf(object.metadata))
  const workloadExists = neighbours.length === 0 ? null : neighbours.some((daemonSet) => isNamedBy(object, daemonSet))
  const taken = object.spec.disabled === true ? [] : validateBinding(object, rollouts, null)
  return {
    problems: [...problems, ...taken],
    advice: [
      ...(workloadExists === false ? checkRollout(value, { desired: null, workloadExists }).advice : advice),
      ...absentPolicy(object, policies),
    ],
    judged: true,
  }
}

/** No advice when the documents have no policies in this namespace: they may be in another file. */
function absentPolicy(rollout: Rollout, policies: readonly ReleasePolicy[]): readonly Advice[] {
  const name = policyNameOf(rollout)
  const neighbours = policies.filter(({ metadata }) => namespaceOf(metadata) === namespaceOf(rollout.metadata))
  if (name === undefined || neighbours.length === 0 || neighbours.some(({ metadata }) => metadata.name === name)) return []
  return [adviceOf('PolicyAbsent', { value: name })]
}

function policyNameOf({ metadata }: Rollout): string | undefined {
  return metadata.annotations?.[rolloutAnnotations.releasePolicy]
}

/** Includes advice about analyses after a step that none of the Rollouts has: they never run. */
function policyFindings({ problems, advice, object }: Checked<ReleasePolicy>, together: Together): Findings {
  const { rollouts } = together
  const unusable = object === null ? [] : adviseReferences(object, together)
  const users = rollouts.filter((rollout) => object !== null && usesPolicy(rollout, object))
  const steps = Math.max(0, ...users.map(({ spec }) => spec.strategy.canary?.steps?.length ?? 0))
  const beyond = (users.length === 0 ? [] : (object?.spec.analysis ?? [])).flatMap((analysis, at) =>
    (analysis.steps ?? []).flatMap((step, index) =>
      step > steps ? [adviceOf('AnalysisBeyondSteps', { path: `spec.analysis[${at}].steps[${index}]`, value: step })] : [],
    ),
  )
  return { problems, advice: [...advice, ...beyond, ...unusable], judged: true }
}

function usesPolicy(rollout: Rollout, { metadata }: ReleasePolicy): boolean {
  return namespaceOf(rollout.metadata) === namespaceOf(metadata) && policyNameOf(rollout) === metadata.name
}

/** The number of nodes is unknown; a budget of zero is found with one node. */
function daemonSetFindings(daemonSet: DaemonSet, { rollouts, policies, immutable, written }: Together): Findings {
  const keys = validateKeys(daemonSet.metadata)
  const rollout = rollouts.find((one) => one.spec.disabled !== true && isNamedBy(one, daemonSet))
  if (rollout === undefined) return { problems: keys, advice: [], judged: true }
  // The findings of the policy itself report an invalid policy.
  const policy = policies.find((one) => usesPolicy(rollout, one))
  const budget = validateDaemonSetBudget(daemonSet, 1, policy?.spec.maxUnavailable).filter(({ rule }) => rule !== 'TrancheBudget')
  const problems = [...budget, ...keys]
  if (policy?.spec.config !== 'Pin')
    return { problems, advice: [...adviseDaemonSet(daemonSet), ...adviseConfig(daemonSet, immutable)], judged: true }
  const { advice, pinned } = advisePinnedConfig(daemonSet, { written, immutable })
  const pins = pinned.length === 0 ? {} : { pinned: { policy: policy.metadata.name, pinned } }
  return { problems, advice: [...adviseDaemonSet(daemonSet), ...advice], judged: true, ...pins }
}

function isNamedBy({ metadata, spec }: Rollout, daemonSet: DaemonSet): boolean {
  const own = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: daemonSet.metadata.name }
  return namespaceOf(metadata) === namespaceOf(daemonSet.metadata) && isSameWorkload(spec.workloadRef, own)
}

/** An absent namespace is chosen at apply time, and is the same for all documents without one. */
function namespaceOf({ namespace }: { readonly namespace?: string | undefined }): string {
  return namespace ?? ''
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Readonly<Record<string, unknown>>) : {}
}
