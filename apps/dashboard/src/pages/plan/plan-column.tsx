import type { ApiKey } from '@tranche/api-client'
import { type ReactNode, useId } from 'react'
import { ProblemNote } from '../../parts/problem-note.tsx'
import { planAdvice } from './plan-advice.ts'
import { PlanForm } from './plan-form.tsx'
import { commandOf, type PlanInputs } from './plan-inputs.ts'
import { PlanProgress } from './plan-progress.tsx'
import { PlanResult } from './plan-result.tsx'
import type { PlanState } from './use-plan.ts'

/** Properties of {@link PlanColumn}. */
interface PlanColumnProps {
  readonly rollout: ApiKey
  readonly title: string
  readonly inputs: PlanInputs
  readonly onInputs: (inputs: PlanInputs) => void
  readonly plan: PlanState
  /** Whether the server is busy with the other plan. */
  readonly isBlocked: boolean
  /** Length of the timeline in seconds, the same for plans side by side. */
  readonly wholeSeconds: number
  /** Text in the name of a node. */
  readonly node: string
  readonly onNode: (node: string) => void
}

/** One plan: its inputs, and its forecast, progress or problem. */
export function PlanColumn(props: PlanColumnProps): ReactNode {
  const { rollout, title, inputs, onInputs, plan, isBlocked, ...rest } = props
  const { result, error, isRunning, run, cancel } = plan
  const id = useId()
  const isWaiting = result === undefined && error === null && !isRunning
  return (
    <section aria-labelledby={id} className="plan-column">
      <h2 id={id}>{title}</h2>
      <PlanForm inputs={inputs} onSubmit={(next) => (isSame(next, inputs) ? isRunning || run() : onInputs(next))} />
      {isRunning ? <PlanProgress onCancel={cancel} /> : null}
      {!isRunning && error !== null ? <PlanProblem error={error} retry={run} command={commandOf(rollout, inputs)} /> : null}
      {isWaiting ? (
        <p className="quiet" role="status">
          {isBlocked ? 'Waits for the other plan: the server runs one forecast at a time.' : 'No forecast yet.'}
        </p>
      ) : null}
      {result === undefined || error !== null ? null : (
        <PlanResult {...rest} rollout={rollout} dated={result} command={commandOf(rollout, inputs)} />
      )}
    </section>
  )
}

function isSame(a: PlanInputs, b: PlanInputs): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

/** Properties of {@link PlanProblem}. */
interface PlanProblemProps {
  readonly error: Error
  readonly retry: () => void
  readonly command: string
}

function PlanProblem({ error, retry, command }: PlanProblemProps): ReactNode {
  const advice = planAdvice(error)
  return (
    <>
      <ProblemNote error={error} retry={retry} />
      {advice === null ? null : <p>{advice.text}</p>}
      {advice?.suggestsCommand === true ? (
        <pre className="command">
          <code>{command}</code>
        </pre>
      ) : null}
    </>
  )
}
