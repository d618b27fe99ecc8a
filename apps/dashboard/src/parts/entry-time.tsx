import { type ReactNode, useEffect, useState } from 'react'
import { usePorts } from '../ports/dashboard-ports.ts'
import type { Place } from '../ports/place.ts'
import { PlaceLink } from './place-link.tsx'
import { Moment } from './time.tsx'

/** Properties of {@link EntryTime}. */
interface EntryTimeProps {
  /** RFC 3339. */
  readonly at: string
  /** Place at which the entry is marked; undefined if its time is none. */
  readonly to: Place | undefined
  /** The entry in a few words. */
  readonly title: string
  /** @see DashboardPorts.go @default 'replace' */
  readonly how?: 'push' | 'replace'
}

/** Time of an entry as its address, with a button that copies it. Plain text in a host without addresses. */
export function EntryTime({ at, to, title, how = 'replace' }: EntryTimeProps): ReactNode {
  const { copyLink } = usePorts()
  if (copyLink === undefined || to === undefined) return <Moment at={at} />
  return (
    <>
      <PlaceLink to={to} className="entry-time" how={how}>
        <Moment at={at} />
      </PlaceLink>{' '}
      <CopyLink to={to} title={title} copyLink={copyLink} />
    </>
  )
}

/** Time for which the result of a copy is shown, in milliseconds. */
const SHOWN_MS = 5_000

interface CopyLinkProps {
  readonly to: Place
  readonly title: string
  readonly copyLink: (place: Place) => Promise<void>
}

/** Browsers refuse to copy on pages without HTTPS: then the address of the page becomes the link. */
function CopyLink({ to, title, copyLink }: CopyLinkProps): ReactNode {
  const { go } = usePorts()
  const [result, setResult] = useState('')
  useEffect(() => {
    if (result === '') return
    const timer = setTimeout(() => setResult(''), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [result])
  const copy = async (): Promise<void> => {
    try {
      await copyLink(to)
      setResult('Link copied')
    } catch {
      go(to, 'replace')
      setResult('The browser refused to copy. The link is now the address of this page.')
    }
  }
  return (
    <>
      <button type="button" className="copy-link" aria-label={`Copy link to: ${title}`} title="Copy link" onClick={() => void copy()}>
        <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
          <path d="M6.5 9.5l3-3M7 4.5l1.5-1.5a3.2 3.2 0 0 1 4.5 4.5L11.5 9M4.5 7L3 8.5A3.2 3.2 0 0 0 7.5 13L9 11.5" />
        </svg>
      </button>
      <span role="status" className="hint">
        {result}
      </span>
    </>
  )
}
