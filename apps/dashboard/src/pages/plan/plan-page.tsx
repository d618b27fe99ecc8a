import type { ApiKey } from '@tranche/api-client'
import { type ReactNode, useMemo } from 'react'
import { useSummary } from '../../ports/use-fleet.ts'
import { Crumbs } from '../../parts/crumbs.tsx'
import { usePorts } from '../../ports/dashboard-ports.ts'
import { comparePlans } from './compare-plans.ts'
import { PlanColumn } from './plan-column.tsx'
import { type PlanQuery, planQueryOf, urlQueryOf } from './plan-inputs.ts'
import { lengthOf } from './plan-timeline.ts'
import { type PlanState, usePlan } from './use-plan.ts'

/** Properties of {@link PlanPage}. */
interface PlanPageProps {
  readonly rollout: ApiKey
  readonly query: Readonly<Record<string, string>>
}

/** What would happen: a forecast of the release under assumptions, and a second one beside it with the differences in words. */
export function PlanPage({ rollout, query }: PlanPageProps): ReactNode {
  const { go } = usePorts()
  const shown = planQueryOf(query)
  const { first, second } = shown
  const a = usePlan(rollout, first, true)
  const b = usePlan(rollout, second ?? first, second !== null && !a.isRunning)
  const change = (next: Partial<PlanQuery>): void => go({ view: 'plan', key: rollout, query: urlQueryOf({ ...shown, ...next }) }, 'replace')
  const columns = {
    rollout,
    node: shown.node,
    wholeSeconds: longestOf(a, second === null ? a : b),
    onNode: (node: string) => change({ node }),
  }
  return (
    <main id="main" className="plan">
      <header className="rollout-header">
        <Crumbs rollout={rollout} />
        <h1>
          What if… <bdi className="quiet">{rollout.name}</bdi>
        </h1>
        <p className="hint">
          The server simulates the release in virtual time on a copy of the cluster, with the same programs. Nothing in the cluster changes.
        </p>
        <p>
          {second === null ? (
            <button type="button" onClick={() => change({ second: first })}>
              Compare with a second plan
            </button>
          ) : (
            <button type="button" onClick={() => change({ second: null })}>
              Remove plan B
            </button>
          )}
        </p>
      </header>
      {second === null ? null : <Differences a={a} b={b} />}
      <div className={second === null ? '' : 'halves'}>
        <PlanColumn
          {...columns}
          title={second === null ? 'Plan' : 'Plan A'}
          inputs={first}
          plan={a}
          isBlocked={b.isRunning}
          onInputs={(next) => change({ first: next })}
        />
        {second === null ? null : (
          <PlanColumn
            {...columns}
            title="Plan B"
            inputs={second}
            plan={b}
            isBlocked={a.isRunning}
            onInputs={(next) => change({ second: next })}
          />
        )}
      </div>
      <Freshness rollout={rollout} plan={a} />
    </main>
  )
}

function longestOf(...plans: readonly PlanState[]): number {
  return Math.max(1, ...plans.map(({ result }) => (result === undefined ? 0 : lengthOf(result.forecast))))
}

function Differences({ a, b }: { readonly a: PlanState; readonly b: PlanState }): ReactNode {
  const [before, after] = [a.result?.forecast, b.result?.forecast]
  const sentences = useMemo(() => (before === undefined || after === undefined ? null : comparePlans(before, after)), [before, after])
  return (
    <section aria-labelledby="differences-title" role="status">
      <h2 id="differences-title">Differences</h2>
      {sentences === null ? <p className="quiet">They appear here once both forecasts are done.</p> : null}
      {sentences?.length === 0 ? <p>None: both plans lead to the same release.</p> : null}
      {sentences === null || sentences.length === 0 ? null : (
        <ul className="differences">
          {sentences.map((sentence) => (
            <li key={sentence}>
              <bdi>{sentence}</bdi>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

/** Says when the Rollout has changed since the forecast: it would be another one now. */
function Freshness({ rollout, plan }: { readonly rollout: ApiKey; readonly plan: PlanState }): ReactNode {
  const summary = useSummary(rollout)
  const { result } = plan
  const isOld = result?.resourceVersion !== undefined && summary !== undefined && summary.resourceVersion !== result.resourceVersion
  return isOld ? (
    <p className="hint" role="status">
      The Rollout has changed since this forecast. A new one may differ.
    </p>
  ) : null
}
