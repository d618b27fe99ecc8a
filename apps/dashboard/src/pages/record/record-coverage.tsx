import type { ReactNode } from 'react'
import { countText } from '../../format/duration.ts'
import { textOfKey } from '../../live/release-store.ts'
import type { Coverage } from './coverage.ts'
import type { ReadHistory } from './history-reader.ts'

/** Properties of {@link RecordCoverage}. */
interface RecordCoverageProps {
  readonly coverage: Coverage
  /** Rollouts that are being read or wait for it. */
  readonly pending: number
  /** Rollouts that are not read before the user asks for it. */
  readonly unasked: number
  /** Reads them. */
  readonly onMore: () => void
  readonly onAgain: (keys: Coverage['read']) => void
}

/** How much of the record was read, and what was not. */
export function RecordCoverage({ coverage, pending, unasked, onMore, onAgain }: RecordCoverageProps): ReactNode {
  const { read, failed, notRead, outdated } = coverage
  const whole = read.length + failed.length + notRead.length
  return (
    <div className="coverage">
      <p role="status" aria-live={pending > 0 ? 'off' : 'polite'}>
        {pending > 0 ? 'Reading… ' : ''}
        {read.length} of {countText(whole, 'Rollout')} read{unasked > 0 ? `; not read are ${unasked} that changed earlier.` : '.'}
      </p>
      {unasked > 0 ? (
        <button type="button" onClick={onMore}>
          Read {unasked} more
        </button>
      ) : null}
      {outdated.length > 0 ? (
        <p>
          {outdated.length === 1
            ? 'One of them has changed since it was read. '
            : `${outdated.length} of them have changed since they were read. `}
          <button type="button" onClick={() => onAgain(outdated)}>
            Read again
          </button>
        </p>
      ) : null}
      {failed.length > 0 ? <Failed failed={failed} onAgain={onAgain} /> : null}
    </div>
  )
}

/** Most Rollouts that are named with their problem. */
const MOST_NAMED = 20

function Failed({
  failed,
  onAgain,
}: {
  readonly failed: readonly ReadHistory[]
  readonly onAgain: (keys: Coverage['read']) => void
}): ReactNode {
  return (
    <div className="problem" role="alert">
      <p>
        <strong>{countText(failed.length, 'Rollout')} could not be read</strong>
      </p>
      <ul className="names">
        {failed.slice(0, MOST_NAMED).map(({ key, error }) => (
          <li key={textOfKey(key)}>
            <bdi>{textOfKey(key)}</bdi>: <span className="prose">{error instanceof Error ? error.message : String(error)}</span>
          </li>
        ))}
        {failed.length > MOST_NAMED ? <li>and {failed.length - MOST_NAMED} more</li> : null}
      </ul>
      <button type="button" onClick={() => onAgain(failed.map(({ key }) => key))}>
        Try again
      </button>
    </div>
  )
}
