import type { Rollout } from '@tranche/api-schema'
import type { Clock } from '@tranche/clock'
import type { WatchedCluster } from '@tranche/cluster'
import type { NotifyPort } from '@tranche/controllers'
import { type KubeClient, resourcePaths } from '@tranche/kube-client'
import { createNotifier, type EgressClient } from '@tranche/egress'
import { patchOrConflict } from './patch-or-conflict.ts'
import { policyOf } from './policy-of.ts'
import { createSecretReader } from './secret-reader.ts'

/** Dependencies of {@link createNotifyPort}. */
export interface NotifyPortParts {
  readonly client: KubeClient
  readonly cluster: WatchedCluster
  readonly egress: EgressClient
  readonly clock: Clock
}

/** Implements the notification port with the watches of this process, the API server and the egress client. */
export function createNotifyPort({ client, cluster, egress, clock }: NotifyPortParts): NotifyPort {
  const notifier = createNotifier({ egress, secrets: createSecretReader(client), clock })
  return {
    read(key) {
      const rollout = cluster.overlay.rollouts.get(key)
      return rollout === undefined ? null : { rollout, policy: policyOf(cluster, rollout, key) }
    },
    notify: (request, signal) => notifier.notify(request, signal),
    async patchStatus(rollout, patch, signal) {
      const options = { subresource: 'status', signal } as const
      cluster.overlay.rollouts.learn(await patchOrConflict<Rollout>(client, resourcePaths.rollouts, rollout, patch, options))
    },
  }
}
