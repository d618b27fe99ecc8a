import type { BatchRelease } from '@tranche/api-schema'
import type { PatchOperation } from '@tranche/flight'
import type { BatchReleaseStatusPatch } from './batch-release-plan.ts'

/**
 * The write of a BatchRelease's status beside the record: a JSON Patch that tests the uid and the generation that were
 * read, so that a process that was frozen in between says nothing about a later spec.
 */
export function releaseStatusPatch(release: BatchRelease, status: BatchReleaseStatusPatch): readonly PatchOperation[] {
  const present = release.status
  const parent: PatchOperation[] = present === undefined ? [{ op: 'add', path: '/status', value: {} }] : []
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
