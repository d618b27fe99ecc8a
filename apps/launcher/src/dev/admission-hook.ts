import { type Admission as Decision, admitBatchRelease, admitDaemonSet, admitRollout, admitRolloutStatus } from '@tranche/admission'
import type { BatchRelease, Rollout } from '@tranche/api-schema'
import { type DaemonSet, daemonSetAnnotations } from '@tranche/kube-types'
import { type Admission, type AdmissionAnswer, type AdmissionReview, ApiStatusError, resources, type SimClient } from '@tranche/sim-api'
import { applyPatch } from 'rfc6902'
import { namingRollout } from './focus.ts'

/** Rollouts in the simulator's API. */
const rolloutsId = { group: 'rollouts.kruise.io', resource: 'rollouts' }
/** BatchReleases in the simulator's API. */
const batchReleasesId = { group: 'rollouts.kruise.io', resource: 'batchreleases' }

/**
 * Runs admission inside the simulated API server, as a webhook would outside it. The write that starts a release also sets
 * strategy and keys of the DaemonSet. Rollouts and BatchReleases that cannot work are denied.
 *
 * @param client reads Rollouts and DaemonSets without a cache
 */
export function createAdmissionHook(client: SimClient): Admission {
  return {
    handles: ({ operation, resource, subresource }) =>
      operation !== 'DELETE' &&
      (subresource === undefined
        ? [resources.daemonSets, rolloutsId, batchReleasesId].some((ours) => isResource(resource, ours))
        : subresource === 'status' && isResource(resource, rolloutsId)),
    async admit(review) {
      if (review.subresource === 'status') return answerOf(review, decideStatus(review))
      if (isResource(review.resource, batchReleasesId)) return answerOf(review, decideBatchRelease(review))
      const others = await listRollouts(client, review.namespace)
      if (isResource(review.resource, resources.daemonSets)) return answerOf(review, decideDaemonSet(review, others))
      return answerOf(review, decideRollout(review, others, await workloadOf(client, review)))
    },
  }
}

function isResource(a: AdmissionReview['resource'], b: AdmissionReview['resource']): boolean {
  return a.group === b.group && a.resource === b.resource
}

/** Empty before the CustomResourceDefinition of Rollouts exists. */
async function listRollouts(client: SimClient, namespace: string | undefined): Promise<readonly Rollout[]> {
  try {
    const { items } = await client.list(rolloutsId, namespace === undefined ? {} : { namespace })
    return items as unknown as readonly Rollout[]
  } catch (error) {
    if (error instanceof ApiStatusError && error.code === 404) return []
    throw error
  }
}

/** @returns the DaemonSet that a Rollout names; null if it does not exist, undefined if the Rollout names none */
async function workloadOf(client: SimClient, { namespace = '', object }: AdmissionReview): Promise<DaemonSet | null | undefined> {
  const spec = object?.['spec'] as { readonly workloadRef?: { readonly kind?: unknown; readonly name?: unknown } } | undefined
  const { kind, name } = spec?.workloadRef ?? {}
  if (kind !== 'DaemonSet' || typeof name !== 'string' || name === '') return undefined
  try {
    return (await client.get(resources.daemonSets, name, namespace)) as unknown as DaemonSet
  } catch (error) {
    if (error instanceof ApiStatusError && error.code === 404) return null
    throw error
  }
}

function decideRollout(
  { operation, oldObject, object }: AdmissionReview,
  others: readonly Rollout[],
  workload: DaemonSet | null | undefined,
): Decision {
  return admitRollout({
    operation,
    oldObject: (oldObject ?? null) as Rollout | null,
    newObject: (object ?? null) as Rollout | null,
    others,
    desired: workload?.status?.desiredNumberScheduled,
    workloadExists: workload === undefined ? null : workload !== null,
  })
}

function decideStatus({ oldObject, object, actor }: AdmissionReview): Decision {
  if (oldObject === undefined || object === undefined) return { kind: 'allow', warnings: [] }
  return admitRolloutStatus({
    oldObject: oldObject as unknown as Rollout,
    newObject: object as unknown as Rollout,
    fieldManager: actor.name,
  })
}

function decideBatchRelease({ operation, oldObject, object, actor }: AdmissionReview): Decision {
  return admitBatchRelease({
    operation,
    oldObject: (oldObject ?? null) as BatchRelease | null,
    newObject: (object ?? null) as BatchRelease | null,
    fieldManager: actor.name,
  })
}

function decideDaemonSet({ operation, oldObject, object, actor }: AdmissionReview, rollouts: readonly Rollout[]): Decision {
  const before = (oldObject ?? null) as unknown as DaemonSet | null
  const rollout = before === null ? null : (boundRollout(before, rollouts) ?? namingRollout(before, rollouts) ?? null)
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
