import { useEffect, useState } from 'react'

/** @returns a value that changes with the colours and the resolution of the page: a canvas has to be drawn again then */
export function useTheme(): number {
  const [changes, setChanges] = useState(0)
  useEffect(() => {
    const queries = ['(prefers-color-scheme: dark)', '(forced-colors: active)', `(resolution: ${window.devicePixelRatio}dppx)`].map((one) =>
      window.matchMedia(one),
    )
    const onChange = (): void => setChanges((before) => before + 1)
    for (const query of queries) query.addEventListener('change', onChange)
    return () => queries.forEach((query) => query.removeEventListener('change', onChange))
  }, [])
  return changes
}
