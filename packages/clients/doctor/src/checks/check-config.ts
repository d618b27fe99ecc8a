import type { DoctorFinding } from '@tranche/api-schema'
import type { ClusterSigns } from '../signs/cluster-signs.ts'
import { isDenied } from '../signs/guarded-reads.ts'
import { namesText } from './check-left.ts'

/** Reports Rollouts whose config is not part of the version; no finding if there are none, or none may be listed. Pure. */
export function configFindings({ rollouts }: Pick<ClusterSigns, 'rollouts'>): readonly DoctorFinding[] {
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
