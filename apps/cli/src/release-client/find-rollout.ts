import { AppError } from '@tranche/errors'
import type { ObjectKey } from '@tranche/kube-types'
import type { ReleaseClient, RolloutNames } from '@tranche/release-client'
import { nearestName } from './nearest-name.ts'

const rolloutWords = ['rollout', 'rollouts', 'rollout.rollouts.kruise.io', 'rollouts.rollouts.kruise.io', 'ro']
const daemonSetWords = ['daemonset', 'daemonsets', 'daemonset.apps', 'daemonsets.apps', 'ds']
const MOST_NAMES = 5

/**
 * Finds a Rollout by NAME, `rollout/NAME` or `daemonset/NAME`; without a name, the only Rollout of the namespace.
 *
 * @param named as written on the command line; undefined if not given
 * @param command the command, for the hint
 * @throws {AppError} ROLLOUT_NOT_FOUND, with the most similar name; NAME_AMBIGUOUS; OPTION_INVALID
 */
export async function findRollout(releaseClient: Pick<ReleaseClient, 'names'>, namespace: string, search: Named): Promise<ObjectKey> {
  const { named, allNamespaces = false, selector: labelSelector, signal } = search
  const { kind, name } = readName(named)
  if (kind === 'rollout' && name !== undefined && !allNamespaces && labelSelector === undefined) return { namespace, name }
  const all = await releaseClient.names({ namespace: allNamespaces ? undefined : namespace, labelSelector, signal })
  const matches = name === undefined ? all : all.filter((one) => (kind === 'daemonSet' ? one.daemonSet : one.name) === name)
  const [only] = matches
  if (only !== undefined && matches.length === 1) return { namespace: only.namespace, name: only.name }
  const place = placeText(namespace, search)
  if (only !== undefined) throw ambiguous(matches, { ...search, place })
  throw name === undefined ? noneThere(place) : noneFor({ kind, name }, place, all)
}

/** Name and scope of a search. */
export interface Named {
  readonly named: string | undefined
  readonly command: string
  /** The command for one Rollout, for the hint. @default its name is the only argument */
  readonly commandFor?: ((name: string) => string) | undefined
  /** Search all namespaces. @default false */
  readonly allNamespaces?: boolean
  /** Label selector. */
  readonly selector?: string | undefined
  readonly signal?: AbortSignal | undefined
}

/** Scope of the search, for errors. */
function placeText(namespace: string, { allNamespaces = false, selector }: Named): string {
  const labels = selector === undefined ? '' : ` with the labels ${selector}`
  return `${allNamespaces ? 'any namespace' : `namespace ${namespace}`}${labels}`
}

/**
 * @returns the error ROLLOUT_NOT_FOUND, with the most similar name in its hint
 * @throws the errors of listing, such as that the API server serves no Rollouts
 */
export async function explainMissing(releaseClient: Pick<ReleaseClient, 'names'>, { namespace, name }: ObjectKey): Promise<AppError> {
  const names = (await releaseClient.names({ namespace })).map((rollout) => rollout.name)
  return new AppError('ROLLOUT_NOT_FOUND', `there is no Rollout ${name} in namespace ${namespace}`, {
    details: { namespace, name },
    hint: hintFor(name, names),
  })
}

interface NameRead {
  readonly kind: 'rollout' | 'daemonSet'
  readonly name: string | undefined
}

function readName(named: string | undefined): NameRead {
  if (named === undefined) return { kind: 'rollout', name: undefined }
  const [kind = '', name, more] = named.split('/')
  if (name === undefined) return { kind: 'rollout', name: named }
  if (more === undefined && name !== '' && rolloutWords.includes(kind.toLowerCase())) return { kind: 'rollout', name }
  if (more === undefined && name !== '' && daemonSetWords.includes(kind.toLowerCase())) return { kind: 'daemonSet', name }
  throw new AppError('OPTION_INVALID', `${JSON.stringify(named)} names no Rollout`, {
    details: { value: named },
    hint: 'Write NAME, rollout/NAME or daemonset/NAME, and the namespace with -n.',
  })
}

interface Ambiguous extends Pick<Named, 'command' | 'commandFor' | 'allNamespaces'> {
  readonly place: string
}

function ambiguous(
  matches: readonly RolloutNames[],
  { place, command, commandFor = (name) => `${command} ${name}`, allNamespaces = false }: Ambiguous,
): AppError {
  const names = matches.map(({ namespace, name }) => (allNamespaces ? `${namespace}/${name}` : name))
  const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : ''
  const [first] = matches
  const count = allNamespaces ? `there are ${names.length} such Rollouts` : `${place} has ${names.length} Rollouts`
  return new AppError('NAME_AMBIGUOUS', `${count}: ${names.slice(0, MOST_NAMES).join(', ')}${more}`, {
    details: { place },
    hint: `Name one of them: tranche ${commandFor(first?.name ?? 'NAME')} -n ${first?.namespace}.`,
  })
}

function noneThere(place: string): AppError {
  return new AppError('ROLLOUT_NOT_FOUND', `there are no Rollouts in ${place}`, { details: { place }, hint: hintFor('', []) })
}

function noneFor({ kind, name }: NameRead & { readonly name: string }, place: string, all: readonly RolloutNames[]): AppError {
  const what = kind === 'daemonSet' ? `no Rollout in ${place} references a DaemonSet ${name}` : `there is no Rollout ${name} in ${place}`
  const names = all.map((rollout) => (kind === 'daemonSet' ? rollout.daemonSet : rollout.name))
  return new AppError('ROLLOUT_NOT_FOUND', what, { details: { place, name }, hint: hintFor(name, names) })
}

function hintFor(name: string, names: readonly string[]): string {
  if (names.length === 0) return 'Choose a namespace with -n; tranche list -A shows all Rollouts.'
  const nearest = nearestName(name, names)
  return nearest === undefined ? 'tranche list shows all of them.' : `Did you mean ${nearest}? tranche list shows all of them.`
}
