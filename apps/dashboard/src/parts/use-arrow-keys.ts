import { useEffect } from 'react'

/** Where the arrow keys lead; null: nowhere. */
export interface ArrowKeys {
  readonly onLeft: (() => void) | null
  readonly onRight: (() => void) | null
}

/** Answers the keys ← and → outside of text fields, dialogs and whatever else uses them itself. */
export function useArrowKeys({ onLeft, onRight }: ArrowKeys): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || usesArrows(event.target)) return
      const follow = event.key === 'ArrowLeft' ? onLeft : event.key === 'ArrowRight' ? onRight : null
      if (follow === null) return
      event.preventDefault()
      follow()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [onLeft, onRight])
}

function usesArrows(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('input, textarea, select, dialog, [contenteditable], [tabindex]') !== null
}
