import type { RolloutSummary } from '@tranche/api-schema'
import type { ReactNode } from 'react'
import { countText } from '../format/duration.ts'

/** Ends of the steps of a Rollout, in nodes. */
interface StepMark {
  readonly nodes: number
  readonly label: string
}

/** Properties of {@link ProgressBar}. */
interface ProgressBarProps {
  readonly nodes: RolloutSummary['nodes']
  readonly marks?: readonly StepMark[]
}

/** Nodes of a release as a bar: updated and available, updated and not available, failed. Its text says the same. */
export function ProgressBar({ nodes, marks = [] }: ProgressBarProps): ReactNode {
  const { desired, updated, updatedAvailable, failed } = nodes
  if (desired === 0) return <span className="quiet">no nodes</span>
  const bad = Math.min(failed, updated - updatedAvailable)
  const parts = [
    { tone: 'good', count: updatedAvailable },
    { tone: 'busy', count: updated - updatedAvailable - bad },
    { tone: 'bad', count: bad },
  ]
  const text = `${updatedAvailable} of ${countText(desired, 'node')} updated and available${updated > updatedAvailable ? `, ${updated - updatedAvailable} not available yet` : ''}`
  let start = 0
  return (
    <svg className="progress" viewBox="0 0 1000 10" preserveAspectRatio="none" role="img" aria-label={text}>
      <rect className="track" width="1000" height="10" />
      {parts.map(({ tone, count }) => {
        const x = start
        start += (count / desired) * 1000
        return <rect key={tone} className={`fill-${tone}`} x={x} width={start - x} height="10" />
      })}
      {marks.map(({ nodes: at, label }) => (
        <line key={label} className="mark" x1={(at / desired) * 1000} x2={(at / desired) * 1000} y1="0" y2="10" />
      ))}
    </svg>
  )
}
