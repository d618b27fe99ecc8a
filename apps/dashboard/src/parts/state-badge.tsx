import type { ReactNode } from 'react'
import type { StateLook } from '../format/outcome-text.ts'

/** A state as glyph and word in its colour. */
export function StateBadge({ look }: { readonly look: StateLook }): ReactNode {
  return (
    <span className={`badge tone-${look.tone}`}>
      <span aria-hidden="true" className="glyph">
        {look.glyph}
      </span>
      {look.word}
    </span>
  )
}
