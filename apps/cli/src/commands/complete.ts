import { contextNames, resourcePaths } from '@tranche/kube-client'
import type { KubeObject } from '@tranche/kube-types'
import type { Command } from 'commander'
import type { CommandIo } from '../command-io.ts'
import { type Candidate, type Completion, findCandidates } from '../completion/find-candidates.ts'
import { openCluster, openSession } from '../desk/open-session.ts'
import { type ExitCode, exitCodes } from '../exit-codes.ts'
import { toAccessOptions } from '../options/access-options.ts'

/** A Tab that takes longer is no help. */
const TIMEOUT = '3s'

/** What is completed, and for whom. */
export interface CompleteOptions {
  /** The last is the one under way, and may be empty. */
  readonly words: readonly string[]
  /** For kubectl, which reads a number behind the words: 4 forbids the names of files, 0 offers them where there are no words. */
  readonly directive: boolean
}

/** Prints what can stand in the place of the last word, one a line, with a tab before what it is. Says nothing of what goes wrong. */
export async function complete(program: Command, { words, directive }: CompleteOptions, io: CommandIo): Promise<ExitCode> {
  const { candidates, ask, files } = findCandidates(program, words)
  const current = words.at(-1) ?? ''
  const asked = ask === null ? [] : await askedOf(ask, io).catch(() => [])
  const lines = [...candidates, ...asked.filter(({ word }) => word.startsWith(current))]
  io.out.write(lines.map(({ word, about }) => `${about === '' ? word : `${word}\t${about}`}\n`).join(''))
  if (directive) io.out.write(`:${files ? 0 : 4}\n`)
  return exitCodes.done
}

async function askedOf({ what, values }: NonNullable<Completion['ask']>, io: CommandIo): Promise<readonly Candidate[]> {
  const access = toAccessOptions({ ...values, requestTimeout: TIMEOUT }, io.env)
  if (what === 'rollouts') {
    await using session = await openSession(access, io)
    const rollouts = await session.desk.list({ namespace: session.namespace })
    return rollouts.map(({ name, outcome }) => ({ word: name, about: outcome }))
  }
  if (access.source.kind === 'server') return []
  if (what === 'contexts') return (await contextNames({ path: access.source.kubeconfig, env: io.env })).map((word) => ({ word, about: '' }))
  await using open = await openCluster(access.source, io)
  const { items } = await open.client.list<KubeObject>(resourcePaths.namespaces, { deadlineMs: access.requestTimeoutMs })
  return items.map(({ metadata }) => ({ word: metadata.name, about: '' }))
}
