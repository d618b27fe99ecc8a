import { type ComponentType, lazy, type ReactNode } from 'react'

/** Renews the parts whose files could not be loaded. */
const renewals = new Set<() => void>()

/** Loads files that could not be loaded again, once their parts are next shown. */
export function loadFailedAgain(): void {
  for (const renew of renewals) renew()
  renewals.clear()
}

/**
 * A part of the page whose file is loaded when it is first shown. React keeps a failure for good, so after one {@link loadFailedAgain} is due.
 *
 * @param load imports the file
 */
export function loadedLater<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  const attempt = (): ComponentType<P> =>
    lazy(async () => {
      try {
        return { default: await load() }
      } catch (error) {
        renewals.add(() => {
          Part = attempt()
        })
        throw error
      }
    }) as ComponentType<P>
  let Part = attempt()
  return function LoadedLater(props: P): ReactNode {
    return <Part {...props} />
  }
}
