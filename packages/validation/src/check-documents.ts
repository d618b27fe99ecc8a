import type { Rollout } from '@tranche/api-schema'
import type { DaemonSet } from '@tranche/kube-types'
import { adviseDaemonSet } from './advise-others.ts'
import { checkBatchRelease, checkPolicy, checkRollout } from './check-object.ts'
import { type Advice, type Problem, problemOf } from './problem.ts'
import { validateDaemonSetBudget } from './validate-budget.ts'
import { validateKeys } from './validate-keys.ts'
import { isDaemonSetRef, isSameWorkload, validateBinding } from './workload.ts'

/** What is said of one document. */
export interface Findings {
  readonly problems: readonly Problem[]
  readonly advice: readonly Advice[]
  /** Whether it is of a kind that is looked at here: Rollout, BatchRelease, ReleasePolicy, DaemonSet. */
  readonly judged: boolean
}

/**
 * Checks documents that are to be applied together, without a cluster: Rollouts and BatchReleases by every rule, DaemonSets by
 * our keys on them and, where a Rollout among the documents names them, by what it needs of them. Never throws.
 *
 * @param documents one object each, as parsed from YAML or JSON
 * @returns what is found, one entry for each document, in the same order
 */
export function checkDocuments(documents: readonly unknown[]): readonly Findings[] {
  const parts = documents.map(toPart)
  const rollouts = parts.flatMap((part) => (part.kind === 'Rollout' && part.rollout !== null ? [part.rollout] : []))
  const daemonSets = parts.flatMap((part) => (part.kind === 'DaemonSet' ? [part.daemonSet] : []))
  return parts.map((part) => {
    switch (part.kind) {
      case 'Rollout':
        return rolloutFindings(part.value, rollouts, daemonSets)
      case 'BatchRelease': {
        const { problems, advice } = checkBatchRelease(part.value)
        return { problems, advice, judged: true }
      }
      case 'ReleasePolicy': {
        const { problems, advice } = checkPolicy(part.value)
        return { problems, advice, judged: true }
      }
      case 'DaemonSet':
        return daemonSetFindings(part.daemonSet, rollouts)
      case 'oldVersion':
        return { problems: [problemOf(part.rule, { value: part.apiVersion })], advice: [], judged: true }
      case 'other':
        return { problems: [], advice: [], judged: false }
      default:
        return part satisfies never
    }
  })
}

/** One document, as far as it is looked at. */
type Part =
  | { readonly kind: 'Rollout'; readonly value: unknown; readonly rollout: Rollout | null }
  | { readonly kind: 'BatchRelease'; readonly value: unknown }
  | { readonly kind: 'ReleasePolicy'; readonly value: unknown }
  | { readonly kind: 'DaemonSet'; readonly daemonSet: DaemonSet }
  | { readonly kind: 'oldVersion'; readonly rule: 'RolloutVersion' | 'BatchReleaseVersion' | 'PolicyVersion'; readonly apiVersion: string }
  | { readonly kind: 'other' }

const unknownSurroundings = { desired: null, workloadExists: null }

function toPart(value: unknown): Part {
  const { apiVersion, kind } = membersOf(value)
  if (apiVersion === 'apps/v1' && kind === 'DaemonSet') return { kind, daemonSet: toDaemonSet(value) }
  if (typeof apiVersion === 'string' && apiVersion.startsWith('tranche.dev/') && kind === 'ReleasePolicy') {
    return apiVersion === 'tranche.dev/v1alpha1' ? { kind, value } : { kind: 'oldVersion', rule: 'PolicyVersion', apiVersion }
  }
  if (typeof apiVersion !== 'string' || !apiVersion.startsWith('rollouts.kruise.io/')) return { kind: 'other' }
  if (kind !== 'Rollout' && kind !== 'BatchRelease') return { kind: 'other' }
  if (apiVersion !== 'rollouts.kruise.io/v1beta1') return { kind: 'oldVersion', rule: `${kind}Version`, apiVersion }
  return kind === 'Rollout' ? { kind, value, rollout: checkRollout(value, unknownSurroundings).object } : { kind, value }
}

/** The parts that are looked at, each dropped where it has another form: what the API server itself refuses is not our rule. */
function toDaemonSet(value: unknown): DaemonSet {
  const { metadata, spec } = membersOf(value)
  const { name, namespace, annotations } = membersOf(metadata)
  const { updateStrategy, revisionHistoryLimit } = membersOf(spec)
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
      template: {},
      updateStrategy: { ...(typeof type === 'string' && { type }), rollingUpdate: membersOf(rollingUpdate) },
      ...(typeof revisionHistoryLimit === 'number' && { revisionHistoryLimit }),
    },
  }
}

/** Two documents that name one DaemonSet are told at the one that would not have it. */
function rolloutFindings(value: unknown, rollouts: readonly Rollout[], daemonSets: readonly DaemonSet[]): Findings {
  const { problems, advice, object } = checkRollout(value, unknownSurroundings)
  if (object === null || !isDaemonSetRef(object.spec.workloadRef)) return { problems, advice, judged: true }
  const neighbours = daemonSets.filter(({ metadata }) => namespaceOf(metadata) === namespaceOf(object.metadata))
  const workloadExists = neighbours.length === 0 ? null : neighbours.some((daemonSet) => isNamedBy(object, daemonSet))
  const taken = object.spec.disabled === true ? [] : validateBinding(object, rollouts, null)
  return {
    problems: [...problems, ...taken],
    advice: workloadExists === false ? checkRollout(value, { desired: null, workloadExists }).advice : advice,
    judged: true,
  }
}

/** The nodes are not known; whether a budget is nothing at all can be told without them. */
function daemonSetFindings(daemonSet: DaemonSet, rollouts: readonly Rollout[]): Findings {
  const keys = validateKeys(daemonSet.metadata)
  const isReleased = rollouts.some((rollout) => rollout.spec.disabled !== true && isNamedBy(rollout, daemonSet))
  if (!isReleased) return { problems: keys, advice: [], judged: true }
  return { problems: [...validateDaemonSetBudget(daemonSet, 1), ...keys], advice: adviseDaemonSet(daemonSet), judged: true }
}

function isNamedBy({ metadata, spec }: Rollout, daemonSet: DaemonSet): boolean {
  const own = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: daemonSet.metadata.name }
  return namespaceOf(metadata) === namespaceOf(daemonSet.metadata) && isSameWorkload(spec.workloadRef, own)
}

/** What no document states is decided when they are applied, and the same for all of them. */
function namespaceOf({ namespace }: { readonly namespace?: string | undefined }): string {
  return namespace ?? ''
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Readonly<Record<string, unknown>>) : {}
}
