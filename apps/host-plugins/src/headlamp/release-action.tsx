import { pathOfPlace } from '@tranche/dashboard'
import type { ReactNode } from 'react'
import { headlampLib, type HeadlampHeaderAction } from './headlamp-lib.ts'
import { baseOf, urlBelow } from './plugin-path.ts'
import { releasedRollout } from './released-rollout.ts'

/** Button in the page of a Rollout, or of a DaemonSet that has one: the way to the page of its release. */
export function ReleaseAction({ item }: HeadlampHeaderAction): ReactNode {
  const { CommonComponents, ReactRouter } = headlampLib()
  const history = ReactRouter.useHistory()
  const key = releasedRollout(item)
  if (key === null) return null
  const path = urlBelow(baseOf(`/c/${item.cluster}`), pathOfPlace({ view: 'rollout', key }))
  return <CommonComponents.ActionButton description={`Release ${key.name}`} icon="mdi:progress-check" onClick={() => history.push(path)} />
}
