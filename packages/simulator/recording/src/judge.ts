import { type Breach, type JudgeQuery, recordedGuarantees } from './judges/breach.ts'
import { createActionJudge } from './judges/judge-actions.ts'
import { createAimJudge } from './judges/judge-aim.ts'
import { createBatchJudge } from './judges/judge-batch.ts'
import { createBudgetJudge } from './judges/judge-budget.ts'
import { createDrainJudge } from './judges/nodes/judge-drain.ts'
import { createDrainConditionJudge } from './judges/nodes/judge-drain-condition.ts'
import { createDowntimeJudge } from './judges/nodes/judge-downtime.ts'
import { createNodeLockJudge } from './judges/nodes/judge-node-lock.ts'
import { createFailureJudge } from './judges/judge-failure.ts'
import { createFlightJudge } from './judges/judge-flight.ts'
import type { Judge, JudgeParts } from './judges/judge-parts.ts'
import { createHandsOffJudge } from './judges/judge-hands-off.ts'
import { createConfigJudge } from './judges/config/judge-config.ts'
import { createGroupJudge } from './judges/groups/judge-group.ts'
import { createLoweredJudge } from './judges/judge-lowered.ts'
import { createMemoryJudge } from './judges/judge-memory.ts'
import { createNodeRulesJudge } from './judges/judge-node-rules.ts'
import { createRoomJudge } from './judges/judge-room.ts'
import { createPrePullJudge } from './judges/nodes/judge-pre-pull.ts'
import { createOrderJudge } from './judges/judge-order.ts'
import { createPermitJudge } from './judges/judge-permits.ts'
import { createProgressJudge } from './judges/judge-progress.ts'
import { createReachJudge } from './judges/releases/judge-reach.ts'
import { createStableJudge } from './judges/releases/judge-stable.ts'
import { createStatusWriteJudge } from './judges/judge-status-writes.ts'
import { createActionRecordJudge } from './judges/judge-action-record.ts'
import { createStopJudge } from './judges/judge-stop.ts'
import { createRequestedStopJudge } from './judges/stops/judge-requested-stop.ts'
import { createShareJudge } from './judges/steps/judge-share.ts'
import type { Recording } from './record/recorded-delivery.ts'
import type { RecordedWrite } from './record/recorded-write.ts'
import { createObservations } from './world/observations.ts'
import { createWorld, type Deletion } from './world/world.ts'

/**
 * Checks a recording against the guarantees, from the recording alone: objects as written, their writers, and deliveries to watches. Shares
 * no code with our programs. Reads the recording once.
 *
 * @param recording from before the first Rollout was created
 * @returns breaches in order of time; those of one deletion in the order of the judges
 */
export function judge({ writes, deliveries }: Recording, query: JudgeQuery): readonly Breach[] {
  const { watchLagMs = 1000, reactionMs = 0, stalls = [], guarantees = recordedGuarantees } = query
  const observations = createObservations({ deliveries, watchLagMs, reactionMs, stalls })
  const world = createWorld(query.isOurs, observations)
  const found: Breach[] = []
  const breach = (one: Breach): void => void (guarantees.includes(one.guarantee) && found.push(one))
  const judges = createJudges({ world, observations, query, breach })
  for (const write of writes) {
    const deletion = world.deletionOf(write)
    if (deletion === 'stranger') breach(foreignDeletion(write))
    else if (deletion !== null) {
      if (!isReleased(deletion)) breach(unreleasedDeletion(deletion))
      if (isAskedFor(deletion, query)) for (const one of judges) one.onDeletion?.(deletion)
      deletion.daemonSet.fly(deletion.pod, deletion.permittedMs ?? write.t)
    }
    for (const one of judges) one.onWrite?.(write, world.before(write))
    world.apply(write)
  }
  for (const one of judges) one.atEnd?.(writes.at(-1)?.t ?? 0)
  return found
}

/** @returns number of our deletions that the server accepted */
export function countDeletions({ writes }: Pick<Recording, 'writes'>, query: Pick<JudgeQuery, 'isOurs' | 'daemonSet'>): number {
  const world = createWorld(query.isOurs, createObservations({ deliveries: [], watchLagMs: 0, reactionMs: 0, stalls: [] }))
  let count = 0
  for (const write of writes) {
    const deletion = world.deletionOf(write)
    if (deletion === 'stranger' || (deletion !== null && isAskedFor(deletion, query))) count++
    world.apply(write)
  }
  return count
}

const creators: readonly ((parts: JudgeParts) => Judge)[] = [
  createAimJudge,
  createStopJudge,
  createRequestedStopJudge,
  createFailureJudge,
  createBatchJudge,
  createStableJudge,
  createReachJudge,
  createShareJudge,
  createFlightJudge,
  createLoweredJudge,
  createBudgetJudge,
  createNodeRulesJudge,
  createRoomJudge,
  createPrePullJudge,
  createDrainJudge,
  createDrainConditionJudge,
  createNodeLockJudge,
  createDowntimeJudge,
  createOrderJudge,
  createGroupJudge,
  createConfigJudge,
  createMemoryJudge,
  createHandsOffJudge,
  createStatusWriteJudge,
  createActionRecordJudge,
  createActionJudge,
  createPermitJudge,
  createProgressJudge,
]

function createJudges(parts: JudgeParts): readonly Judge[] {
  return creators.map((create) => create(parts))
}

/** G4: a pod that belongs to no DaemonSet of the recording must not be deleted, whichever DaemonSet the query names. */
function foreignDeletion({ t, o, node: place }: RecordedWrite): Breach {
  const { node = place } = o as { readonly node?: string }
  const text = `the pod belongs to no existing DaemonSet (owner: ${String(o['owner'] ?? 'none')})`
  return { guarantee: 'G4', atMs: t, ...(node !== undefined && { node }), text }
}

/** G4: where neither a Rollout nor a BatchRelease ever named the DaemonSet, no user asked for a release, whichever DaemonSet the query names. */
function unreleasedDeletion({ atMs, pod, daemonSet }: Deletion): Breach {
  return { guarantee: 'G4', atMs, node: pod.node, text: `no Rollout and no BatchRelease ever named DaemonSet ${daemonSet.name}` }
}

/** Recordings without Rollouts and BatchReleases show a release by its annotations. */
function isReleased({ daemonSet: { isNamed, orders } }: Deletion): boolean {
  return isNamed || !orders.isSilent
}

function isAskedFor({ daemonSet }: Deletion, { daemonSet: asked }: Pick<JudgeQuery, 'daemonSet'>): boolean {
  if (asked === undefined) return true
  return asked.name === daemonSet.name && (asked.namespace === undefined || asked.namespace === daemonSet.namespace)
}
