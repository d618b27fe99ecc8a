import type { ApiKey } from '@tranche/api-client'
import type { ReactNode } from 'react'
import { PlaceLink } from './place-link.tsx'

/** The way back from a view of one Rollout: all Rollouts, its namespace, the Rollout. */
export function Crumbs({ rollout }: { readonly rollout: ApiKey }): ReactNode {
  const { namespace, name } = rollout
  return (
    <nav aria-label="Breadcrumb" className="crumbs">
      <PlaceLink to={{ view: 'fleet' }}>Rollouts</PlaceLink> /{' '}
      <PlaceLink to={{ view: 'fleet', query: { namespace } }}>
        <bdi>{namespace}</bdi>
      </PlaceLink>{' '}
      /{' '}
      <PlaceLink to={{ view: 'rollout', key: rollout }}>
        <bdi>{name}</bdi>
      </PlaceLink>
    </nav>
  )
}
