import type { Told } from './to-forecast.ts'
import { toSeconds } from './eta-range.ts'
import { roomText } from './room-text.ts'

/** What the forecast rests on, for a person: one sentence each, without full stop. */
export function assumptionsOf({
  snapshot,
  daemonSet,
  request,
  times,
  mishaps,
  minReadySeconds,
}: Told & { readonly minReadySeconds: number }): readonly string[] {
  const { measured, stopMs, isCoarse, crowd } = times
  const at = (part: number): number => toSeconds(measured[Math.round(part * (measured.length - 1))] ?? 0)
  const persons = (snapshot.rollout.spec.strategy.canary?.steps ?? []).some(
    ({ pause }) => pause !== undefined && pause.duration === undefined,
  )
  const { analysis = [] } = snapshot.policy?.spec ?? {}
  return [
    measured.length === 0
      ? 'no running pod tells how long it took to start: 10 s are assumed, and the time may be half as long or half as long again'
      : `new pods take as long to be ready as the ${measured.length} that run took: ${at(0.5)} s, nine in ten at most ${at(0.9)} s`,
    ...(crowd === null
      ? []
      : [`of these ${crowd} or so started together, which may have slowed them down: a release may well be quicker than foretold`]),
    ...(isCoarse ? ['most of these were created in the same second, so that each time may be off by half a second'] : []),
    `pods stop within ${toSeconds(stopMs)} s`,
    ...(minReadySeconds > 0 ? [`a pod counts as available after ${minReadySeconds} s (minReadySeconds)`] : []),
    ...(persons ? [`steps that wait for a person are approved after ${request.approveAfterSeconds ?? 0} s`] : []),
    ...(analysis.length === 0 ? [] : [`the analyses ${analysis.map(({ name }) => name).join(', ')} succeed at once`]),
    roomText(snapshot.daemonSet ?? daemonSet, daemonSet),
    ...mishaps,
    ...snapshot.unread.map((what) => `not known: ${what}`),
  ]
}
