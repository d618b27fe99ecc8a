import { distance } from 'fastest-levenshtein'
import { type Advice, adviceOf } from '../problems/problem.ts'

/** Type fields of an untrusted object; they may hold any value. */
interface Typed {
  readonly apiVersion?: unknown
  readonly kind?: unknown
}

/** A kind that Tranche checks. */
interface KnownKind {
  readonly apiVersion: string
  readonly kind: string
}

const knownKinds: readonly KnownKind[] = [
  { apiVersion: 'rollouts.kruise.io/v1beta1', kind: 'Rollout' },
  { apiVersion: 'rollouts.kruise.io/v1beta1', kind: 'BatchRelease' },
  { apiVersion: 'tranche.dev/v1alpha1', kind: 'ReleasePolicy' },
  { apiVersion: 'apps/v1', kind: 'DaemonSet' },
]

/**
 * Finds the checked kind that an unknown kind probably means: its kind or group differs in capitals or in one or two letters, or the
 * group is missing. A kind of another group, such as Argo's Rollout, is no near miss.
 *
 * @returns the probable kind; undefined without a near miss
 */
export function nearMiss({ apiVersion, kind }: Typed): KnownKind | undefined {
  const [group, name] = [groupOf(apiVersion), textOf(kind)]
  return knownKinds.find((known) => (group === '' || isNear(group, groupOf(known.apiVersion))) && isNear(name, known.kind))
}

/** @returns advice for each of kind and apiVersion that is misspelled; empty without a near miss */
export function adviseNearMiss(typed: Typed): readonly Advice[] {
  const meant = nearMiss(typed)
  if (meant === undefined) return []
  const { apiVersion, kind } = typed
  const fix = apiVersion === undefined ? `add apiVersion: ${meant.apiVersion}` : `set it to ${meant.apiVersion}`
  return [
    ...(kind === meant.kind ? [] : [adviceOf('KindNearMiss', { value: kind, fix: `set it to ${meant.kind}` })]),
    ...(apiVersion === meant.apiVersion ? [] : [adviceOf('ApiVersionNearMiss', { value: apiVersion, fix })]),
  ]
}

function isNear(written: string, right: string): boolean {
  const most = right.length < LONG ? 1 : 2
  // The time of the comparison grows with the length of what a user wrote.
  return Math.abs(written.length - right.length) <= most && distance(written.toLowerCase(), right.toLowerCase()) <= most
}

/** Length in characters from which two letters may differ; in shorter words that makes another word. */
const LONG = 6

/** Group of an apiVersion; empty for a version alone. A group without a version counts as a group. */
function groupOf(apiVersion: unknown): string {
  const text = textOf(apiVersion)
  const [group = ''] = text.split('/')
  return text.includes('/') || text.includes('.') ? group : ''
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
