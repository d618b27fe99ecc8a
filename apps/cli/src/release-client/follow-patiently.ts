import type { RolloutReport } from '@tranche/api-schema'
import { isAppError } from '@tranche/errors'
import { askPatiently, type AskPatientlyOptions } from './ask-patiently.ts'
import { followRelease, type FollowReleaseOptions } from './follow-release.ts'
import type { Session } from './open-session.ts'

/** @returns whether an answer did not come in time: from a large cluster with much to do, the next one may */
export function isLate(error: unknown): boolean {
  return isAppError(error) && error.code === 'API_DEADLINE'
}

/** What is followed, and with what patience. */
export interface FollowPatientlyOptions extends FollowReleaseOptions<'report'> {
  readonly patience: AskPatientlyOptions
}

/**
 * Follows a Rollout as {@link followRelease} does, and begins anew where the first look fails by what may pass.
 *
 * @throws what the first look throws, and what does not pass by itself
 */
export async function* followPatiently(
  session: Pick<Session, 'releaseClient' | 'clock'>,
  { patience, ...options }: FollowPatientlyOptions,
): AsyncGenerator<RolloutReport> {
  const begin = async (): Promise<{ reports: AsyncGenerator<RolloutReport>; first: IteratorResult<RolloutReport> }> => {
    const reports = followRelease(session, options)
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
