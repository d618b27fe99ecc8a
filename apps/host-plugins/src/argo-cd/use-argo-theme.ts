import { useSyncExternalStore } from 'react'

/** @returns the theme of Argo CD, which it marks by a class of an element around its page */
export function useArgoTheme(): 'light' | 'dark' {
  return useSyncExternalStore(subscribe, () => (document.querySelector('.theme-dark') === null ? 'light' : 'dark'))
}

function subscribe(onChange: () => void): () => void {
  const observer = new MutationObserver(onChange)
  observer.observe(document.body, { attributeFilter: ['class'], subtree: true })
  return () => observer.disconnect()
}
