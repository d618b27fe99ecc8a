import { useCallback, useMemo, useSyncExternalStore } from 'react'
import { pathOfPlace, type Place, placeOf } from '../ports/place.ts'

/** Path of the dashboard on its origin, with slashes at both ends. */
export const BASE = '/dashboard/'

const listeners = new Set<() => void>()

function subscribe(onChange: () => void): () => void {
  listeners.add(onChange)
  window.addEventListener('popstate', onChange)
  return () => {
    listeners.delete(onChange)
    window.removeEventListener('popstate', onChange)
  }
}

function urlNow(): string {
  return window.location.pathname + window.location.search
}

/** Place of the page, which is its URL. */
export interface Navigation {
  readonly place: Place
  readonly go: (place: Place, how?: 'push' | 'replace') => void
}

/** @returns the URL of a place */
export function urlOf(place: Place): string {
  return BASE + pathOfPlace(place)
}

/** Copies the whole URL of a place. Rejects if the browser refuses. */
export async function copyLink(place: Place): Promise<void> {
  await navigator.clipboard.writeText(new URL(urlOf(place), window.location.origin).href)
}

/** Reads the place from the URL, and changes it. A new view begins at its top. */
export function usePlace(): Navigation {
  const url = useSyncExternalStore(subscribe, urlNow)
  const place = useMemo(() => placeAt(url), [url])
  const go = useCallback((to: Place, how: 'push' | 'replace' = 'push') => {
    if (how === 'replace') window.history.replaceState(null, '', urlOf(to))
    else window.history.pushState(null, '', urlOf(to))
    if (how === 'push') window.scrollTo(0, 0)
    for (const listener of listeners) listener()
  }, [])
  return { place, go }
}

function placeAt(url: string): Place {
  const { pathname, search } = new URL(url, window.location.origin)
  const path = pathname.startsWith(BASE) ? pathname.slice(BASE.length) : pathname === BASE.slice(0, -1) ? '' : pathname
  return placeOf(path, search)
}
