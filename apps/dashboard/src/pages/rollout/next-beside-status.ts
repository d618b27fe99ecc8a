import type { Explanation, RolloutReport } from '@tranche/api-schema'

/** Waits whose message names what ends them. */
const saidByMessage: readonly string[] = ['Upgrading', 'NotAvailable']

/** @returns what would change the state; undefined where the message, the time that is left, or a button says it */
export function nextBesideStatus(report: RolloutReport, explanation: Explanation | undefined): string | undefined {
  const { need, waitingFor, remaining } = report
  const next = explanation?.next
  if ((need?.actions.length ?? 0) > 0 || remaining?.of === 'pause') return undefined
  return waitingFor !== undefined && (saidByMessage.includes(waitingFor.reason) || waitingFor.message === next) ? undefined : next
}
