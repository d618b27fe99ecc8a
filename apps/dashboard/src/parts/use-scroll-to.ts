import { type RefCallback, useCallback, useEffect, useRef } from 'react'

/**
 * Scrolls to an element and gives it the focus, once for each key.
 *
 * @param key null while the element is not on the page
 * @returns ref of the element, which needs a `tabIndex`
 */
export function useScrollTo(key: string | null): RefCallback<HTMLElement> {
  const element = useRef<HTMLElement | null>(null)
  useEffect(() => {
    if (key === null) return
    element.current?.scrollIntoView({ block: 'center' })
    element.current?.focus({ preventScroll: true })
  }, [key])
  return useCallback((next: HTMLElement | null): void => void (element.current = next), [])
}
