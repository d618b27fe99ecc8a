import { type RefCallback, useEffect, useState } from 'react'

/** Rows at first: more than a large screen shows, and few enough to appear at once. */
const FIRST = 40
/** Rows that are added when the end comes into view. */
const MORE = 100

/**
 * Shows a long list piece by piece: a fleet of thousands appears at once, and scrolling shows the rest.
 *
 * @param least number of items that are shown at least
 * @returns the number of items to show, and the ref of an element after the last one
 */
export function useGrowingList(length: number, least = 0): { readonly shown: number; readonly end: RefCallback<Element> } {
  const [limit, setLimit] = useState(FIRST)
  const [element, setElement] = useState<Element | null>(null)
  useEffect(() => {
    if (element === null) return
    const observer = new IntersectionObserver(
      (entries) => entries.some(({ isIntersecting }) => isIntersecting) && setLimit((before) => Math.max(before, least) + MORE),
      { rootMargin: '800px' },
    )
    observer.observe(element)
    return () => observer.disconnect()
  }, [element, least])
  return { shown: Math.min(Math.max(limit, least), length), end: setElement }
}
