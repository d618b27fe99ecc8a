import type { ReactNode } from 'react'

/** Properties of {@link MarkNote}. */
interface MarkNoteProps {
  /** What is marked, or why nothing is; empty without a mark. */
  readonly text: string
  readonly onClear: () => void
}

/** Says what the time in the address of the page marks. */
export function MarkNote({ text, onClear }: MarkNoteProps): ReactNode {
  return (
    <p role="status" className={text === '' ? 'visually-hidden' : 'mark-note prose'}>
      {text === '' ? null : (
        <>
          {text}{' '}
          <button type="button" className="link" onClick={onClear}>
            Remove the mark
          </button>
        </>
      )}
    </p>
  )
}
