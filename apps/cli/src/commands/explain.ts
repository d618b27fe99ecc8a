import type { Explanation } from '@tranche/api-schema'
import { AppError, isAppError } from '@tranche/errors'
import type { ObjectKey } from '@tranche/kube-types'
import type { CommandIo } from '../process/command-io.ts'
import { findRollout } from '../release-client/find-rollout.ts'
import { nearestName } from '../release-client/nearest-name.ts'
import { openSession, type CommandSession } from '../release-client/open-session.ts'
import { type ExitCode, exitCodes } from '../process/exit-codes.ts'
import type { AccessOptions, OutputOptions } from '../options/access-options.ts'
import { createOutputDrawing } from '../output/create-output-drawing.ts'
import { valueText } from '../output/print-value.ts'
import { explanationView } from '../view/reports/explanation-view.ts'

/** Options of `explain`. */
export interface ExplainOptions {
  readonly access: AccessOptions
  readonly output: OutputOptions
  /** A node or a Rollout; undefined: the only Rollout of the namespace. */
  readonly subject: string | undefined
  /** Rollout to explain the node for; undefined: the only one. */
  readonly rollout: string | undefined
}

/** Prints why a node is not updated or what a release waits for: the rule, the facts and what would change it. */
export async function explain({ access, output, subject, rollout }: ExplainOptions, io: CommandIo): Promise<ExitCode> {
  await using session = await openSession(access, io)
  const explanation = await explanationOf(session, subject, rollout)
  if (output.format === 'json' || output.format === 'yaml') io.out.write(await valueText(explanation, output.format, io.out))
  else {
    const drawing = createOutputDrawing(io.out, io, { colors: output.colors, nowMs: session.clock.nowMs() })
    io.out.write(`${explanationView(explanation, drawing).join('\n')}\n`)
  }
  return exitCodes.done
}

async function explanationOf(
  { releaseClient, namespace }: CommandSession,
  subject: string | undefined,
  rollout: string | undefined,
): Promise<Explanation> {
  const node = subject?.startsWith('node/') === true ? subject.slice('node/'.length) : subject
  if (node === undefined || (rollout === undefined && node === subject && (await namesRollout(releaseClient, namespace, node))))
    return releaseClient.explain(await findRollout(releaseClient, namespace, { named: subject ?? rollout, command: 'explain' }))
  const commandFor = (name: string): string => `explain ${subject} --rollout ${name}`
  const key = await findRollout(releaseClient, namespace, { named: rollout, command: 'explain', commandFor })
  try {
    return await releaseClient.explain(key, node)
  } catch (error) {
    throw isAppError(error) && error.code === 'NODE_NOT_FOUND' ? await unknownNode(releaseClient, key, node) : error
  }
}

/** A word without a kind is a Rollout if one has that name, else a node. */
async function namesRollout(releaseClient: CommandSession['releaseClient'], namespace: string, word: string): Promise<boolean> {
  if (word.includes('/')) return true
  return (await releaseClient.names({ namespace })).some(({ name }) => name === word)
}

async function unknownNode(releaseClient: CommandSession['releaseClient'], key: ObjectKey, node: string): Promise<AppError> {
  const names = (await releaseClient.nodes(key)).map(({ name }) => name)
  const nearest = nearestName(node, names)
  const meant = nearest === undefined ? '' : `Did you mean ${nearest}? `
  const hint =
    names.length === 0 ? 'The DaemonSet selects no nodes.' : `${meant}tranche get ${key.name} -n ${key.namespace} -o json lists every node.`
  return new AppError('NODE_NOT_FOUND', `the DaemonSet of Rollout ${key.namespace}/${key.name} does not run on node ${node}`, {
    details: { node, namespace: key.namespace, name: key.name },
    hint,
  })
}
