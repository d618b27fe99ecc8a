import { type KubeConfigNames, kubeConfigNames, resourcePaths } from '@tranche/kube-client'
import type { KubeObject, ObjectKey } from '@tranche/kube-types'
import type { Command } from 'commander'
import type { CommandIo } from '../process/command-io.ts'
import { type Asked, type CompletionCandidate, findCandidates } from '../completion/find-candidates.ts'
import { findRollout } from '../release-client/find-rollout.ts'
import { openCluster, openSession, type CommandSession } from '../release-client/open-session.ts'
import { type ExitCode, exitCodes } from '../process/exit-codes.ts'
import { type ClusterSource, toAccessOptions } from '../options/access-options.ts'
import { printable } from '../view/printable.ts'

/** Timeout of the requests for completion candidates. */
const TIMEOUT = '3s'

/** Words without special characters of any shell. Names come from clusters and kubeconfigs, so other words are dropped. */
const PLAIN = /^[\w.,:/@%+=-]*$/

/** Options of `__complete`. */
export interface CompleteOptions {
  /** Typed words; the last is the one to complete, and may be empty. */
  readonly words: readonly string[]
  /** Ends the output with a directive for kubectl: `:4` disables file names, `:0` offers them if there are no candidates. */
  readonly directive: boolean
}

/** Prints the candidates for the last word, one per line, each with a tab and a description. Errors are not printed. */
export async function complete(program: Command, { words, directive }: CompleteOptions, io: CommandIo): Promise<ExitCode> {
  const { candidates, ask, files, typed, prefix } = findCandidates(program, words)
  const asked = ask === null ? [] : await askedOf(ask, typed, io).catch(() => [])
  const lines = [...candidates, ...asked.filter(({ word }) => word.startsWith(typed))]
  const shown = lines.filter(({ word }) => PLAIN.test(word)).map(({ word, about }) => ({ word, about: printable(about) }))
  io.out.write(shown.map(({ word, about }) => `${prefix}${about === '' ? word : `${word}\t${about}`}\n`).join(''))
  if (directive) io.out.write(`:${files ? 0 : 4}\n`)
  return exitCodes.done
}

async function askedOf(ask: Asked, typed: string, io: CommandIo): Promise<readonly CompletionCandidate[]> {
  const access = toAccessOptions({ ...ask.values, requestTimeout: TIMEOUT }, io.env)
  if (isOfReleases(ask.what)) {
    await using session = await openSession(access, io)
    return await candidatesOf(session, ask, typed)
  }
  if (access.source.kind === 'server') return []
  if (ask.what !== 'namespaces') return (await namesOf(access.source, io))[ask.what].map((word) => ({ word, about: '' }))
  await using open = await openCluster(access.source, io)
  const { items } = await open.client.list<KubeObject>(resourcePaths.namespaces, { deadlineMs: access.requestTimeoutMs })
  return items.map(({ metadata }) => ({ word: metadata.name, about: '' }))
}

type OfReleases = 'rollouts' | 'subjects' | 'revisions' | 'hashes'

function isOfReleases(what: Asked['what']): what is OfReleases {
  return ['rollouts', 'subjects', 'revisions', 'hashes'].includes(what)
}

function namesOf({ kubeconfig: path }: ClusterSource, { env }: CommandIo): Promise<KubeConfigNames> {
  return kubeConfigNames({ path, env })
}

async function candidatesOf(
  session: CommandSession,
  { what, values, rollout }: Asked,
  typed: string,
): Promise<readonly CompletionCandidate[]> {
  const { releaseClient } = session
  if (what === 'revisions' || what === 'hashes') {
    const { revisions } = await releaseClient.history(await keyOf(session, rollout))
    // Offers numbers, or hashes once the typed word is not a number.
    const byHash = what === 'hashes' || !/^\d*$/.test(typed)
    return revisions.map(({ number, revision, role, images }) => {
      const about = [byHash ? number : revision, role, ...images].join(' ')
      return { word: byHash ? revision : String(number), about }
    })
  }
  const rollouts = (await releaseClient.list({ namespace: session.namespace })).flatMap((one) => rolloutWords(one, typed))
  if (what === 'rollouts') return rollouts
  const kind = typed.startsWith('node/') ? 'node/' : ''
  const nodes = await releaseClient.nodes(await keyOf(session, values['rollout'])).catch(() => [])
  return [...rollouts, ...nodes.map(({ name, state }) => ({ word: `${kind}${name}`, about: state }))]
}

function keyOf({ releaseClient, namespace }: CommandSession, named: string | undefined): Promise<ObjectKey> {
  return findRollout(releaseClient, namespace, { named, command: 'get' })
}

interface NamedRollout {
  readonly name: string
  readonly daemonSet: string
  readonly outcome: string
}

/** Candidates in the form that was typed: NAME, `rollout/NAME` or `daemonset/NAME`. */
function rolloutWords({ name, daemonSet, outcome }: NamedRollout, typed: string): readonly CompletionCandidate[] {
  if (!typed.includes('/')) return [{ word: name, about: outcome }]
  const [kind = ''] = typed.split('/', 1)
  const word = kind.startsWith('d') ? daemonSet : kind.startsWith('r') ? name : null
  return word === null ? [] : [{ word: `${kind}/${word}`, about: outcome }]
}
