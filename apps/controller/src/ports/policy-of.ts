import type { Rollout } from '@tranche/api-schema'
import type { WatchedCluster } from '@tranche/cluster'
import type { ObjectKey } from '@tranche/kube-types'
import { foundPolicy, type PolicyReading } from '@tranche/planner'
import { policyNameOf } from './policy-port.ts'

/** Looks up the Rollout's ReleasePolicy in the cluster cache; `unseen` until policies are synced. */
export function policyOf({ overlay, policies }: WatchedCluster, rollout: Rollout, { namespace }: ObjectKey): PolicyReading {
  const name = policyNameOf(rollout)
  if (name === undefined) return { kind: 'none' }
  if (!policies.synced) return { kind: 'unseen', name }
  const policy = overlay.policies.get({ namespace, name })
  return policy === undefined ? { kind: 'missing', name } : foundPolicy(policy)
}
