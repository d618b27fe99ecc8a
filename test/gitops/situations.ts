import type { Rollout } from '@tranche/api-schema'
import { createReflector, resourcePaths } from '@tranche/kube-client'
import { silentLogger } from '@tranche/telemetry'
import { drive, setStage, type Stage } from '../scenarios/stage.ts'
import { stories, type Story } from './stories.ts'

/** A Rollout as a watch delivered it, and a summary of its state in one line. */
export interface Situation {
  readonly standing: string
  readonly rollout: Rollout
}

/** Of a Rollout whose story has no others. */
const steps = [{ replicas: 1, pause: {} }, { replicas: '50%', pause: { duration: 5 } }, { replicas: '100%' }]

/** Plays all stories. @returns the first Rollout of every state, in the order of their appearance */
export async function situations(): Promise<readonly Situation[]> {
  const found = new Map<string, Rollout>()
  for (const story of Object.values(stories))
    for (const rollout of await watched(story)) {
      const standing = standingOf(rollout)
      if (!found.has(standing)) found.set(standing, rollout)
    }
  return [...found].map(([standing, rollout]) => ({ standing, rollout }))
}

/** Every state of the Rollouts that a watch delivers during the story. */
async function watched({ options, play }: Story): Promise<readonly Rollout[]> {
  const stage = await setStage({ nodes: 6, steps, ...options, withRollout: true })
  const seen: Rollout[] = []
  const watching = new AbortController()
  try {
    await watchRollouts(stage, watching.signal, (rollout) => seen.push(rollout))
    await play(stage)
    await stage.pass(1_000)
  } finally {
    watching.abort()
    await stage.end()
  }
  return seen
}

async function watchRollouts({ client, clock }: Stage, signal: AbortSignal, see: (rollout: Rollout) => void): Promise<void> {
  const rollouts = createReflector<Rollout, Rollout>({
    client,
    clock,
    log: silentLogger,
    resource: resourcePaths.rollouts,
    transform: (rollout) => rollout,
  })
  rollouts.subscribe({ onChange: (_key, _previous, current) => current !== undefined && see(current) })
  rollouts.start(signal).catch(() => {})
  await drive(clock, rollouts.whenSynced())
}

/** Phase, reason of Progressing, step state, and other facts on which a verdict may depend. */
export function standingOf({ metadata, spec, status }: Rollout): string {
  const holds = (type: string) => status?.conditions?.find((one) => one.type === type)
  const stalled = holds('Stalled')
  const deleted = metadata.deletionTimestamp === undefined ? undefined : 'being deleted'
  if (status !== undefined && status.observedGeneration !== metadata.generation)
    return [status.phase, 'its generation is not observed yet', deleted].filter((word) => word !== undefined).join(', ')
  return [
    status?.phase ?? 'no status yet',
    holds('Progressing')?.reason,
    status?.canaryStatus?.currentStepState,
    stalled?.status === 'True' ? `Stalled by ${stalled.reason}` : undefined,
    spec.strategy.paused === true ? 'paused' : undefined,
    holds('Succeeded')?.status === 'False' ? 'not succeeded' : undefined,
    (status?.skippedNodes?.length ?? 0) > 0 ? 'nodes skipped' : undefined,
    isRolledBack(status) ? 'rolled back' : undefined,
    deleted,
  ]
    .filter((word) => word !== undefined && word !== '')
    .join(', ')
}

/** Whether the rollback comes from a failure or an abort in this release, and not from Git. */
function isRolledBack(status: Rollout['status']): boolean {
  if (status?.phase !== 'Progressing' || status.rollbackFrom === undefined) return false
  const began = status.conditions?.find(({ type }) => type === 'Progressing')?.lastTransitionTime ?? ''
  return status.heldRevisions?.some(({ revision, at }) => revision === status.rollbackFrom && (at ?? '') > began) === true
}
