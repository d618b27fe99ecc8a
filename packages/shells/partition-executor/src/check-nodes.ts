import type { Clock } from '@tranche/clock'
import type { CheckPurpose, NodeQuestion, PreparedNode } from '@tranche/fence'
import { keyText, type ObjectKey } from '@tranche/kube-types'
import type { Logger } from '@tranche/telemetry'
import type { ExecutorPort } from './executor-port.ts'
import type { Attempts, NodeReadings } from './node-readings.ts'

/** Dependencies of {@link checkNodes}, {@link undoPreparations} and {@link renewPreparations}. */
export interface CheckingParts {
  readonly cluster: Pick<ExecutorPort, 'checkNode' | 'undoPreparation' | 'renewPreparation'>
  readonly clock: Clock
  readonly readings: NodeReadings
  readonly signal: AbortSignal
  readonly log: Logger
}

/**
 * Checks nodes, in parallel. A node that cannot be checked keeps its pod, and the record says why, as for one that is blocked. One failure gives up
 * no work that is under way on the node.
 */
export async function checkNodes(
  daemonSet: ObjectKey,
  { nodes, purpose }: { readonly nodes: readonly NodeQuestion[]; readonly purpose: CheckPurpose },
  { cluster, clock, readings, signal, log }: CheckingParts,
): Promise<void> {
  await Promise.all(
    nodes.map(async (question) => {
      const { node } = question
      try {
        const answer = await cluster.checkNode(daemonSet, node, purpose, signal)
        if (answer.kind === 'blocked' && answer.reason === 'RoomUnread') readings.failed(question, purpose, answer, clock.monotonicMs())
        else readings.add(question, purpose, answer, clock.monotonicMs())
      } catch (error) {
        if (signal.aborted) throw error
        const message = `cannot check the node: ${error instanceof Error ? error.message : String(error)}`
        readings.failed(question, purpose, { reason: 'CheckFailed', message }, clock.monotonicMs())
        log.warn({ daemonSet: keyText(daemonSet), node, err: error }, 'could not check node')
      }
    }),
  )
}

/**
 * Undoes what was done on nodes, in parallel. A failure never keeps the pass from its other work: it is undone again after a while.
 */
export function undoPreparations(daemonSet: ObjectKey, nodes: readonly PreparedNode[], parts: CheckingParts): Promise<void> {
  return actOn(nodes, parts.readings.undone, parts, async (one) => {
    const { node, check } = one
    try {
      await parts.cluster.undoPreparation(daemonSet, one, parts.signal)
    } catch (error) {
      if (parts.signal.aborted) throw error
      parts.log.warn({ daemonSet: keyText(daemonSet), node, check, err: error }, 'could not undo what was done on node')
    }
  })
}

/** Renews what was done on nodes, in parallel. A failure never keeps the pass from its other work. */
export function renewPreparations(daemonSet: ObjectKey, nodes: readonly PreparedNode[], parts: CheckingParts): Promise<void> {
  return actOn(nodes, parts.readings.renewed, parts, async (one) => {
    const { node, check } = one
    try {
      await parts.cluster.renewPreparation(daemonSet, one, parts.signal)
    } catch (error) {
      if (parts.signal.aborted) throw error
      parts.log.warn({ daemonSet: keyText(daemonSet), node, check, err: error }, 'could not renew what was done on node')
    }
  })
}

async function actOn(
  nodes: readonly PreparedNode[],
  attempts: Attempts,
  { clock }: CheckingParts,
  act: (node: PreparedNode) => Promise<void>,
): Promise<void> {
  for (const one of nodes) attempts.add(one, clock.monotonicMs())
  await Promise.all(nodes.map(act))
}
