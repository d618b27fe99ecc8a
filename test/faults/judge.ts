import { type ClockStep, type Disturbance, type FailedRequest, judge as findBreaches, type Recording, type Stall } from '@tranche/recording'
import { findBrokenAnswers } from './judge-answers.ts'
import { findWrongRefusals } from './judge-refusals.ts'
import { findUnreported } from './judge-unreported.ts'
import { findPassed } from './judge-admission.ts'
import { findUnlisted } from './judge-transitions.ts'
import { stageKey } from '../scenarios/stage-objects.ts'
import type { Standing } from './admission-control.ts'
import type { Asked } from './callers.ts'
import { findForgotten } from './find-forgotten.ts'
import { COMPANION } from './schedule.ts'

/** A guarantee that a run has broken. */
export interface Violation {
  /** `G1`…`G13`, or `states`: the lists of transitions from which the diagrams of the docs are drawn. */
  readonly guarantee: string
  /** When, in epoch milliseconds by the recording's clock. */
  readonly atMs: number
  /** One sentence with the numbers. */
  readonly text: string
}

/** Facts about a run beside its recording. Times are epoch milliseconds by the recording's clock. */
export interface Facts {
  /** When our programs were frozen, or held a decision back. */
  readonly stalls: readonly Stall[]
  /** Failed requests of our programs, in order of time. */
  readonly failures: readonly FailedRequest[]
  /** From this time on no fault is injected and no user acts. */
  readonly quiescentFromMs: number
  readonly endMs: number
  /** Differences from the state required at the end, in words. */
  readonly unended: readonly string[]
  /** Requests to the REST API, with their answers. */
  readonly asked: readonly Asked[]
  /** A change observer ran in each controller. */
  readonly hasChangeObserver: boolean
  /** When admission was installed. */
  readonly admitted: readonly Standing[]
  /** When the API server's clock was set. */
  readonly clockSteps: readonly ClockStep[]
  /** When faults could hold up the acknowledgement of a stop. */
  readonly disturbances: readonly Disturbance[]
  /** Ends of programs by errors of their own, in words. */
  readonly gaveUp: readonly { readonly atMs: number; readonly text: string }[]
}

/** The companion shares the groups of the DaemonSet. */
const sharedGroupNamespaces = [stageKey.namespace, COMPANION]

/** Longest time from the event that a program receives to its reaction, in milliseconds, if nothing holds it up. */
const REACTION_MS = 50

/** Checks a run, its recording and its end, against the guarantees. */
export function judge(
  recording: Recording,
  { stalls, failures, quiescentFromMs, endMs, unended, asked, hasChangeObserver, admitted, clockSteps, disturbances, gaveUp }: Facts,
): readonly Violation[] {
  const isOurs = (actor: string): boolean => /^(controller|executor)-/.test(actor)
  // The latest stall first: a decision that was delayed by two of them was made before the earlier one.
  const backwards = stalls.toSorted((a, b) => b.fromMs - a.fromMs)
  const query = {
    isOurs,
    stalls: backwards,
    failures,
    quiescentFromMs,
    reactionMs: REACTION_MS,
    clockSteps,
    disturbances,
    sharedGroupNamespaces,
  }
  const breaches = findBreaches(recording, query).map(({ guarantee, atMs, node, text }) => ({
    guarantee,
    atMs,
    text: node === undefined ? text : `on ${node}, ${text}`,
  }))
  const isOfUs = (actor: string): boolean => isOurs(actor) || actor.startsWith('api-')
  const g7 = findForgotten(recording.writes, isOfUs, { stalls: backwards, deliveries: recording.deliveries }).map((forgotten) => ({
    guarantee: 'G7',
    ...forgotten,
  }))
  const ends = gaveUp.map((one) => ({ guarantee: 'G6', ...one }))
  const g6 = [...ends, ...(unended.length === 0 ? [] : [{ guarantee: 'G6', atMs: endMs, text: unended.join('; ') }])]
  // Objects of a tenant in another namespace play no part in answers about this Rollout.
  const writes = recording.writes.filter(({ namespace = stageKey.namespace }) => namespace === stageKey.namespace)
  const answers = [...findBrokenAnswers(writes, asked), ...findWrongRefusals(writes, asked, { quiescentFromMs, stalls })]
  const unreported = hasChangeObserver ? findUnreported(writes, { quiescentFromMs, endMs }) : []
  return [...breaches, ...g7, ...answers, ...unreported, ...findPassed(recording.writes, admitted), ...findUnlisted(writes, isOurs), ...g6]
}
