import type { BatchRelease } from '@tranche/api-schema'
import type { PatchOperation } from '@tranche/fence'
import type { KubeObject } from '@tranche/kube-types'
import type { BatchReleaseStatusPatch } from './batch-release-plan.ts'

/** Patch of a BatchRelease's status without the record. @see statusPatch */
export function releaseStatusPatch(release: BatchRelease, status: BatchReleaseStatusPatch): readonly PatchOperation[] {
  return statusPatch(release, status)
}

/** Changes of a BatchRelease's status, without tests, for a write that tests the resourceVersion and has a record. */
export function statusChanges(release: BatchRelease, status: BatchReleaseStatusPatch): readonly PatchOperation[] {
  return changesOf(release.status ?? {}, status)
}

/**
 * Writes some members of a status that other clients write, too. The JSON Patch tests the uid and the generation that were
 * read, so a process that was frozen in between reports nothing about a later spec. The first status also tests the
 * resourceVersion, so that a status written meanwhile is not replaced. A null member is removed.
 */
export function statusPatch(
  object: KubeObject & { readonly status?: object | undefined },
  members: Readonly<Record<string, unknown>>,
): readonly PatchOperation[] {
  const present = object.status
  const asRead: PatchOperation = { op: 'test', path: '/metadata/resourceVersion', value: object.metadata.resourceVersion }
  const parent: PatchOperation[] = present === undefined ? [asRead, { op: 'add', path: '/status', value: {} }] : []
  return [
    { op: 'test', path: '/metadata/uid', value: object.metadata.uid },
    { op: 'test', path: '/metadata/generation', value: object.metadata.generation },
    ...parent,
    ...changesOf(present ?? {}, members),
  ]
}

function changesOf(present: object, members: Readonly<Record<string, unknown>>): readonly PatchOperation[] {
  return Object.entries(members).flatMap(([field, value]): PatchOperation[] => {
    if (value !== null && value !== undefined) return [{ op: 'add', path: `/status/${field}`, value }]
    return Object.hasOwn(present, field) ? [{ op: 'remove', path: `/status/${field}` }] : []
  })
}
