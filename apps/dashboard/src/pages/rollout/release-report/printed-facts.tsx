import type { RolloutReport } from '@tranche/api-schema'
import type { ReactNode } from 'react'
import { countText, timeSpanText } from '../../../format/duration.ts'
import { clockText, momentText } from '../../../format/moment.ts'
import type { BudgetPeak } from './budget-peak.ts'
import { cutText } from './cut-text.ts'
import type { PrintedRelease } from './printed-release.ts'

/** Properties of {@link PrintedFacts}. */
interface PrintedFactsProps {
  readonly report: RolloutReport
  readonly facts: PrintedRelease | undefined
  readonly peak: BudgetPeak | undefined
}

/** Longest text on paper, in characters. */
const LONG_TEXT = 400

/** What was released, when, how long it took, and how many nodes were down. */
export function PrintedFacts({ report, facts, peak }: PrintedFactsProps): ReactNode {
  const { daemonSet, policy, nodes, failure, maxUnavailable, canaryRevision = 'of the template' } = report
  const counts = [
    `${nodes.updatedAvailable} of ${countText(nodes.desired, 'node')} available on revision ${canaryRevision}`,
    `${nodes.failed} failed`,
    `${nodes.skipped} skipped`,
    ...(nodes.leaked > 0 ? [`${nodes.leaked} updated outside the release`] : []),
  ]
  return (
    <dl className="print-facts">
      {facts === undefined ? <Fact name="Release">none is on record</Fact> : <ReleaseRows facts={facts} />}
      <Fact name="DaemonSet">{daemonSet}</Fact>
      <Fact name="Policy">{policy ?? 'defaults'}</Fact>
      <Fact name="Nodes">{counts.join(', ')}</Fact>
      {maxUnavailable === undefined ? null : (
        <Fact name="Budget">
          at most {countText(maxUnavailable, 'node')} unavailable at a time
          {peak === undefined ? '' : `; most at a time: ${peak.nodes}, as seen from ${clockText(new Date(peak.sinceMs).toISOString())} on`}
        </Fact>
      )}
      {failure === undefined ? null : (
        <Fact name="Failure">
          {failure.reason}: {cutText(failure.message, LONG_TEXT)}
        </Fact>
      )}
      {failure !== undefined || facts?.failure === undefined ? null : <Fact name="Failure">{cutText(facts.failure, LONG_TEXT)}</Fact>}
    </dl>
  )
}

function ReleaseRows({ facts }: { readonly facts: PrintedRelease }): ReactNode {
  const { name, look, from, to, startedAt, endedAt, durationMs } = facts
  return (
    <>
      <Fact name="Release">
        {name}: {look.glyph} {look.word}
      </Fact>
      {from === undefined ? null : (
        <Fact name="From">
          {cutText(from.images.join(', '), LONG_TEXT)} (revision {from.number}, {from.revision})
        </Fact>
      )}
      {to === undefined ? null : (
        <Fact name="To">
          {cutText(to.images.join(', '), LONG_TEXT)} (revision {to.number}, {to.revision})
        </Fact>
      )}
      {to?.changeCause === undefined ? null : <Fact name="Change cause">{cutText(to.changeCause, LONG_TEXT)}</Fact>}
      <Fact name="Started">{momentText(startedAt)}</Fact>
      <Fact name={endedAt === undefined ? 'Runs for' : 'Ended'}>
        {endedAt === undefined ? timeSpanText(durationMs) : `${momentText(endedAt)}, after ${timeSpanText(durationMs)}`}
      </Fact>
    </>
  )
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }): ReactNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
