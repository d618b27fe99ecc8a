import { type ReactNode, useState } from 'react'

/** Copies a text to the clipboard. Absent where the browser has none, as without TLS: then users select the text. */
export function CopyButton({ text }: { readonly text: string }): ReactNode {
  const [result, setResult] = useState<'copied' | 'refused' | null>(null)
  const { clipboard } = navigator as { readonly clipboard?: Clipboard }
  if (clipboard === undefined) return null
  const copy = (): void => {
    clipboard.writeText(text).then(
      () => setResult('copied'),
      () => setResult('refused'),
    )
  }
  return (
    <>
      <button type="button" onClick={copy} aria-label={`Copy: ${text}`}>
        Copy
      </button>
      <span role="status" className="quiet">
        {result === 'copied' ? 'Copied' : result === 'refused' ? 'The browser refused it' : null}
      </span>
    </>
  )
}
