import type { ObjectKey } from '@tranche/kube-types'
import type { ClusterSigns } from './cluster-signs.ts'
import type { DoctorFinding } from './finding.ts'

/** So many are named; the others are counted. */
const MOST_NAMED = 5

/**
 * What nobody acts on: nothing where there is no such thing. Pure.
 *
 * @param runs whether a controller seems to run
 */
export function leftFindings(
  { daemonSets, rollouts }: Pick<ClusterSigns, 'daemonSets' | 'rollouts'>,
  runs: boolean,
): readonly DoctorFinding[] {
  if (rollouts === 'forbidden') return []
  const leaving = rollouts.filter(({ isLeaving }) => isLeaving)
  const held = daemonSets === 'forbidden' ? [] : daemonSets
  const hasRollout = ({ namespace, name }: ObjectKey): boolean =>
    rollouts.some((one) => one.namespace === namespace && one.workload === name)
  const waiting = held.filter(hasRollout)
  const orphans = held.filter((one) => !hasRollout(one))
  return [
    ...(leaving.length > 0 && !runs
      ? [
          {
            check: 'left',
            state: 'problem' as const,
            message: `no controller runs that would let go of what is being deleted: Rollout ${namesText(leaving)}`,
            fix: `Start a controller; or take the finalizer away, which leaves the DaemonSet as it is: kubectl patch rollouts.rollouts.kruise.io ${keyText(leaving[0])} --type=merge -p '{"metadata":{"finalizers":null}}'.`,
          },
        ]
      : []),
    ...(waiting.length > 0 && !runs
      ? [
          {
            check: 'left',
            state: 'note' as const,
            message: `without a controller a new template reaches a node only when somebody deletes its pod: DaemonSet ${namesText(waiting)} (OnDelete)`,
            fix: 'Start a controller. To uninstall, let one run, and delete the Rollouts first: docs/operations/life.md says in which order.',
          },
        ]
      : []),
    ...(orphans.length > 0
      ? [
          {
            check: 'left',
            state: 'note' as const,
            message: `left on OnDelete by a Rollout that is gone: DaemonSet ${namesText(orphans)}`,
            fix: `Make a Rollout for it again, which goes on; or have Kubernetes update it, all nodes that are old at once by its maxUnavailable: kubectl patch daemonset ${keyText(orphans[0])} --type=merge -p '{"spec":{"updateStrategy":{"type":"RollingUpdate"}}}'.`,
          },
        ]
      : []),
  ]
}

function namesText(objects: readonly ObjectKey[]): string {
  const named = objects.slice(0, MOST_NAMED).map(({ namespace, name }) => `${namespace}/${name}`)
  const more = objects.length - named.length
  return `${named.join(', ')}${more === 0 ? '' : ` and ${more} more`}`
}

function keyText(key: ObjectKey | undefined): string {
  return `${key?.name} -n ${key?.namespace}`
}
