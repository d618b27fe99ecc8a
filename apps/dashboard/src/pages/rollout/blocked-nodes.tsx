import type { RolloutReport } from '@tranche/api-schema'
import type { ReactNode } from 'react'
import { PlaceLink } from '../../parts/place-link.tsx'

/** Nodes that keep their old pod while others proceed: each with its message. Nothing without any. */
export function BlockedNodes({ report }: { readonly report: RolloutReport }): ReactNode {
  const { blockedNodes = [], namespace, name } = report
  if (blockedNodes.length === 0) return null
  return (
    <section aria-labelledby="blocked-title" className="kept">
      <h2 id="blocked-title">Keep their old pod</h2>
      <dl className="names">
        {blockedNodes.map(({ node, message }) => (
          <div key={node}>
            <dt>
              <PlaceLink to={{ view: 'node', key: { namespace, name }, node }}>
                <bdi>{node}</bdi>
              </PlaceLink>
            </dt>
            <dd className="prose">{message}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
