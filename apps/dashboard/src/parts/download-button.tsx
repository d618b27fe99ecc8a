import type { ReactNode } from 'react'

/** Properties of {@link DownloadButton}. */
interface DownloadButtonProps {
  readonly fileName: () => string
  /** Media type, such as `text/csv`. */
  readonly type: string
  /** Makes the content when the user asks for it. */
  readonly content: () => string
  readonly isDisabled?: boolean
  readonly children: ReactNode
}

/** Time after which a browser has begun to save a file, in milliseconds. */
const SAVED_MS = 10_000

/** Saves a file that the page makes itself; nothing is sent anywhere. */
export function DownloadButton({ fileName, type, content, isDisabled = false, children }: DownloadButtonProps): ReactNode {
  const save = (): void => {
    const url = URL.createObjectURL(new Blob([content()], { type }))
    const link = document.createElement('a')
    link.href = url
    link.download = fileName()
    link.click()
    setTimeout(() => URL.revokeObjectURL(url), SAVED_MS)
  }
  return (
    <button type="button" disabled={isDisabled} onClick={save}>
      {children}
    </button>
  )
}
