import { type Admission as Decision, admitDaemonSet, admitRollout } from '@tranche/admission'
import type { Rollout } from '@tranche/api-schema'
import { type DaemonSet, daemonSetAnnotations } from '@tranche/kube-types'
import { type Admission, type AdmissionAnswer, type AdmissionReview, ApiStatusError, resources, type SimClient } from '@tranche/sim-api'
import { applyPatch } from 'rfc6902'
import { rolloutOf } from './focus.ts'

/** Rollouts as the simulator's API knows them. */
const rolloutsId = { group: 'rollouts.kruise.io', resource: 'rollouts' }

/**
 * Lets our admission decide inside the simulated API server, as a webhook would outside of it: DaemonSets get their
 * strategy and keys in the very write that begins a release, and a Rollout that cannot work is refused.
 *
 * @param client reads Rollouts and DaemonSets past every cache
 */
export function createAdmissionHook(client: SimClient): Admission {
  return {
    handles: ({ operation, resource, subresource }) =>
      operation !== 'DELETE' &&
      subresource === undefined &&
      (isResource(resource, resources.daemonSets) || isResource(resource, rolloutsId)),
    async admit(review) {
      const others = await listRollouts(client, review.namespace)
      if (isResource(review.resource, rolloutsId)) return answerOf(review, decideRollout(review, others))
      return answerOf(review, decideDaemonSet(review, others))
    },
  }
}

function isResource(a: AdmissionReview['resource'], b: AdmissionReview['resource']): boolean {
  return a.group === b.group && a.resource === b.resource
}

/** Before the Rollouts' own definition there are none. */
async function listRollouts(client: SimClient, namespace: string | undefined): Promise<readonly Rollout[]> {
  try {
    const { items } = await client.list(rolloutsId, namespace === undefined ? {} : { namespace })
    return items as unknown as readonly Rollout[]
  } catch (error) {
    if (error instanceof ApiStatusError && error.code === 404) return []
    throw error
  }
}

function decideRollout({ operation, oldObject, object }: AdmissionReview, others: readonly Rollout[]): Decision {
  return admitRollout({
    operation,
    oldObject: (oldObject ?? null) as Rollout | null,
    newObject: (object ?? null) as Rollout | null,
    others,
  })
}

function decideDaemonSet({ operation, oldObject, object, actor }: AdmissionReview, rollouts: readonly Rollout[]): Decision {
  const before = (oldObject ?? null) as unknown as DaemonSet | null
  const rollout = before === null ? null : (boundRollout(before, rollouts) ?? rolloutOf(before, rollouts) ?? null)
  return admitDaemonSet({
    operation,
    oldObject: before,
    newObject: (object ?? null) as unknown as DaemonSet | null,
    rollout,
    fieldManager: actor.name,
  })
}

function boundRollout(daemonSet: DaemonSet, rollouts: readonly Rollout[]): Rollout | undefined {
  const name = daemonSet.metadata.annotations?.[daemonSetAnnotations.rollout]
  return rollouts.find((rollout) => rollout.metadata.name === name && rollout.metadata.namespace === daemonSet.metadata.namespace)
}

function answerOf(review: AdmissionReview, decision: Decision): AdmissionAnswer {
  switch (decision.kind) {
    case 'allow':
      return { allowed: true, warnings: decision.warnings }
    case 'patch': {
      const object = structuredClone(review.object!)
      const failed = applyPatch(object, [...decision.patch]).find((error) => error !== null)
      if (failed) throw failed
      return { allowed: true, object, warnings: decision.warnings }
    }
    case 'deny': {
      const { kind, name, resource } = review
      return {
        allowed: false,
        error: new ApiStatusError(422, 'Invalid', decision.message, { name, group: resource.group, kind, causes: decision.causes }),
      }
    }
  }
}
