import type { RolloutReport } from '@tranche/api-schema'
import type { ReactNode } from 'react'
import { countText } from '../../format/duration.ts'

/** Maximum number of places drawn one by one; more are drawn in proportion. */
const MOST_CELLS = 60

/** The budget of unavailable nodes: how many may be down, and who uses it. */
export function BudgetPicture({ report: { budget, phase } }: { readonly report: RolloutReport }): ReactNode {
  if (budget === undefined) return null
  const { limit, ours, others, dead, exempt } = budget
  const unreachable = budget.unreachable - exempt
  const parts = [
    { tone: 'busy', glyph: '▶', count: ours, text: `${ours} being updated` },
    { tone: 'wait', glyph: '!', count: others, text: `${others} ${phase === 'Progressing' ? 'old and not available' : 'not available'}` },
    { tone: 'quiet', glyph: '?', count: unreachable, text: `${unreachable} NotReady or in maintenance` },
  ]
  const used = ours + others + unreachable
  const free = Math.max(0, limit - used)
  const cells = Math.max(limit, used)
  return (
    <section aria-labelledby="budget-title" className="budget">
      <h2 id="budget-title">Budget</h2>
      <p>
        {used > limit ? (
          <strong className="tone-bad">
            {countText(used, 'node')} down, and only {limit} allowed
          </strong>
        ) : (
          <>
            {used} of {limit} allowed {limit === 1 ? 'node is' : 'nodes are'} down{used === limit ? ': used up' : ''}
          </>
        )}
      </p>
      {exempt === 0 ? null : (
        <p className="hint">
          {countText(exempt, 'dead node')} more {exempt === 1 ? 'does' : 'do'} not count
        </p>
      )}
      {dead === exempt ? null : (
        <p className="hint">
          {countText(dead, 'dead node')} {dead === 1 ? 'counts' : 'count'}: the policy leaves out fewer
        </p>
      )}
      <div className="budget-bar" role="img" aria-label={parts.map(({ text }) => text).join(', ')}>
        {parts.map(({ tone, glyph, count }) => (
          <Cells key={tone} className={`cell fill-${tone}`} glyph={glyph} count={count} of={cells} />
        ))}
        <Cells className="cell free" glyph="" count={free} of={cells} />
      </div>
      <ul className="legend">
        {parts
          .filter(({ count }) => count > 0)
          .map(({ tone, glyph, text }) => (
            <li key={tone}>
              <span className={`cell fill-${tone}`} aria-hidden="true">
                {glyph}
              </span>{' '}
              {text}
            </li>
          ))}
      </ul>
    </section>
  )
}

interface CellsProps {
  readonly className: string
  readonly glyph: string
  readonly count: number
  readonly of: number
}

function Cells({ className, glyph, count, of }: CellsProps): ReactNode {
  const drawn = of <= MOST_CELLS ? count : Math.round((count / of) * MOST_CELLS)
  return Array.from({ length: drawn }, (_, at) => (
    <span key={at} className={className} aria-hidden="true">
      {glyph}
    </span>
  ))
}
