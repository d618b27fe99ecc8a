import type { DoctorFinding } from '@tranche/api-schema'
import type { ClusterSigns } from '../signs/cluster-signs.ts'
import { isDenied } from '../signs/guarded-reads.ts'
import { namesText } from './check-left.ts'
import { notLookedAt } from './not-looked-at.ts'

/** Reports Rollouts whose config is not part of the version; no finding if there are none, or none may be listed. Pure. */
export function configFindings({ rollouts }: Pick<ClusterSigns, 'rollouts'>): readonly DoctorFinding[] {
  return [...unversionedFindings({ rollouts }), ...unpinnedFindings({ rollouts })]
}

function unversionedFindings({ rollouts }: Pick<ClusterSigns, 'rollouts'>): readonly DoctorFinding[] {
  const found = isDenied(rollouts) ? [] : rollouts.filter(({ hasUnversionedConfig }) => hasUnversionedConfig)
  const [first] = found
  if (first === undefined) return []
  return [
    {
      check: 'config',
      state: 'note',
      message: `a change of a ConfigMap or Secret reaches nodes outside the batches of a release: Rollout ${namesText(found)}`,
      fix: 'Name these objects by the hash of their content, or make them immutable; docs/guides/config.md says how. The condition names them:',
      command: `kubectl describe rollouts.rollouts.kruise.io ${first.name} -n ${first.namespace}`,
    },
  ]
}

function unpinnedFindings({ rollouts }: Pick<ClusterSigns, 'rollouts'>): readonly DoctorFinding[] {
  const found = isDenied(rollouts) ? [] : rollouts.filter(({ isUnpinned }) => isUnpinned)
  const [first] = found
  if (first === undefined) return []
  return [
    {
      check: 'config',
      state: 'problem',
      message: `releases hold because config is not pinned as their policy asks: Rollout ${namesText(found)}`,
      fix: 'The condition Stalled says what is missing:',
      command: `kubectl describe rollouts.rollouts.kruise.io ${first.name} -n ${first.namespace}`,
    },
  ]
}

/** Reports the policy that names copies of config in pods; no finding where no controller pins config. Pure. */
export function podPolicyFindings({ podPolicies }: Pick<ClusterSigns, 'podPolicies'>): readonly DoctorFinding[] {
  if (isDenied(podPolicies)) return [notLookedAt('config', podPolicies)]
  return podPolicies.map(({ name, fault }): DoctorFinding => {
    if (fault === null)
      return { check: 'config', state: 'ok', message: `the MutatingAdmissionPolicy ${name} names copies of config in pods` }
    return {
      check: 'config',
      state: 'problem',
      message: `new pods would read config itself and no copy, so releases with config: Pin hold: ${fault}`,
      fix: 'Restore the policy and its binding with helm upgrade (rbac.configPin: true); docs/guides/config.md describes them.',
    }
  })
}
