import type { ForecastInputs } from './to-forecast.ts'
import { isSimulated } from './pod-times.ts'
import { toSeconds } from './eta-range.ts'
import { capacityText } from './capacity-text.ts'
import type { StopTime } from './pod-times.ts'
import { meanOf } from './statistics.ts'

/** What the forecast rests on, for a person: one sentence each, without full stop. */
export function assumptionsOf({
  snapshot,
  daemonSet,
  request,
  times,
  mishaps,
  minReadySeconds,
}: ForecastInputs & { readonly minReadySeconds: number }): readonly string[] {
  const { believed, isCoarse, crowd } = times
  const mostSeconds = toSeconds(believed[Math.round(0.9 * (believed.length - 1))] ?? 0)
  const persons = (snapshot.rollout.spec.strategy.canary?.steps ?? []).some(
    ({ pause }) => pause !== undefined && pause.duration === undefined,
  )
  const { analysis = [] } = snapshot.policy?.spec ?? {}
  return [
    snapshot.nodes.some(isSimulated)
      ? 'the new version does what the tag of its image says, because the nodes are simulated'
      : 'the new version starts on every node and stays healthy: no image is pulled and nothing is run; --if plays failures',
    believed.length === 0
      ? 'no running pod tells how long it took to start: 10 s are assumed, and the time may be half as long or half as long again'
      : `new pods take as long to be ready as the ${believed.length} that run took: ${toSeconds(meanOf(believed))} s on average, nine in ten at most ${mostSeconds} s`,
    ...(crowd === null
      ? []
      : [
          `of these ${crowd} or so started together: from when their kubelets took them up, and a release may well be quicker than foretold`,
        ]),
    ...(isCoarse ? ['most of these were created in the same second, so that each time may be off by half a second'] : []),
    stopText(times.stop),
    ...(minReadySeconds > 0 ? [`a pod counts as available after ${minReadySeconds} s (minReadySeconds)`] : []),
    ...(persons ? [`steps that wait for a person are approved after ${request.approveAfterSeconds ?? 0} s`] : []),
    ...(analysis.length === 0 ? [] : [`the analyses ${analysis.map(({ name }) => name).join(', ')} succeed at once`]),
    capacityText(snapshot.daemonSet ?? daemonSet, daemonSet),
    ...mishaps,
    ...snapshot.unread.map((what) => `not known: ${what}`),
  ]
}

function stopText({ ms, source }: StopTime): string {
  const text = `pods stop within ${toSeconds(ms)} s`
  switch (source) {
    case 'ByReleases':
      return `${text}: so long places stood empty in the last release`
    case 'ByDefault':
      return `${text}, which nothing tells yet: it may be up to a second more or less for each`
    default:
      return text
  }
}
