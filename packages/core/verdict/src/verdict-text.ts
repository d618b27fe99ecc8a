import type { FailedNode } from '@tranche/api-schema'
import type { Verdict } from './judge-revision.ts'

/** Maximum number of nodes that a text names. */
const NAMED_MAX = 3

/**
 * Verdict as text, without a fix: `2 of 10 nodes failed (tolerated: 0): node-1: CrashLoopBackOff (container agent,
 * exit code 1, after 3 restarts): panic; node-2: NodeNotReady`. Nodes that fail in the same way share one text:
 * `node-1, node-2: ErrImagePull`.
 */
export function verdictText({ failed, count, limit, desired, perBatch }: Verdict): string {
  const worst = perBatch.find((batch) => batch.count > batch.limit)
  const ofBatch = worst === undefined ? '' : `, of batch ${worst.batch + 1}: ${worst.count}, tolerated: ${worst.limit}`
  const named = failed.slice(0, NAMED_MAX)
  const alike = [...Map.groupBy(named, howText)].map(([how, nodes]) => `${nodes.map(({ node }) => node).join(', ')}: ${how}`)
  const more = count > named.length ? [`${count - named.length} more`] : []
  return `${count} of ${desired} nodes failed (tolerated: ${limit}${ofBatch}): ${[...alike, ...more].join('; ')}`
}

/** Failure of one node as text: `node-1: CrashLoopBackOff (container agent, exit code 1, after 3 restarts): panic`. */
export function failedText(failed: FailedNode): string {
  return `${failed.node}: ${howText(failed)}`
}

function howText({ reason, container, exitCode, restarts, message }: FailedNode): string {
  const details = [
    container === undefined ? '' : `container ${container}`,
    exitCode === undefined ? '' : `exit code ${exitCode}`,
    // The count at the time of the failure; the pod may have restarted since.
    restarts === undefined ? '' : `after ${restarts} ${restarts === 1 ? 'restart' : 'restarts'}`,
  ].filter((detail) => detail !== '')
  const detail = details.length === 0 ? '' : ` (${details.join(', ')})`
  return `${reason}${detail}${message === undefined ? '' : `: ${message}`}`
}
