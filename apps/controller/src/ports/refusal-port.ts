import { ownedRevisions, type WatchedCluster } from '@tranche/cluster'
import type { RefusalPort } from '@tranche/controllers'
import { type KubeClient, resourcePaths } from '@tranche/kube-client'
import { type ControllerRevision, REFUSED_LABEL } from '@tranche/kube-types'
import { isDaemonSetRef } from '@tranche/validation'
import { patchOrConflict } from './patch-or-conflict.ts'
import { policyOf } from './policy-of.ts'
import type { SchemaWatch } from '../schema/schema-watch.ts'

/**
 * Reads and writes the label of refused revisions, with the API server and the watches of this process (G12). Outdated definitions hide which
 * ones are blocked: meanwhile the labels stay.
 */
export function createRefusalPort(client: KubeClient, cluster: WatchedCluster, schemas: Pick<SchemaWatch, 'gap'>): RefusalPort {
  return {
    read(key) {
      if (schemas.gap() !== undefined) return null
      const rollout = cluster.overlay.rollouts.get(key)
      if (rollout === undefined || !isDaemonSetRef(rollout.spec.workloadRef)) return null
      const daemonSet = cluster.overlay.daemonSets.get({ namespace: key.namespace, name: rollout.spec.workloadRef.name })
      if (daemonSet === undefined) return null
      const policy = policyOf(cluster, rollout, key)
      if (policy.kind === 'unseen') return null
      return {
        rollout,
        revisions: ownedRevisions(cluster, daemonSet),
        policy: policy.kind === 'found' ? policy.policy.spec : null,
      }
    },
    async mark({ revision, isRefused }, signal) {
      const { uid, labels } = revision.metadata
      const path = `/metadata/labels/${REFUSED_LABEL.replace('/', '~1')}`
      const change = isRefused ? ({ op: 'add', path, value: 'true' } as const) : ({ op: 'remove', path } as const)
      const patch = [
        { op: 'test', path: '/metadata/uid', value: uid },
        ...(labels === undefined ? [{ op: 'add', path: '/metadata/labels', value: {} } as const] : []),
        change,
      ] as const
      await patchOrConflict<ControllerRevision>(client, resourcePaths.controllerRevisions, revision, patch, { signal })
    },
  }
}
