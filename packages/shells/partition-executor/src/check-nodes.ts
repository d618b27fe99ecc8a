import type { Clock } from '@tranche/clock'
import type { CheckPurpose, PreparedNode } from '@tranche/fence'
import { keyText, type ObjectKey } from '@tranche/kube-types'
import type { Logger } from '@tranche/telemetry'
import type { ExecutorPort } from './executor-port.ts'
import type { NodeReadings } from './node-readings.ts'

/** Dependencies of {@link checkNodes} and {@link undoPreparations}. */
export interface CheckingParts {
  readonly cluster: Pick<ExecutorPort, 'checkNode' | 'undoPreparation'>
  readonly clock: Clock
  readonly readings: NodeReadings
  readonly signal: AbortSignal
  readonly log: Logger
}

/** Reason in the record for a node whose check had no clear response. */
const CHECK_FAILED = 'CheckFailed'

/** Checks nodes, in parallel. A node that cannot be checked keeps its pod, and the record says why, as for one that is blocked. */
export async function checkNodes(
  daemonSet: ObjectKey,
  { nodes, purpose }: { readonly nodes: readonly string[]; readonly purpose: CheckPurpose },
  { cluster, clock, readings, signal, log }: CheckingParts,
): Promise<void> {
  await Promise.all(
    nodes.map(async (node) => {
      try {
        readings.add(node, purpose, await cluster.checkNode(daemonSet, node, purpose, signal), clock.monotonicMs())
      } catch (error) {
        if (signal.aborted) throw error
        const message = `cannot check the node: ${error instanceof Error ? error.message : String(error)}`
        readings.add(node, purpose, { kind: 'blocked', reason: CHECK_FAILED, message }, clock.monotonicMs())
        log.warn({ daemonSet: keyText(daemonSet), node, err: error }, 'could not check node')
      }
    }),
  )
}

/**
 * Undoes what was done on nodes, in parallel. A failure never keeps the pass from its other work: it is undone again after a while.
 */
export async function undoPreparations(
  daemonSet: ObjectKey,
  nodes: readonly PreparedNode[],
  { cluster, clock, readings, signal, log }: CheckingParts,
): Promise<void> {
  await Promise.all(
    nodes.map(async (prepared) => {
      const { node, check } = prepared
      readings.undone(node, clock.monotonicMs())
      try {
        await cluster.undoPreparation(daemonSet, prepared, signal)
      } catch (error) {
        if (signal.aborted) throw error
        log.warn({ daemonSet: keyText(daemonSet), node, check, err: error }, 'could not undo what was done on node')
      }
    }),
  )
}
