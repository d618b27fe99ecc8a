import type { ObjectKey } from '@tranche/kube-types'
import { silentLogger } from '@tranche/telemetry'
import { type ReleaseFacts, reportBatches, reportNodes, reportRevisions, reportRollout } from '@tranche/reports'
import { followChanges } from './follow-changes.ts'
import type { FactReader } from './read-facts.ts'
import type { FollowEnd, FollowOptions, ReleasePart, ReleaseParts, ReleasePicture, SeenRelease } from './release-client.ts'
import { watchFaults } from './watch-faults.ts'
import { watchRelease } from './watch-release.ts'

/** Interval of showing a state again without changes, because times advance, in milliseconds. */
const QUIET_MS = 5_000

/**
 * Follows one Rollout by watches of the objects that decide about it: the Rollout, its BatchRelease, the DaemonSet with its pods and
 * revisions, and nodes. Each is listed once. A broken watch resumes from its last version, and lists again only if the API server has
 * dropped that version (410).
 *
 * @see ReleaseClient.follow
 */
export function followRelease<P extends ReleasePart>(
  { client, clock }: FactReader,
  key: ObjectKey,
  { part, signal, deadlineMs }: FollowOptions<P>,
): AsyncGenerator<SeenRelease<P>, FollowEnd, undefined> {
  let latest: ReleaseFacts | undefined
  /** Last time at which `latest` was known to be up to date: by a later clock its pods would become available without being seen. */
  let readMs = clock.nowMs()
  /** Error that ends a watch without a fault of the connection. */
  let own: { readonly error: unknown } | null = null
  return followChanges({
    ...{ clock, signal, quietMs: QUIET_MS },
    open({ until, changed }) {
      const faults = watchFaults({ client, clock, until, deadlineMs, changed })
      const failed = (error: unknown): void => {
        if (!until.aborted) own = { error }
        changed()
      }
      const watched = watchRelease({ client: faults.client, clock, log: silentLogger, key, until, changed, failed })
      return {
        isUnwatchable: () => faults.forbidden(),
        async look() {
          throwError(own)
          latest = watched.facts() ?? latest
          const trouble = faults.current()
          if (latest === undefined && trouble !== undefined) throwError({ error: trouble })
          if (trouble === undefined) readMs = clock.nowMs()
          return latest && { value: partOf(part, { ...latest, nowMs: readMs, monotonicMs: readMs }), trouble }
        },
      }
    },
  })
}

/** One Rollout in full. */
export function pictureOf(facts: ReleaseFacts): ReleasePicture {
  return {
    report: reportRollout(facts),
    nodes: reportNodes(facts),
    batches: reportBatches(facts),
    revisions: reportRevisions(facts),
  }
}

function partOf<P extends ReleasePart>(part: P, facts: ReleaseFacts): ReleaseParts[P] {
  const make: { readonly [Part in ReleasePart]: (of: ReleaseFacts) => ReleaseParts[Part] } = { report: reportRollout, picture: pictureOf }
  return make[part](facts)
}

function throwError(failed: { readonly error: unknown } | null): void {
  if (failed !== null) throw failed.error
}
