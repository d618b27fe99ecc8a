import type { Clock, Timer } from '@tranche/clock'
import type { GroupPort } from '@tranche/controllers'
import { groupHolderOf } from '@tranche/planner'
import type { Logger } from '@tranche/telemetry'

/** Dependencies of {@link createGroupSweep}. */
export interface GroupSweepParts {
  readonly groups: Pick<GroupPort, 'readLease' | 'readHolder' | 'deleteLease'>
  /** @returns names of the Leases of all groups that policies name */
  readonly names: () => ReadonlySet<string>
  readonly clock: Clock
  readonly log: Logger
}

/** Periodic look at the Leases of groups, while this process leads. */
export interface GroupSweep {
  begin(): void
  /** Stops at once; requests in progress are abandoned. */
  end(): void
}

/** Interval of the sweep, in milliseconds. Nothing waits for it: a release that waits frees such a Lease by itself. */
export const GROUP_SWEEP_MS = 600_000

/**
 * Deletes the Leases of BatchReleases that are gone. A process that was frozen before it took a Lease may take it for such a release, and
 * nothing else looks at it before another release waits. The Lease is deleted in the version that was read before the holder, whose uid
 * never comes back (G13). Each sweep costs up to three requests a group.
 */
export function createGroupSweep({ groups, names, clock, log }: GroupSweepParts): GroupSweep {
  let timer: Timer | undefined
  let term = new AbortController()

  async function sweep(signal: AbortSignal): Promise<void> {
    for (const name of names()) {
      try {
        await freeIfGone(groups, name, signal)
      } catch (error) {
        if (signal.aborted) return
        log.warn({ lease: name, err: error }, 'could not sweep group')
      }
    }
    if (!signal.aborted) schedule(signal)
  }

  function schedule(signal: AbortSignal): void {
    timer = clock.setTimer(GROUP_SWEEP_MS, () => void sweep(signal))
  }

  return {
    begin() {
      term = new AbortController()
      schedule(term.signal)
    },
    end() {
      timer?.cancel()
      term.abort(new Error('the process leads no more'))
    },
  }
}

async function freeIfGone(groups: GroupSweepParts['groups'], name: string, signal: AbortSignal): Promise<void> {
  const lease = await groups.readLease(name, signal)
  const holder = groupHolderOf(lease)
  if (lease === null || holder === null || (await groups.readHolder(holder, signal)) !== undefined) return
  await groups.deleteLease(lease, signal)
}
