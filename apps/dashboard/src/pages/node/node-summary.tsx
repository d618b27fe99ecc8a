import type { NodeReport, RolloutReport } from '@tranche/api-schema'
import type { ReactNode } from 'react'
import { nodeWhy } from '../../format/node-why.ts'
import { LongText } from '../../parts/long-text.tsx'
import { Age, Until } from '../../parts/time.tsx'
import { roleWords, versionsOn } from './node-texts.ts'

/** Properties of {@link NodeSummary}. */
interface NodeSummaryProps {
  readonly node: NodeReport
  /** Undefined until it has arrived. */
  readonly report: RolloutReport | undefined
}

/** The state of a node in the release. */
export function NodeSummary({ node, report }: NodeSummaryProps): ReactNode {
  const { zone, role, revision, pod, since, failsAt, batch, restarts = 0 } = node
  const why = nodeWhy(node)
  const versions = report === undefined ? undefined : versionsOn(node, report)
  return (
    <section aria-label="State of the node">
      <dl className="facts">
        <Fact title="In this state for">
          <Age at={since} />
        </Fact>
        <Fact title="Runs">
          {versions === undefined ? null : <bdi>{versions} · </bdi>}
          {roleWords[role]}
        </Fact>
        <Fact title="Revision">
          <code>{revision ?? '–'}</code>
        </Fact>
        <Fact title="Pod">
          <code>{pod ?? 'none'}</code>
        </Fact>
        <Fact title="Restarts">{restarts === 0 ? '0' : <strong>{restarts}</strong>}</Fact>
        <Fact title="Batch">{batch ?? 'not updated yet'}</Fact>
        <Fact title="Zone">
          <bdi>{zone === '' ? 'none' : zone}</bdi>
        </Fact>
        {failsAt === undefined ? null : (
          <Fact title="Must be available in">
            <strong className="tone-bad">
              <Until at={failsAt} />
            </strong>
          </Fact>
        )}
      </dl>
      {why === undefined ? null : (
        <div role="status">
          <LongText className="node-why">{why}</LongText>
        </div>
      )}
    </section>
  )
}

function Fact({ title, children }: { readonly title: string; readonly children: ReactNode }): ReactNode {
  return (
    <div>
      <dt>{title}</dt>
      <dd>{children}</dd>
    </div>
  )
}
