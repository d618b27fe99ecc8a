import type { ReleasePolicy, Rollout } from '@tranche/api-schema'
import type { WatchedCluster } from '@tranche/cluster'
import type { PodPolicy, PolicyPort } from '@tranche/controllers'
import { type KubeClient, resourcePaths } from '@tranche/kube-client'
import { type ObjectKey, rolloutAnnotations } from '@tranche/kube-types'
import { isDaemonSetRef } from '@tranche/validation'
import { examinePins, examinePolicy, type Installation } from './examine-policy.ts'
import { patchOrConflict } from './patch-or-conflict.ts'

/** Dependencies of {@link createPolicyPort}. */
export interface PolicyPortParts extends Installation {
  readonly client: KubeClient
  readonly cluster: WatchedCluster
  /** The policy for pods; null where the installation lets no policy pin config. */
  readonly podPolicy: PodPolicy | null
}

/** Implements the port of the ReleasePolicy reconciler with the API server and the watches of this process. */
export function createPolicyPort({ client, cluster, podPolicy, ...installation }: PolicyPortParts): PolicyPort {
  return {
    examine: (policy, signal) => examinePolicy(policy, installation, signal),
    read(key) {
      const policy = cluster.overlay.policies.get(key)
      if (policy === undefined) return null
      return { policy, rollouts: rolloutsOf(cluster, key), unusableNow: examinePins(policy, podPolicy) }
    },
    async patchStatus(policy, patch, signal) {
      const options = { subresource: 'status', signal }
      cluster.overlay.policies.learn(await patchOrConflict<ReleasePolicy>(client, resourcePaths.releasePolicies, policy, patch, options))
    },
  }
}

/** @returns the Rollouts of DaemonSets that name the policy */
export function rolloutsOf({ rollouts }: WatchedCluster, { namespace, name }: ObjectKey): readonly Rollout[] {
  return rollouts.store
    .list()
    .filter(
      (rollout) => rollout.metadata.namespace === namespace && policyNameOf(rollout) === name && isDaemonSetRef(rollout.spec.workloadRef),
    )
}

/** @returns name of the Rollout's ReleasePolicy; undefined if it names none */
export function policyNameOf({ metadata }: Rollout): string | undefined {
  return metadata.annotations?.[rolloutAnnotations.releasePolicy]
}
