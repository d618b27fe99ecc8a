import { useEffect } from 'react'

/** Opens the command palette with Ctrl K, ⌘ K, or `/` outside of text fields. */
export function useShortcuts({ onPalette }: { readonly onPalette: () => void }): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const isChord = (event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === 'k'
      const isSlash = event.key === '/' && !event.ctrlKey && !event.metaKey && !event.altKey && !isTyping(event.target)
      if (!isChord && !isSlash) return
      event.preventDefault()
      onPalette()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [onPalette])
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable]') !== null
}
