import { type RefCallback, useCallback, useEffect, useRef } from 'react'

/** Time in which the parts above an element arrive and move it, in milliseconds. */
const SETTLE_MS = 5_000
/** What users do to go elsewhere. */
const LEAVING = ['wheel', 'touchmove', 'pointerdown', 'keydown'] as const

/**
 * Scrolls to an element and gives it the focus, once for each key. Keeps it in view while the page is still growing, unless the user does
 * something.
 *
 * @param key null while the element is not on the page
 * @returns ref of the element, which needs a `tabIndex`
 */
export function useScrollTo(key: string | null): RefCallback<HTMLElement> {
  const element = useRef<HTMLElement | null>(null)
  useEffect(() => {
    if (key === null || element.current === null) return
    element.current.focus({ preventScroll: true })
    return keepInView(element.current)
  }, [key])
  return useCallback((next: HTMLElement | null): void => void (element.current = next), [])
}

/** @returns function that ends it */
function keepInView(element: HTMLElement): () => void {
  const { body } = element.ownerDocument
  const observer = new ResizeObserver(() => element.scrollIntoView({ block: 'center' }))
  const timer = setTimeout(stop, SETTLE_MS)
  for (const type of LEAVING) body.addEventListener(type, stop, { passive: true })
  observer.observe(body)
  return stop

  function stop(): void {
    clearTimeout(timer)
    observer.disconnect()
    for (const type of LEAVING) body.removeEventListener(type, stop)
  }
}
