import type { ReleasePolicySpec } from '@tranche/api-schema'
import type { ForecastInputs } from './to-forecast.ts'
import { isSimulated } from './pod-times.ts'
import { toSeconds } from './eta-range.ts'
import { configAssumption } from './config-assumption.ts'
import { capacityText } from './capacity-text.ts'
import type { StopTime } from './pod-times.ts'
import { type ReportedHolds, waitsText } from './planned/reported-holds.ts'
import { meanOf } from './statistics.ts'

/** Assumptions of the forecast, for users: one sentence each, without full stop. */
export function assumptionsOf({
  snapshot,
  daemonSet,
  request,
  times,
  mishaps,
  holds,
  immutable,
  minReadySeconds,
}: ForecastInputs & { readonly minReadySeconds: number }): readonly string[] {
  const { believed, isCoarse, crowd } = times
  const mostSeconds = toSeconds(believed[Math.round(0.9 * (believed.length - 1))] ?? 0)
  const persons = (snapshot.rollout.spec.strategy.canary?.steps ?? []).some(
    ({ pause }) => pause !== undefined && pause.duration === undefined,
  )
  return [
    snapshot.nodes.some(isSimulated)
      ? 'the nodes are simulated, so the image tag decides how the new version behaves'
      : 'the new version starts on every node and stays healthy: no image is pulled and nothing is run; --if injects faults',
    believed.length === 0
      ? 'no running pod shows how long it took to start: 10 s are assumed, and the range allows for half as much more or less'
      : `new pods take as long to become ready as the ${believed.length} measured ones: ${toSeconds(meanOf(believed))} s on average, at most ${mostSeconds} s for nine in ten`,
    ...(crowd === null
      ? []
      : [
          `${crowd < believed.length ? `about ${crowd}` : `all ${believed.length}`} of these started together, so their times are measured from the kubelet's admission; a release may be faster than predicted`,
        ]),
    ...(isCoarse ? ['most of these were created in the same second, so each time may be off by half a second'] : []),
    stopText(times.stop),
    ...(minReadySeconds > 0 ? [`a pod counts as available after ${minReadySeconds} s (minReadySeconds)`] : []),
    ...(persons ? [`steps that wait for a person are approved after ${request.approveAfterSeconds ?? 0} s`] : []),
    ...policyAssumptions(snapshot.policy?.spec, holds.refused),
    ...holdAssumptions(holds),
    capacityText(snapshot.daemonSet ?? daemonSet, daemonSet),
    ...configAssumption(daemonSet, immutable),
    ...mishaps,
    ...snapshot.unread.map((what) => `not known: ${what}`),
  ]
}

/** What a release waits for now, and what is not known about the installation. */
function holdAssumptions({ waits, unknownRights }: ReportedHolds): readonly string[] {
  return [
    ...(waits.length === 0 ? [] : [`nodes that keep their pods now are assumed to be free at once: ${waitsText(waits)}`]),
    ...(unknownRights.length === 0 ? [] : [`the installation is assumed to allow ${unknownRights.join(', ')}`]),
  ]
}

/** @param refused what the installation does not allow; nothing is assumed about that */
function policyAssumptions({ analysis = [], drain, downtime }: ReleasePolicySpec = {}, refused: ReadonlySet<string>): readonly string[] {
  const unless = <T>(reason: string, value: T | undefined): T | undefined => (refused.has(reason) ? undefined : value)
  const { consumers = [] } = unless('DrainNotAllowed', drain) ?? {}
  const group = unless('GroupNotAllowed', downtime?.group)
  const nodeLock = unless('NodeLockNotAllowed', downtime?.nodeLock)
  const perDay = unless('DowntimeNotAllowed', downtime?.perDay)
  return [
    ...(analysis.length === 0 ? [] : [`the analyses ${analysis.map(({ name }) => name).join(', ')} are assumed to succeed at once`]),
    ...(consumers.length === 0 ? [] : ['pods that use the agent are assumed to leave each node at once (drain)']),
    ...(group === undefined ? [] : [`no other release of the group ${group} is assumed to be in progress (downtime.group)`]),
    ...(nodeLock === 'Take' ? ['no other program is assumed to hold the Lease of a node (downtime.nodeLock)'] : []),
    ...(perDay === undefined ? [] : ['the downtime of each node in the last 24 hours is assumed to be below the limit (downtime.perDay)']),
  ]
}

function stopText({ ms, source }: StopTime): string {
  const text = `pods stop within ${toSeconds(ms)} s`
  switch (source) {
    case 'ByReleases':
      return `${text}, as measured in the last release`
    case 'ByDefault':
      return `${text}, an assumption without measurements: each pod may take up to a second more or less`
    default:
      return text
  }
}
