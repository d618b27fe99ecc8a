import { ownValue } from '../world/own-value.ts'
import type { RecordedDaemonSet, RecordedWrite } from '../record/recorded-write.ts'
import type { RecordedRollout } from '../world/stops.ts'
import type { Deletion } from '../world/world.ts'
import { clockDoubtMs } from './clock-doubt.ts'
import type { Judge, JudgeParts } from './judge-parts.ts'
import { createReverts, type Reverts } from './reverts.ts'
import { pinsConfig } from '../world/pins.ts'
import { actionOf } from '../world/recorded-action.ts'

/**
 * G11: on the user's DaemonSet we change only our keys and the strategy type.
 *
 * - The template changes only back to one that the DaemonSet had, but for its config, and only on request of a user or a policy. That happens once per request,
 *   or with a back-off where the policy says `Revert`.
 * - The original strategy type is recorded as it was, never overwritten, and forgotten only once it is restored.
 * - After another actor has set RollingUpdate a second time in one release, nothing is deleted. A retry ends that, as does disabling and
 *   enabling the Rollout, or another actor who sets OnDelete.
 */
export function createHandsOffJudge(parts: JudgeParts): Judge {
  return new HandsOffJudge(parts)
}

class HandsOffJudge implements Judge {
  readonly #parts: JudgeParts
  readonly #reverts: Reverts
  readonly #fights = new Map<string, Fight>()
  /** DaemonSet → every template that it has had. */
  readonly #templates = new Map<string, Set<string>>()

  constructor(parts: JudgeParts) {
    this.#parts = parts
    this.#reverts = createReverts({
      doubtIn: (wait) => clockDoubtMs(parts.query, wait),
      templateOf: (hash) => parts.world.templateOf(hash),
    })
  }

  onDeletion({ daemonSet, pod, atMs }: Deletion): void {
    const fight = this.#fights.get(`${daemonSet.namespace}/${daemonSet.name}`)
    if (fight === undefined || fight.answered < 2) return
    this.#parts.breach({
      guarantee: 'G11',
      atMs,
      node: pod.node,
      text: `another actor had set RollingUpdate ${fight.rounds} times, without a retry since`,
    })
  }

  onWrite(write: RecordedWrite, known: Readonly<Record<string, unknown>> | undefined): void {
    if (write.kind === 'ReleasePolicy') this.#reverts.followPolicy(write)
    else if (write.kind === 'Rollout') this.#followRollout(write, known as unknown as RecordedRollout | undefined)
    else if (write.kind === 'DaemonSet') this.#followDaemonSet(write, known as unknown as RecordedDaemonSet | undefined)
  }

  #followRollout(write: RecordedWrite, before: RecordedRollout | undefined): void {
    this.#reverts.followRollout(write, before)
    this.#forgive(write, before)
  }

  /** A retry continues the release; a Rollout that is enabled again starts another one. */
  #forgive(write: RecordedWrite, before: RecordedRollout | undefined): void {
    const next = write.o as unknown as RecordedRollout
    const action = actionOf(next)
    const isRetry = action?.type === 'retry' && action.id !== actionOf(before)?.id
    const isEnabled = before?.spec.disabled === true && next.spec.disabled !== true
    if (isRetry || isEnabled) this.#fights.delete(`${write.namespace}/${next.spec.workloadRef?.name}`)
  }

  #followDaemonSet(write: RecordedWrite, before: RecordedDaemonSet | undefined): void {
    const key = keyOf(write)
    if (write.type === 'DELETED') return this.#forget(key)
    const next = write.o as unknown as RecordedDaemonSet
    if (before !== undefined && this.#parts.query.isOurs(write.actor ?? '')) this.#judgeOurs(write, before, next)
    this.#followFight(write, before, next)
    if (next.template !== undefined) this.#templates.set(key, (this.#templates.get(key) ?? new Set()).add(next.template))
  }

  #forget(key: string): void {
    this.#fights.delete(key)
    this.#templates.delete(key)
    this.#reverts.forget(key)
  }

  #judgeOurs(write: RecordedWrite, before: RecordedDaemonSet, next: RecordedDaemonSet): void {
    const { world, breach } = this.#parts
    const report = (text: string): void => breach({ guarantee: 'G11', atMs: write.t, text: `${write.actor} ${text}` })
    for (const text of [...changesNotOurs(before, next), ...faultsOfMemory(before, next)]) report(text)
    // Config that changes a template is judged by itself.
    if (before.template === next.template || pinsConfig(before, next)) return
    if (this.#templates.get(keyOf(write))?.has(next.template ?? '') !== true) report('set a template that the DaemonSet never had')
    else {
      const story = world.story(write.namespace, next.name)
      const fault = this.#reverts.fault(write, before, story === undefined ? [] : world.rolloutsOf(story))
      if (fault !== null) report(fault)
    }
  }

  #followFight(write: RecordedWrite, before: RecordedDaemonSet | undefined, next: RecordedDaemonSet): void {
    const { query } = this.#parts
    const fight = this.#fights.get(keyOf(write)) ?? { rounds: 0, answered: 0 }
    const canary = next.annotations?.[CANARY]
    // Another template starts another release, also during a pause, when no other canary is published.
    const isOther = canary === undefined || next.template !== before?.template
    const setBack = !query.isOurs(write.actor ?? '') && before?.strategy?.type === 'OnDelete' && next.strategy?.type === 'RollingUpdate'
    const isBack = before?.strategy?.type === 'RollingUpdate' && next.strategy?.type === 'OnDelete'
    const isOver = isOther || (isBack && !query.isOurs(write.actor ?? ''))
    const rounds = isOver ? 0 : fight.rounds + (setBack ? 1 : 0)
    this.#fights.set(keyOf(write), { rounds, answered: isBack ? rounds : Math.min(fight.answered, rounds) })
  }
}

/** How often another actor has set RollingUpdate back in one release, and how many of these rounds we have answered. */
interface Fight {
  readonly rounds: number
  readonly answered: number
}

const CANARY = 'rollouts.kruise.io/daemonset-canary-revision'
const ORIGINAL = 'rollouts.kruise.io/daemonset-original-update-strategy'
const ourAnnotations: ReadonlySet<string> = new Set([
  CANARY,
  ORIGINAL,
  'rollouts.kruise.io/daemonset-stable-revision',
  'rollouts.kruise.io/daemonset-partition',
  'rollouts.kruise.io/in-progressing',
  'batchrelease.rollouts.kruise.io/control-info',
  'tranche.dev/paused',
  'tranche.dev/rollout',
  'tranche.dev/frozen',
  'tranche.dev/unsettled',
  'tranche.dev/reverted',
  'tranche.dev/touched',
  'tranche.dev/offered-config',
  'tranche.dev/recorded-copies',
  'tranche.dev/config-touched',
  // Count of templates that the API server writes.
  'deprecated.daemonset.template.generation',
])
/** Annotations of OpenKruise's controller during a release of its own. We remove them when we take over, and never write them. */
const takenOver: ReadonlySet<string> = new Set(['rollouts.kruise.io/daemonset-revision', 'rollouts.kruise.io/daemonset-advanced-control'])
const ourLabels: ReadonlySet<string> = new Set(['rollouts.kruise.io/workload-type'])

function changesNotOurs(before: RecordedDaemonSet, next: RecordedDaemonSet): readonly string[] {
  const keys = [
    ...keysChanged(before.annotations, next.annotations).filter(
      (key) => !ourAnnotations.has(key) && !(takenOver.has(key) && ownValue(next.annotations, key) === undefined),
    ),
    ...keysChanged(before.labels, next.labels).filter((key) => !ourLabels.has(key)),
  ]
  const found = keys.map((key) => `changed ${key} of the DaemonSet`)
  if ((before.minReadySeconds ?? 0) !== (next.minReadySeconds ?? 0)) found.push('changed minReadySeconds of the DaemonSet')
  if (JSON.stringify(before.strategy?.rollingUpdate) !== JSON.stringify(next.strategy?.rollingUpdate))
    found.push('changed more of the update strategy than its type')
  if (before.rest !== next.rest) found.push('changed a field of the DaemonSet that is not ours')
  return found
}

function keysChanged(before: Readonly<Record<string, string>> = {}, next: Readonly<Record<string, string>> = {}): readonly string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(next)])].filter((key) => ownValue(before, key) !== ownValue(next, key))
}

function faultsOfMemory(before: RecordedDaemonSet, next: RecordedDaemonSet): readonly string[] {
  const [was, is] = [before.annotations?.[ORIGINAL], next.annotations?.[ORIGINAL]]
  const [wasType, isType] = [before.strategy?.type, next.strategy?.type]
  if (was === is) return was === undefined && wasType !== isType ? [`set the strategy to ${isType} without remembering the original`] : []
  if (was === undefined) return is === wasType ? [] : [`remembered ${is}, but the strategy was ${wasType}`]
  if (is !== undefined) return [`overwrote the remembered strategy ${was} with ${is}`]
  return isType === was ? [] : [`removed the remembered strategy ${was}, but left ${isType} in place`]
}

function keyOf({ namespace, o }: RecordedWrite): string {
  return `${namespace}/${String(o['name'])}`
}
