import { distance } from 'fastest-levenshtein'
import { type Advice, adviceOf } from './problem.ts'

/** What an object says of what it is; anything may stand there. */
interface Typed {
  readonly apiVersion?: unknown
  readonly kind?: unknown
}

/** A kind that is checked here. */
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
 * The kind that was meant by one that is not checked here and nearly one that is: its kind or its group has other capitals or is a letter
 * or two away, or the group is missing. A kind of another group, such as Argo's Rollout, is another kind.
 *
 * @returns the kind that was meant; undefined where it is no near miss
 */
export function nearMiss({ apiVersion, kind }: Typed): KnownKind | undefined {
  const [group, name] = [groupOf(apiVersion), textOf(kind)]
  return knownKinds.find((known) => (group === '' || isNear(group, groupOf(known.apiVersion))) && isNear(name, known.kind))
}

/** @returns advice for each of kind and apiVersion that is not written as it should be; empty where it is no near miss */
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
  return distance(written.toLowerCase(), right.toLowerCase()) <= (right.length < LONG ? 1 : 2)
}

/** Words from this length on (characters) may be two letters away: in a shorter one that makes another word. */
const LONG = 6

/** A version alone is of no group; a group alone lacks its version. */
function groupOf(apiVersion: unknown): string {
  const text = textOf(apiVersion)
  const [group = ''] = text.split('/')
  return text.includes('/') || text.includes('.') ? group : ''
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
