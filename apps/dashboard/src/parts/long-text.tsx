import { type ReactNode, useEffect, useRef, useState } from 'react'

/** Properties of {@link LongText}. */
interface LongTextProps {
  readonly className?: string
  readonly children: ReactNode
}

/** Text of the cluster, of any length and script. One that is too long for the page scrolls, and the keyboard reaches it. */
export function LongText({ className = '', children }: LongTextProps): ReactNode {
  const box = useRef<HTMLDivElement>(null)
  const [isScrolling, setScrolling] = useState(false)
  useEffect(() => {
    const element = box.current
    if (element === null) return
    const observer = new ResizeObserver(() => setScrolling(element.scrollHeight > element.clientHeight + 1))
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return (
    <div ref={box} className={`prose ${className}`} tabIndex={isScrolling ? 0 : undefined}>
      {children}
    </div>
  )
}
