import type { RolloutReport } from '@tranche/api-schema'
import { isAppError } from '@tranche/errors'
import { askPatiently, type AskPatientlyOptions } from './ask-patiently.ts'
import { followReleaseWithRetries, type FollowReleaseOptions } from './follow-release.ts'
import type { CommandSession } from './open-session.ts'

/** @returns whether a request timed out; the next one may succeed once the cluster is less busy */
export function isLate(error: unknown): boolean {
  return isAppError(error) && error.code === 'API_DEADLINE'
}

/** Rollout to follow, and the retry policy of the first read. */
export interface FollowPatientlyOptions extends FollowReleaseOptions<'report'> {
  readonly patience: AskPatientlyOptions
}

/**
 * Follows a Rollout as {@link followRelease} does, and retries the first read on temporary errors.
 *
 * @throws errors that are not temporary
 */
export async function* followPatiently(
  session: Pick<CommandSession, 'releaseClient' | 'clock'>,
  { patience, ...options }: FollowPatientlyOptions,
): AsyncGenerator<RolloutReport> {
  const begin = async (): Promise<{ reports: AsyncGenerator<RolloutReport>; first: IteratorResult<RolloutReport> }> => {
    const reports = followReleaseWithRetries(session, options)
    return { reports, first: await reports.next() }
  }
  const { reports, first } = await askPatiently(begin, patience)
  try {
    if (first.done === true) return
    yield first.value
    yield* reports
  } finally {
    await reports.return(undefined)
  }
}
