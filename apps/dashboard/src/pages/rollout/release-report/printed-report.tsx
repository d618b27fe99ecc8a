import type { BatchReport, HistoryReport, NodeReport, RolloutReport } from '@tranche/api-schema'
import type { ReactNode } from 'react'
import { countText, timeSpanText } from '../../../format/duration.ts'
import { clockText, momentText, zoneText } from '../../../format/moment.ts'
import { lookOf } from '../../../format/outcome-text.ts'
import { StateBadge } from '../../../parts/state-badge.tsx'
import { usePorts } from '../../../ports/dashboard-ports.ts'
import { limitText, lookOfPhase, measuredText } from '../analyses/analysis-texts.ts'
import { groupUnwell } from '../nodes/group-unwell.ts'
import type { BudgetPeak } from './budget-peak.ts'
import { cutText } from './cut-text.ts'
import { printedNodes } from './failed-nodes.ts'
import { PrintedFacts } from './printed-facts.tsx'
import { decisionsOf, type PrintedRelease, printedRelease, stepTimes } from './printed-release.ts'

/** Properties of {@link PrintedReport}. */
interface PrintedReportProps {
  readonly report: RolloutReport
  /** Undefined until it was read. */
  readonly history: HistoryReport | undefined
  readonly batches: readonly BatchReport[]
  readonly nodes: ReadonlyMap<string, NodeReport> | undefined
  readonly peak: BudgetPeak | undefined
}

/** Longest texts on paper, in characters; the page has them in full. */
const LONG_TEXT = 600
const SHORT_TEXT = 160

/** A release on paper: what was released, who approved it, when, how long it took, and which nodes failed. */
export function PrintedReport({ report, history, batches, nodes, peak }: PrintedReportProps): ReactNode {
  const { nowMs, releases } = usePorts()
  const now = nowMs()
  const facts = history === undefined ? undefined : printedRelease(history, now)
  const { live } = releases.snapshot()
  return (
    <article className="print-report">
      <h1>
        Release report: {report.namespace}/{report.name} <StateBadge look={lookOf(report)} />
      </h1>
      <p>{cutText(report.message, LONG_TEXT)}</p>
      <PrintedFacts report={report} facts={facts} peak={peak} />
      <Steps report={report} batches={batches} release={facts} />
      {history === undefined || facts === undefined ? null : <Decisions entries={decisionsOf(history, facts)} />}
      <Analyses report={report} />
      <UnwellNodes report={report} nodes={nodes} />
      <p className="print-foot">
        Printed {momentText(new Date(now).toISOString())}. Times in {zoneText(now)}.{' '}
        {live.kind === 'reconnecting' || live.kind === 'ended'
          ? `Not live: data of ${clockText(new Date(live.staleSinceMs).toISOString())}.`
          : null}{' '}
        The cluster keeps the last sixteen actions of a Rollout.
      </p>
    </article>
  )
}

interface StepsProps extends Pick<PrintedReportProps, 'report' | 'batches'> {
  readonly release: PrintedRelease | undefined
}

function Steps({ report, batches, release }: StepsProps): ReactNode {
  return (
    <Table title="Steps" heads={['Step', 'Nodes', 'Then', 'State', 'Started', 'Ready', 'Took']}>
      {stepTimes(report, batches, release).map(({ index, size, nodes, pause, state, startedAt, readyAt }) => (
        <tr key={index}>
          <th scope="row">
            {index}: {size}
          </th>
          <td>{nodes}</td>
          <td>{pause}</td>
          <td>{state ?? '–'}</td>
          <td>{startedAt === undefined ? '–' : clockText(startedAt)}</td>
          <td>{readyAt === undefined ? '–' : clockText(readyAt)}</td>
          <td>{startedAt === undefined || readyAt === undefined ? '–' : timeSpanText(Date.parse(readyAt) - Date.parse(startedAt))}</td>
        </tr>
      ))}
    </Table>
  )
}

function Decisions({ entries }: { readonly entries: ReturnType<typeof decisionsOf> }): ReactNode {
  if (entries.length === 0)
    return (
      <>
        <h2>Who did what</h2>
        <p>No action and no direct change is on record.</p>
      </>
    )
  return (
    <Table title="Who did what" heads={['Time', 'Action', 'Who', 'Why', 'Result']}>
      {entries.map(({ id, at, title, who, why, look, detail }) => (
        <tr key={id}>
          <td>{at === undefined ? '–' : momentText(at)}</td>
          <th scope="row">{title}</th>
          <td>{cutText(who ?? '–', SHORT_TEXT)}</td>
          <td>{cutText(why ?? '–', SHORT_TEXT)}</td>
          <td>
            {look === undefined ? null : `${look.glyph} ${look.word}; `}
            {cutText(detail ?? '', SHORT_TEXT)}
          </td>
        </tr>
      ))}
    </Table>
  )
}

function Analyses({ report: { analyses = [] } }: Pick<PrintedReportProps, 'report'>): ReactNode {
  if (analyses.length === 0) return null
  return (
    <Table title="Analyses" heads={['Metric', 'Result', 'Last value', 'Limit', 'Message']}>
      {analyses.map(({ name, step, phase, required, measurements, limit, message }) => {
        const last = measurements.at(-1)
        const look = lookOfPhase(phase)
        return (
          <tr key={`${name} ${step ?? ''}`}>
            <th scope="row">{name}</th>
            <td>
              {look.glyph} {look.word}
              {required ? '' : ' (dry run)'}
            </td>
            <td>{last === undefined ? '–' : cutText(measuredText(last), SHORT_TEXT)}</td>
            <td>{limit === undefined ? '–' : limitText(limit)}</td>
            <td>{cutText(message ?? '–', SHORT_TEXT)}</td>
          </tr>
        )
      })}
    </Table>
  )
}

function UnwellNodes({ report, nodes }: Pick<PrintedReportProps, 'report' | 'nodes'>): ReactNode {
  const { failure } = report
  const details = new Map((failure?.failedNodes ?? []).map((one) => [one.node, one]))
  const printed = printedNodes(groupUnwell(failure, nodes?.values() ?? []), details)
  return (
    <>
      {printed.nodes.length === 0 ? (
        <>
          <h2>Nodes that failed or are not well</h2>
          <p>None.</p>
        </>
      ) : (
        <Table title="Nodes that failed or are not well" heads={['Node', 'Reason', 'Details']}>
          {printed.nodes.map(({ node, reason, details: text }) => (
            <tr key={node}>
              <th scope="row">{node}</th>
              <td>{reason}</td>
              <td>{cutText(text, SHORT_TEXT)}</td>
            </tr>
          ))}
        </Table>
      )}
      {printed.more === 0 ? null : <p>and {countText(printed.more, 'more node')}</p>}
    </>
  )
}

interface TableProps {
  readonly title: string
  readonly heads: readonly string[]
  readonly children: ReactNode
}

function Table({ title, heads, children }: TableProps): ReactNode {
  return (
    <>
      <h2>{title}</h2>
      <table>
        <thead>
          <tr>
            {heads.map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </>
  )
}
