import type { RolloutReport } from '@tranche/api-schema'
import type { ReactNode } from 'react'
import { countText, timeSpanText } from '../../format/duration.ts'
import { ProgressBar } from '../../parts/progress-bar.tsx'
import { Until } from '../../parts/time.tsx'

type Step = RolloutReport['steps'][number]

/** The steps of a Rollout as a track: those done, the present one with its state, and those ahead. */
export function StepTrack({ report }: { readonly report: RolloutReport }): ReactNode {
  const { steps, nodes, rollbackFrom } = report
  const marks = steps.map(({ index, nodes: size }) => ({ label: String(index), nodes: size }))
  return (
    <section aria-labelledby="steps-title">
      <h2 id="steps-title">
        Steps{' '}
        <span className="count">
          {nodes.updatedAvailable} of {countText(nodes.desired, 'node')} {rollbackFrom === undefined ? 'updated' : 'rolled back'} and
          available
        </span>
      </h2>
      <ProgressBar nodes={nodes} marks={marks} />
      <ol className="steps">
        {steps.map((step) => (
          <StepItem key={step.index} step={step} report={report} />
        ))}
      </ol>
    </section>
  )
}

function StepItem({ step, report }: { readonly step: Step; readonly report: RolloutReport }): ReactNode {
  const { index, replicas, nodes, pause, state } = step
  const { remaining } = report
  return (
    <li className={`step step-${state}`} aria-current={state === 'current' ? 'step' : undefined}>
      <span className="step-name">
        <span aria-hidden="true">{state === 'done' ? '✓' : state === 'current' ? '▶' : '·'}</span> {index}. <bdi>{replicas}</bdi>
      </span>
      <span className="quiet">{countText(nodes, 'node')}</span>
      <span>{pauseWords(pause)}</span>
      {state === 'current' && report.step !== undefined ? <strong>{report.step.state}</strong> : null}
      {state === 'current' && remaining !== undefined ? <Until at={remaining.until} /> : null}
      <span className="visually-hidden">{state}</span>
    </li>
  )
}

/** @param pause as the report has it: `person`, or seconds such as `600s` */
function pauseWords(pause: string | undefined): string {
  if (pause === undefined) return 'no pause'
  return pause === 'person' ? 'then a person approves' : `then ${timeSpanText(Number.parseInt(pause, 10) * 1000)}`
}
