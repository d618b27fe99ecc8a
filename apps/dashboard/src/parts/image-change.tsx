import type { ReactNode } from 'react'
import { imageChanges, imageVersion } from '../format/image-change.ts'

/** Properties of {@link ImageChangeText}. */
interface ImageChangeProps {
  /** Images of the stable revision; undefined if unknown. */
  readonly from: readonly string[] | undefined
  readonly to: readonly string[]
}

/** What a release changes: `v1 → v2`. Only the version if nothing changes; the whole images are the tooltip. */
export function ImageChangeText({ from, to }: ImageChangeProps): ReactNode {
  const changes = from === undefined ? [] : imageChanges(from, to)
  const [first] = changes
  if (first === undefined)
    return (
      <span className="image" title={to.join('\n')}>
        <bdi>{to.length === 0 ? '–' : to.map(imageVersion).join(', ')}</bdi>
      </span>
    )
  return (
    <span className="image" title={changes.map(({ from: before, to: after }) => `${before} → ${after}`).join('\n')}>
      <bdi>{imageVersion(first.from)}</bdi> <span aria-hidden="true">→</span>
      <span className="visually-hidden"> to </span> <bdi>{imageVersion(first.to)}</bdi>
      {changes.length > 1 ? ` and ${changes.length - 1} more` : ''}
    </span>
  )
}
