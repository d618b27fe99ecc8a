import { admitDaemonSet } from '@tranche/admission'
import type { Rollout } from '@tranche/api-schema'
import type { DaemonSet } from '@tranche/kube-types'
import { type Admission, type ApiObject, resources } from '@tranche/sim-api'
import { applyPatch } from 'rfc6902'

/** In-process admission, as a cluster has it: the write of a new template also sets the strategy to OnDelete and starts the release. */
export function admitChange(rollout: () => Rollout): Admission {
  const { group, resource } = resources.daemonSets
  return {
    handles: (review) =>
      review.operation === 'UPDATE' &&
      review.subresource === undefined &&
      review.resource.group === group &&
      review.resource.resource === resource,
    admit({ operation, oldObject, object, actor }) {
      const decision = admitDaemonSet({
        operation,
        oldObject: (oldObject ?? null) as unknown as DaemonSet | null,
        newObject: (object ?? null) as unknown as DaemonSet | null,
        rollout: rollout(),
        fieldManager: actor.name,
      })
      if (decision.kind !== 'patch' || object === undefined) return { allowed: true }
      const admitted: ApiObject = structuredClone(object)
      const failed = applyPatch(admitted, [...decision.patch]).find((error) => error !== null)
      if (failed) throw failed
      return { allowed: true, object: admitted }
    },
  }
}
