import { useQuery } from '@tanstack/react-query'
import { ApiProblemError } from '@tranche/api-client'
import type { RevisionReport, RevisionTemplate, RolloutReport } from '@tranche/api-schema'
import type { ReactNode } from 'react'
import { partLoadedLater } from '../../../parts/part-loaded-later.tsx'
import { ProblemNote } from '../../../parts/problem-note.tsx'
import { usePorts } from '../../../ports/dashboard-ports.ts'
import { queryKeyOf } from '../../../ports/renew-when-changed.ts'
import { compareContainers, compareImages } from './compare-images.ts'
import { ImageChanges } from './image-changes.tsx'

const TemplateDiff = partLoadedLater(async () => (await import('./template-diff.tsx')).TemplateDiff, 'Comparing the pod templates…')

/** Properties of {@link RevisionChanges}. */
interface RevisionChangesProps {
  readonly report: RolloutReport
  readonly from: RevisionReport
  readonly to: RevisionReport
}

/** What differs between two revisions: images in words, then the templates line by line. Without the right to read templates only the images. */
export function RevisionChanges({ report, from, to }: RevisionChangesProps): ReactNode {
  const templates = useTemplates(report, from.revision, to.revision)
  switch (templates.kind) {
    case 'forbidden':
      return (
        <>
          <ImageChanges changes={compareImages(from, to)} />
          <p className="prose">Only the images are shown: {templates.why}</p>
        </>
      )
    case 'failed':
      return (
        <>
          <ImageChanges changes={compareImages(from, to)} />
          <ProblemNote error={templates.error} retry={templates.retry} />
        </>
      )
    case 'reading':
      return (
        <>
          <ImageChanges changes={compareImages(from, to)} />
          <p role="status">Reading the pod templates…</p>
        </>
      )
    case 'read':
      return (
        <>
          <ImageChanges changes={compareContainers(templates.from, templates.to)} />
          <TemplateDiff from={templates.from} to={templates.to} />
        </>
      )
  }
}

type Templates =
  | { readonly kind: 'forbidden'; readonly why: string }
  | { readonly kind: 'reading' }
  | { readonly kind: 'failed'; readonly error: unknown; readonly retry: () => void }
  | { readonly kind: 'read'; readonly from: RevisionTemplate['template']; readonly to: RevisionTemplate['template'] }

function useTemplates({ namespace, name, daemonSet }: RolloutReport, fromRevision: string, toRevision: string): Templates {
  const { api } = usePorts()
  const key = { namespace, name }
  const { data: permissions, isPending } = useQuery({
    queryKey: [...queryKeyOf(key), 'permissions'],
    queryFn: ({ signal }) => api.permissions(key, { signal }),
    staleTime: 60_000,
  })
  const isForbidden = permissions?.template === false
  // Not part of what is read again when the Rollout changes: the template of a revision never changes.
  const templateOf = (
    revision: string,
  ): { queryKey: string[]; queryFn: (context: { signal: AbortSignal }) => Promise<RevisionTemplate> } => ({
    queryKey: ['template', namespace, name, revision],
    queryFn: ({ signal }) => api.revision(key, revision, { signal }),
  })
  const options = { enabled: !isForbidden && !isPending, staleTime: Number.POSITIVE_INFINITY }
  const from = useQuery({ ...templateOf(fromRevision), ...options })
  const to = useQuery({ ...templateOf(toRevision), ...options })
  if (isForbidden) return { kind: 'forbidden', why: `you may not get daemonsets.apps "${daemonSet}" in namespace "${namespace}".` }
  const error = from.error ?? to.error
  if (error instanceof ApiProblemError && error.status === 403) return { kind: 'forbidden', why: error.message }
  if (error !== null) return { kind: 'failed', error, retry: () => void Promise.all([from.refetch(), to.refetch()]) }
  if (from.data === undefined || to.data === undefined) return { kind: 'reading' }
  return { kind: 'read', from: from.data.template, to: to.data.template }
}
