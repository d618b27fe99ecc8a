import type { ReactNode } from 'react'
import { imageVersion } from '../../../format/image-change.ts'
import type { ContainerChange } from './compare-images.ts'

/** What changes in the images, in words. */
export function ImageChanges({ changes }: { readonly changes: readonly ContainerChange[] }): ReactNode {
  if (changes.length === 0) return <p>No image changes.</p>
  return (
    <ul className="image-changes">
      {changes.map(({ container, from, to }, at) => (
        <li key={container ?? at}>
          <span>
            {container === undefined ? 'An image' : <strong className="prose">{container}</strong>} <Change from={from} to={to} />
          </span>
          <span className="quiet image-names">
            {from === undefined ? null : <bdi>{from}</bdi>}
            {from === undefined || to === undefined ? null : ' → '}
            {to === undefined ? null : <bdi>{to}</bdi>}
          </span>
        </li>
      ))}
    </ul>
  )
}

interface ChangeProps {
  readonly from: string | undefined
  readonly to: string | undefined
}

function Change({ from, to }: ChangeProps): ReactNode {
  if (from === undefined) return <>is added with {to === undefined ? 'no image' : <bdi>{imageVersion(to)}</bdi>}</>
  if (to === undefined)
    return (
      <>
        is removed; it had <bdi>{imageVersion(from)}</bdi>
      </>
    )
  return (
    <>
      changes from{' '}
      <strong>
        <bdi>{imageVersion(from)}</bdi>
      </strong>{' '}
      to{' '}
      <strong>
        <bdi>{imageVersion(to)}</bdi>
      </strong>
    </>
  )
}
