import type { BatchRelease } from '@tranche/api-schema'
import type { PatchOperation } from '@tranche/flight'
import type { BatchReleaseStatusPatch } from './batch-release-plan.ts'

/**
 * The write of a BatchRelease's status beside the record: a JSON Patch that tests the uid and the generation that were
 * read, so that a process that was frozen in between says nothing about a later spec. The first status tests the
 * resourceVersion too: a status that came meanwhile, and the record in it, must not be replaced.
 */
export function releaseStatusPatch(release: BatchRelease, status: BatchReleaseStatusPatch): readonly PatchOperation[] {
  const present = release.status
  const asRead: PatchOperation = { op: 'test', path: '/metadata/resourceVersion', value: release.metadata.resourceVersion }
  const parent: PatchOperation[] = present === undefined ? [asRead, { op: 'add', path: '/status', value: {} }] : []
  const members = Object.entries(status).flatMap(([field, value]): PatchOperation[] => {
    if (value !== null && value !== undefined) return [{ op: 'add', path: `/status/${field}`, value }]
    return present?.[field as keyof typeof present] === undefined ? [] : [{ op: 'remove', path: `/status/${field}` }]
  })
  return [
    { op: 'test', path: '/metadata/uid', value: release.metadata.uid },
    { op: 'test', path: '/metadata/generation', value: release.metadata.generation },
    ...parent,
    ...members,
  ]
}
