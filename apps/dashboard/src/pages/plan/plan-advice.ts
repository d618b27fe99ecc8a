import { isAppError } from '@tranche/errors'

/** What to do about a forecast that failed. */
export interface PlanAdvice {
  readonly text: string
  /** Whether the command line does not have the limit that was met. */
  readonly suggestsCommand: boolean
}

/** @returns advice for errors that are about forecasts; null for all others, which explain themselves */
export function planAdvice(error: unknown): PlanAdvice | null {
  if (!isAppError(error)) return null
  switch (error.code) {
    case 'RATE_LIMITED':
      return {
        text: 'The server runs one forecast of a user at a time. Wait for the other one, or cancel it in its tab, and try again.',
        suggestsCommand: true,
      }
    case 'NOT_READY':
    case 'API_DEADLINE':
      return {
        text: 'Other forecasts wait for the server, or this one took too long. Try again in a minute; the command has no time limit.',
        suggestsCommand: true,
      }
    case 'FORECAST_INVALID':
    case 'REQUEST_INVALID':
      return { text: 'Change the form above. If the cluster is too large for the server, use the command.', suggestsCommand: true }
    case 'WORKLOAD_NOT_FOUND':
      return { text: 'There is nothing to release until the DaemonSet exists.', suggestsCommand: false }
    default:
      return null
  }
}
