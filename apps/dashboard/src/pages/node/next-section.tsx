import type { ApiKey } from '@tranche/api-client'
import type { Explanation, NodeReport } from '@tranche/api-schema'
import type { ReactNode } from 'react'
import { LongText } from '../../parts/long-text.tsx'
import { useMissing } from '../../ports/dashboard-ports.ts'
import { PlaceLink } from '../../parts/place-link.tsx'
import { Until } from '../../parts/time.tsx'
import { inspectCommands } from './node-texts.ts'

/** Properties of {@link NextSection}. */
interface NextSectionProps {
  readonly rollout: ApiKey
  readonly name: string
  /** Undefined for a node that the DaemonSet does not want. */
  readonly node: NodeReport | undefined
  /** Undefined until it has arrived. */
  readonly explanation: Explanation | undefined
}

/** Next steps on a node, and where to find out more. */
export function NextSection({ rollout, name, node, explanation }: NextSectionProps): ReactNode {
  const missing = useMissing()
  return (
    <section aria-labelledby="next-title" className="outlook">
      <h2 id="next-title">Next steps</h2>
      {explanation === undefined ? null : explanation.next === undefined ? (
        <p className="quiet">The release leaves the node as it is.</p>
      ) : (
        <div>
          <p className="hint">What would change this:</p>
          <LongText>{explanation.next}</LongText>
        </div>
      )}
      {node?.failsAt === undefined ? null : (
        <p>
          If no pod is available here in <Until at={node.failsAt} />, the new version counts as failed on this node. The{' '}
          <PlaceLink to={{ view: 'policy', key: rollout }}>policy</PlaceLink> says what follows.
        </p>
      )}
      {node === undefined || node.state === 'failing' || missing.plan !== undefined ? null : (
        <p>
          Forecast:{' '}
          {node.role === 'canary' ? null : (
            <>
              <PlaceLink to={{ view: 'plan', key: rollout, query: { node: name } }}>when it is updated</PlaceLink>, or{' '}
            </>
          )}
          <PlaceLink to={{ view: 'plan', key: rollout, query: { if: `${name} fails`, node: name } }}>what if it fails</PlaceLink>
        </p>
      )}
      <h3>Logs</h3>
      <p className="hint">Tranche does not read logs. In a terminal:</p>
      <pre>
        <code>{inspectCommands(rollout.namespace, name, node).join('\n')}</code>
      </pre>
    </section>
  )
}
