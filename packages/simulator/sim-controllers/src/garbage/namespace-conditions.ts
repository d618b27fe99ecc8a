import type { Condition } from '@tranche/kube-types'
import type { ApiObject, ResourceId } from '@tranche/sim-api'

/** Conditions of a namespace without problems, in order. */
const okConditions: readonly (readonly [type: string, reason: string, message: string])[] = [
  ['NamespaceDeletionDiscoveryFailure', 'ResourcesDiscovered', 'All resources successfully discovered'],
  ['NamespaceDeletionGroupVersionParsingFailure', 'ParsedGroupVersions', 'All legacy kube types successfully parsed'],
  ['NamespaceDeletionContentFailure', 'ContentDeleted', 'All content successfully deleted, may be waiting on finalization'],
  ['NamespaceContentRemaining', 'ContentRemoved', 'All content successfully removed'],
  ['NamespaceFinalizersRemaining', 'ContentHasNoFinalizers', 'All content-preserving finalizers finished'],
]

/**
 * Computes the conditions of a terminating namespace.
 *
 * @param left remaining objects, by resource; nothing empty
 * @returns its own conditions first, then those of others; each keeps its time while unchanged
 */
export function planNamespaceConditions(
  before: readonly Condition[],
  left: readonly { readonly id: ResourceId; readonly items: readonly ApiObject[] }[],
  nowText: string,
): readonly Condition[] {
  const troubles = new Map<string, readonly [reason: string, message: string]>()
  const counts = left.map(({ id, items }) => `${id.resource}.${id.group} has ${items.length} resource instances`).sort()
  if (counts.length > 0)
    troubles.set('NamespaceContentRemaining', ['SomeResourcesRemain', `Some resources are remaining: ${counts.join(', ')}`])
  const finalizers = finalizerCounts(left.flatMap(({ items }) => items))
  if (finalizers.length > 0)
    troubles.set('NamespaceFinalizersRemaining', [
      'SomeFinalizersRemain',
      `Some content in the namespace has finalizers remaining: ${finalizers.join(', ')}`,
    ])
  const own = okConditions.map(([type, okReason, okMessage]) => {
    const [reason, message] = troubles.get(type) ?? [okReason, okMessage]
    const status = troubles.has(type) ? 'True' : 'False'
    const old = before.find((one) => one.type === type)
    const isSame = old?.status === status && old.reason === reason && old.message === message
    return isSame ? old : { type, status, reason, message, lastTransitionTime: nowText }
  })
  return [...own, ...before.filter(({ type }) => !okConditions.some(([mine]) => mine === type))]
}

function finalizerCounts(objects: readonly ApiObject[]): readonly string[] {
  const counts = new Map<string, number>()
  for (const { metadata } of objects)
    for (const finalizer of metadata.finalizers ?? []) counts.set(finalizer, (counts.get(finalizer) ?? 0) + 1)
  return [...counts].map(([finalizer, count]) => `${finalizer} in ${count} resource instances`).sort()
}
