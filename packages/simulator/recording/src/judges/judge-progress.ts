import type { DaemonSetStory } from '../world/daemon-set-story.ts'
import type { RecordedRollout } from '../world/stops.ts'
import { bindingOf } from './binding.ts'
import type { Judge, JudgeParts } from './judge-parts.ts'

/**
 * G6: when no fault has occurred since `quiescentFromMs`, every release has ended by the end of the recording. Otherwise its Rollout says
 * who must act: it is paused or disabled, waits for an approval, or is Stalled.
 */
export function createProgressJudge({ world, query, breach }: JudgeParts): Judge {
  return {
    atEnd(lastMs) {
      const { quiescentFromMs } = query
      if (quiescentFromMs === undefined) return
      for (const story of world.stories()) {
        const rollout = bindingOf(world, story)
        if (rollout === undefined || waitsForPerson(rollout)) continue
        const left = nodesLeft(story, (hash) => world.templateOf(hash))
        const { phase, message = '' } = rollout.status ?? {}
        if (left.length === 0 && phase === 'Healthy') continue
        const text = `the release of ${story.name} has not ended ${Math.round((lastMs - quiescentFromMs) / 1000)} s after the last fault: ${phase}, ${left.length} nodes left; ${message}`
        breach({ guarantee: 'G6', atMs: lastMs, text })
      }
    },
  }
}

/** Whether the Rollout reports that it cannot continue without a change by a user. */
export function isStalled(status: RecordedRollout['status']): boolean {
  return status?.conditions?.some(({ type, status: holds }) => type === 'Stalled' && holds === 'True') === true
}

/** Whether the Rollout reports that it waits for a user. */
function waitsForPerson({ metadata, spec, status }: RecordedRollout): boolean {
  const { canaryStatus, phase, currentStepIndex, currentStepState } = status ?? {}
  if (metadata.deletionTimestamp !== undefined || spec.disabled === true || spec.strategy?.paused === true) return true
  if (isStalled(status)) return true
  const step = spec.strategy?.canary?.steps?.[(canaryStatus?.currentStepIndex ?? currentStepIndex ?? 0) - 1]
  const isPaused = phase !== 'Healthy' && (canaryStatus?.currentStepState ?? currentStepState) === 'StepPaused'
  return isPaused && step?.pause !== undefined && step.pause.duration === undefined
}

/** Wanted nodes without an available pod of the current template. */
function nodesLeft(story: DaemonSetStory, templateOf: (hash: string) => string | undefined): readonly string[] {
  const { template } = story.latest ?? {}
  const left: string[] = []
  for (const { name, wanted, up, pods } of story.nodes()) {
    if (!wanted) continue
    const isOld = [...pods.values()].some(({ ended, last }) => ended === null && templateOf(last.hash ?? '') !== template)
    if (!up || isOld) left.push(name)
  }
  return left
}
