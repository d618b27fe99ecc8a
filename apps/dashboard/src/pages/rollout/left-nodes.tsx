import type { RolloutReport } from '@tranche/api-schema'
import type { ReactNode } from 'react'
import { countText } from '../../format/duration.ts'
import { PlaceLink } from '../../parts/place-link.tsx'

/** Maximum number of nodes that a cause names. */
const MOST_NAMES = 8

/** Nodes that the release leaves for now, by cause, and what ends it. Nothing without any. */
export function LeftNodesSection({ report }: { readonly report: RolloutReport }): ReactNode {
  const { leftNodes = [], namespace, name } = report
  if (leftNodes.length === 0) return null
  return (
    <section aria-labelledby="left-title" className="kept">
      <h2 id="left-title">Left for now</h2>
      {leftNodes.map(({ cause, count, nodes, message, next }) => (
        <div key={cause}>
          <p className="prose">
            {message}, {next}
          </p>
          <ul className="names">
            {nodes.slice(0, MOST_NAMES).map((node) => (
              <li key={node}>
                <PlaceLink to={{ view: 'node', key: { namespace, name }, node }}>
                  <bdi>{node}</bdi>
                </PlaceLink>
              </li>
            ))}
            {count > MOST_NAMES ? <li className="quiet">and {countText(count - MOST_NAMES, 'node')} more</li> : null}
          </ul>
        </div>
      ))}
    </section>
  )
}
