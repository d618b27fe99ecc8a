import type { DoctorFinding } from '@tranche/api-schema'
import { daemonSetAnnotations, type ObjectKey } from '@tranche/kube-types'
import type { ClusterSigns } from '../signs/cluster-signs.ts'
import { isDenied } from '../signs/guarded-reads.ts'
import { notLookedAt } from './not-looked-at.ts'

/** Maximum number of objects that are named; the rest is counted. */
const MOST_NAMED = 5

/**
 * Reports Rollouts and DaemonSets that no controller handles, and Rollouts without a spec; no finding if there are none. Pure.
 *
 * @param runs whether a controller seems to run
 */
export function leftFindings(
  { daemonSets, rollouts, rolloutNamespaces }: Pick<ClusterSigns, 'daemonSets' | 'rollouts' | 'rolloutNamespaces'>,
  runs: boolean,
): readonly DoctorFinding[] {
  if (isDenied(rollouts)) return [notLookedAt('left', rollouts)]
  const leaving = rollouts.filter(({ isLeaving }) => isLeaving)
  // Where the Rollouts were not read, a DaemonSet may have one.
  const isKnown = ({ namespace }: ObjectKey): boolean => rolloutNamespaces === null || rolloutNamespaces.includes(namespace)
  const held = isDenied(daemonSets) ? [] : daemonSets.filter(isKnown)
  const hasRollout = ({ namespace, name }: ObjectKey): boolean =>
    rollouts.some((one) => one.namespace === namespace && one.workload === name)
  const waiting = held.filter(hasRollout)
  const orphans = held.filter((one) => !hasRollout(one))
  return [
    ...(isDenied(daemonSets) ? [notLookedAt('left', daemonSets)] : []),
    ...lackingFindings(rollouts.filter(({ lacksSpec }) => lacksSpec)),
    ...(leaving.length > 0 && !runs
      ? [
          {
            check: 'left' as const,
            state: 'problem' as const,
            message: `no controller runs to finish the deletion: Rollout ${namesText(leaving)}`,
            fix: 'Start a controller; or remove the finalizer, which leaves the DaemonSet as it is:',
            command: `kubectl patch rollouts.rollouts.kruise.io ${keyText(leaving[0])} --type=merge -p '{"metadata":{"finalizers":null}}'`,
          },
        ]
      : []),
    ...(waiting.length > 0 && !runs
      ? [
          {
            check: 'left' as const,
            state: 'note' as const,
            message: `without a controller, a node gets a new template only after its pod is deleted: DaemonSet ${namesText(waiting)} (OnDelete)`,
            fix: 'Start a controller. To uninstall, delete the Rollouts while it runs; docs/operations/upgrade.md gives the order.',
          },
        ]
      : []),
    ...(orphans.length > 0
      ? [
          {
            check: 'left' as const,
            state: 'note' as const,
            message: `left on OnDelete by a deleted Rollout: DaemonSet ${namesText(orphans)}`,
            fix: 'Create a Rollout for it again to continue; or let Kubernetes update all old nodes within its maxUnavailable:',
            command: releaseCommand(keyText(orphans[0])),
          },
        ]
      : []),
  ]
}

/** The two commands of the README that return a DaemonSet to Kubernetes. */
function releaseCommand(daemonSet: string): string {
  const { frozen, originalUpdateStrategy } = daemonSetAnnotations
  const patch = `kubectl patch daemonset ${daemonSet} --type=merge -p '{"spec":{"updateStrategy":{"type":"RollingUpdate"}}}'`
  return `${patch} && kubectl annotate daemonset ${daemonSet} ${frozen}- ${originalUpdateStrategy}-`
}

/** @returns the objects by name, such as `agents/node-agent and 3 more`; at most five names */
export function namesText(objects: readonly ObjectKey[]): string {
  const named = objects.slice(0, MOST_NAMED).map(({ namespace, name }) => `${namespace}/${name}`)
  const more = objects.length - named.length
  return `${named.join(', ')}${more === 0 ? '' : ` and ${more} more`}`
}

function lackingFindings(lacking: readonly ObjectKey[]): readonly DoctorFinding[] {
  if (lacking.length === 0) return []
  return [
    {
      check: 'left',
      state: 'problem',
      message: `left out, because it has no spec: Rollout ${namesText(lacking)}`,
      fix: 'Add a spec; or delete it:',
      command: `kubectl delete rollouts.rollouts.kruise.io ${keyText(lacking[0])}`,
    },
  ]
}

function keyText(key: ObjectKey | undefined): string {
  return `${key?.name} -n ${key?.namespace}`
}
