import type { ReactNode } from 'react'
import icon from './icon.svg'

/** Icon and name of the product. */
export function Brand(): ReactNode {
  return (
    <>
      <img src={icon} alt="" width="24" height="24" /> Tranche
    </>
  )
}
