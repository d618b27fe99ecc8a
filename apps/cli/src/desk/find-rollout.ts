import type { RolloutSummary } from '@tranche/api-schema'
import { AppError } from '@tranche/errors'
import type { ObjectKey } from '@tranche/kube-types'
import type { ReleaseDesk } from '@tranche/steering'
import { nearestName } from './nearest-name.ts'

const rolloutWords = ['rollout', 'rollouts', 'rollout.rollouts.kruise.io', 'rollouts.rollouts.kruise.io', 'ro']
const daemonSetWords = ['daemonset', 'daemonsets', 'daemonset.apps', 'daemonsets.apps', 'ds']
const MOST_NAMES = 5

/**
 * The Rollout that a person means: by its name, as `rollout/NAME`, by its DaemonSet as `daemonset/NAME`, or by nothing where the
 * namespace has only one.
 *
 * @param named as written on the command line; undefined where nothing was
 * @param command the command, for the hint
 * @throws {AppError} ROLLOUT_NOT_FOUND, with the name that comes closest; NAME_AMBIGUOUS; OPTION_INVALID
 */
export async function findRollout(desk: Pick<ReleaseDesk, 'list'>, namespace: string, { named, command }: Named): Promise<ObjectKey> {
  const { kind, name } = readName(named)
  if (kind === 'rollout' && name !== undefined) return { namespace, name }
  const all = await desk.list({ namespace })
  const matches = name === undefined ? all : all.filter(({ daemonSet }) => daemonSet === name)
  const [only] = matches
  if (only !== undefined && matches.length === 1) return { namespace, name: only.name }
  if (only !== undefined) throw ambiguous(matches, namespace, command)
  throw name === undefined ? noneThere(namespace) : noneFor(name, namespace, all)
}

/** What was written, and where. */
export interface Named {
  readonly named: string | undefined
  readonly command: string
}

/**
 * @returns the error of a Rollout that is not there, with the name that comes closest, and other ways to find it
 * @throws what listing throws: where no Rollouts are served at all, that is the reason
 */
export async function explainMissing(desk: Pick<ReleaseDesk, 'list'>, { namespace, name }: ObjectKey): Promise<AppError> {
  const names = (await desk.list({ namespace })).map((rollout) => rollout.name)
  return new AppError('ROLLOUT_NOT_FOUND', `there is no Rollout ${name} in namespace ${namespace}`, {
    details: { namespace, name },
    hint: hintFor(name, names),
  })
}

function readName(named: string | undefined): { readonly kind: 'rollout' | 'daemonSet'; readonly name: string | undefined } {
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

function ambiguous(matches: readonly RolloutSummary[], namespace: string, command: string): AppError {
  const names = matches.map(({ name }) => name)
  const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : ''
  return new AppError(
    'NAME_AMBIGUOUS',
    `namespace ${namespace} has ${names.length} Rollouts: ${names.slice(0, MOST_NAMES).join(', ')}${more}`,
    {
      details: { namespace },
      hint: `Name one of them: tranche ${command} ${names[0]} -n ${namespace}.`,
    },
  )
}

function noneThere(namespace: string): AppError {
  return new AppError('ROLLOUT_NOT_FOUND', `there are no Rollouts in namespace ${namespace}`, {
    details: { namespace },
    hint: 'Choose a namespace with -n; tranche list -A shows the Rollouts of all.',
  })
}

function noneFor(daemonSet: string, namespace: string, all: readonly RolloutSummary[]): AppError {
  return new AppError('ROLLOUT_NOT_FOUND', `no Rollout in namespace ${namespace} is about a DaemonSet ${daemonSet}`, {
    details: { namespace, name: daemonSet },
    hint: hintFor(
      daemonSet,
      all.map((rollout) => rollout.daemonSet),
    ),
  })
}

function hintFor(name: string, names: readonly string[]): string {
  if (names.length === 0) return 'Choose a namespace with -n; tranche list -A shows the Rollouts of all.'
  const nearest = nearestName(name, names)
  return nearest === undefined ? 'tranche list shows all of them.' : `Did you mean ${nearest}? tranche list shows all of them.`
}
