import type { ReactNode } from 'react'
import { countText } from '../../../format/duration.ts'
import { clockText, momentText } from '../../../format/moment.ts'
import { answerText, lookOfPhase, type AnalysisMeasurement, measuredText } from './analysis-texts.ts'

/** Most measurements in a table: an older one is only in the chart. */
const MOST_ROWS = 100

/** Properties of {@link MeasurementTable}. */
interface MeasurementTableProps {
  /** Name of the analysis. */
  readonly name: string
  readonly measurements: readonly AnalysisMeasurement[]
}

/** The measurements of the chart, newest first, with the answers word for word. */
export function MeasurementTable({ name, measurements }: MeasurementTableProps): ReactNode {
  if (measurements.length === 0) return <p className="quiet">Not measured yet.</p>
  return (
    <details>
      <summary>{countText(measurements.length, 'measurement')} seen</summary>
      <p className="hint">The release keeps the last five; this page adds to them while it is open.</p>
      <table className="plain" aria-label={`Measurements of ${name}`}>
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">Value</th>
            <th scope="col">Result</th>
          </tr>
        </thead>
        <tbody>
          {measurements
            .slice(-MOST_ROWS)
            .toReversed()
            .map((measurement) => (
              <Row key={measurement.at} measurement={measurement} />
            ))}
        </tbody>
      </table>
    </details>
  )
}

function Row({ measurement }: { readonly measurement: AnalysisMeasurement }): ReactNode {
  const { at, phase, sample } = measurement
  const { tone, glyph, word } = lookOfPhase(phase)
  const answer = answerText(measurement)
  return (
    <>
      <tr>
        <td>
          <time dateTime={at} title={momentText(at)}>
            {clockText(at)}
          </time>
        </td>
        <td>{sample === undefined ? '–' : measuredText(measurement)}</td>
        <td className={`tone-${tone}`}>
          <span aria-hidden="true">{glyph}</span> {word}
        </td>
      </tr>
      {answer === undefined ? null : (
        <tr className="answer">
          <td colSpan={3} className="prose hint">
            {answer}
          </td>
        </tr>
      )}
    </>
  )
}
