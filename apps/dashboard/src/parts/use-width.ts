import { type RefObject, useEffect, useState } from 'react'

const FIRST_WIDTH = 600

/** @returns the width of an element in CSS pixels, rounded down; renews the calling part when it changes */
export function useWidth(box: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(FIRST_WIDTH)
  useEffect(() => {
    if (box.current === null) return
    const observer = new ResizeObserver(([entry]) => entry !== undefined && setWidth(Math.floor(entry.contentRect.width)))
    observer.observe(box.current)
    return () => observer.disconnect()
  }, [box])
  return width
}
