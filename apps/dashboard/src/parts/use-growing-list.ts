import { type RefCallback, useEffect, useState } from 'react'

/** Rows of a page at first: what most screens show, and few enough to appear at once. */
const FIRST = 20
/** Rows at first of a list that begins below the screen. */
const FEWEST = 5
/** Rows that are added when the end comes near the view. */
const MORE = 60

/** Place of a list on its page. */
export interface GrowingListOptions {
  /** Number of items that are shown at least. @default 0 */
  readonly least?: number
  /** Rows above the list on the same page. @default 0 */
  readonly above?: number
}

/**
 * Shows a long list piece by piece: a fleet of thousands appears at once, and scrolling shows the rest.
 *
 * @returns the number of items to show, and the ref of an element after the last one
 */
export function useGrowingList(
  length: number,
  { least = 0, above = 0 }: GrowingListOptions = {},
): { readonly shown: number; readonly end: RefCallback<Element> } {
  const [limit, setLimit] = useState(Math.max(FEWEST, FIRST - above))
  const [element, setElement] = useState<Element | null>(null)
  useEffect(() => {
    if (element === null) return
    const observer = new IntersectionObserver(
      (entries) => entries.some(({ isIntersecting }) => isIntersecting) && setLimit((before) => Math.max(before, least) + MORE),
      { rootMargin: '300px' },
    )
    observer.observe(element)
    return () => observer.disconnect()
  }, [element, least])
  return { shown: Math.min(Math.max(limit, least), length), end: setElement }
}
