import type { Notification, ReleasePolicy, ReleasePolicyStatus, Rollout } from '@tranche/api-schema'

type Trouble = NonNullable<ReleasePolicyStatus['receivers']>

/**
 * Receivers of a policy that accept nothing now, since when, and why, from the failed attempts of its Rollouts.
 *
 * @param rollouts those that use the policy
 */
export function receiverTrouble({ spec }: ReleasePolicy, rollouts: readonly Rollout[]): Trouble {
  const failing = rollouts.flatMap(({ status }) => status?.notifications ?? []).filter(({ attempts = 0 }) => attempts > 0)
  return (spec.notify ?? []).flatMap(({ name }, index) => {
    const own = failing.filter(({ receiver }) => receiver === name)
    return own.length === 0 ? [] : [{ name, failingSince: sinceOf(own), message: `spec.notify[${index}].${lastError(own)}` }]
  })
}

function sinceOf(failing: readonly Notification[]): string {
  return failing.map(({ failingSince, at }) => failingSince ?? at).toSorted()[0] ?? ''
}

function lastError(failing: readonly Notification[]): string {
  return failing.reduce((last, one) => ((one.nextAt ?? '') > (last.nextAt ?? '') ? one : last)).error ?? ''
}
