import type { FailedNode } from '@tranche/api-schema'
import type { Verdict } from './judge-revision.ts'

/** How many nodes a text names. */
const NAMED_MAX = 3

/**
 * What was seen, for a person, without advice: `2 of 10 nodes failed (tolerated: 0): node-1: CrashLoopBackOff (container agent,
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

/** What is wrong on one node: `node-1: CrashLoopBackOff (container agent, exit code 1, after 3 restarts): panic`. */
export function failedText(failed: FailedNode): string {
  return `${failed.node}: ${howText(failed)}`
}

function howText({ reason, container, exitCode, restarts, message }: FailedNode): string {
  const details = [
    container === undefined ? '' : `container ${container}`,
    exitCode === undefined ? '' : `exit code ${exitCode}`,
    // Of the moment at which it failed: the pod goes on restarting.
    restarts === undefined ? '' : `after ${restarts} ${restarts === 1 ? 'restart' : 'restarts'}`,
  ].filter((detail) => detail !== '')
  const detail = details.length === 0 ? '' : ` (${details.join(', ')})`
  return `${reason}${detail}${message === undefined ? '' : `: ${message}`}`
}
