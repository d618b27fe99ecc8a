import { useEffect } from 'react'
import type { ReleaseStore } from '../live/release-store.ts'
import type { Place } from '../ports/place.ts'
import { PRODUCT, titleOf } from './title-of.ts'

/** Keeps the title of the tab current without rendering anything. Afterwards, as on the sign-in page, it says no state. */
export function useTitle(place: Place, releases: ReleaseStore): void {
  useEffect(() => {
    const show = (): void => {
      const title = titleOf(place, releases.snapshot())
      if (document.title !== title) document.title = title
    }
    show()
    return releases.subscribe(show)
  }, [place, releases])
  useEffect(
    () => () => {
      document.title = PRODUCT
    },
    [],
  )
}
