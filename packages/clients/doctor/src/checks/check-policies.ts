import { type DoctorFinding, sizeLimits } from '@tranche/api-schema'
import { rolloutAnnotations, clipText } from '@tranche/kube-types'
import type { ClusterSigns } from '../signs/cluster-signs.ts'
import { isDenied } from '../signs/guarded-reads.ts'
import type { PolicySign } from '../signs/policy-signs.ts'
import { namesText } from './check-left.ts'
import { notLookedAt } from './not-looked-at.ts'

/** Maximum number of ReleasePolicies with a finding of their own. */
const MOST_FOUND = 10

/** Reports ReleasePolicies in use that hold releases, in full or in part; no finding where no Rollout names one. Pure. */
export function policyFindings({ policies: signs, served }: Pick<ClusterSigns, 'policies' | 'served'>): readonly DoctorFinding[] {
  // The check of the resources says so.
  if (!isDenied(served) && served['releasepolicies.tranche.dev'] === false) return []
  if (isDenied(signs)) return [notLookedAt('policies', signs)]
  const { policies, left } = signs
  const denied = policies.find((one) => one.denied !== null)?.denied ?? null
  const read = policies.filter((one) => one.denied === null)
  const found = read.flatMap((one) => findingOf(one) ?? [])
  const more = read.filter((one) => findingOf(one) !== null).slice(MOST_FOUND)
  const wellCount = read.length - found.length
  return [
    ...found.slice(0, MOST_FOUND),
    ...(more.length > 0
      ? [problem(`more ReleasePolicies in use hold releases: ${namesText(more)}`, 'Fix those above, and check again.')]
      : []),
    ...(denied === null ? [] : [notLookedAt('policies', denied)]),
    ...(left === 0
      ? []
      : [{ check: 'policies' as const, state: 'unknown' as const, message: `${left} more ReleasePolicies in use were not read` }]),
    ...(found.length === 0 && wellCount > 0 ? [wellFinding(wellCount)] : []),
  ]
}

function wellFinding(count: number): DoctorFinding {
  const message =
    count === 1 ? 'the ReleasePolicy in use is valid and can be used' : `the ${count} ReleasePolicies in use are valid and can be used`
  return { check: 'policies', state: 'ok', message }
}

/** Null where nothing is wrong with the policy. */
function findingOf({ namespace, name, rollouts, exists, problems, unusable }: PolicySign): DoctorFinding | null {
  // An annotation of a Rollout may name anything.
  const policy = `ReleasePolicy ${namespace}/${clipText(name, sizeLimits.name)}`
  const users = `Rollout ${namesText(rollouts)}`
  if (!exists)
    return problem(
      `${policy} does not exist, so releases hold: ${users}`,
      `Create it, or name another one in the annotation ${rolloutAnnotations.releasePolicy}.`,
    )
  if (problems !== '')
    return {
      ...problem(`${policy} is not valid, so releases hold (${users}): ${problems}`, 'Correct these fields:'),
      command: `kubectl edit releasepolicies.tranche.dev ${name} -n ${namespace}`,
    }
  if (unusable === '') return null
  return {
    ...problem(
      `${policy} asks for what cannot be used here (${users}): ${unusable}`,
      'Let an administrator change the values of the chart, or change the policy:',
    ),
    command: `kubectl edit releasepolicies.tranche.dev ${name} -n ${namespace}`,
  }
}

function problem(message: string, fix: string): DoctorFinding {
  return { check: 'policies', state: 'problem', message, fix }
}
