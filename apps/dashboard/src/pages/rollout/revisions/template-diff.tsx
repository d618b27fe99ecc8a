import { type ReactNode, useMemo, useState } from 'react'
import { countText } from '../../../format/duration.ts'
import type { Template } from './compare-images.ts'
import { type DiffRow, diffRows, foldRows } from './diff-rows.ts'
import { yamlOf } from './template-yaml.ts'

/** Most lines that are shown. */
const MOST_ROWS = 2_000

/** Properties of {@link TemplateDiff}. */
interface TemplateDiffProps {
  readonly from: Template
  readonly to: Template
}

/** The lines in which two pod templates differ, as YAML. A chunk of its own. */
export function TemplateDiff({ from, to }: TemplateDiffProps): ReactNode {
  const [isWhole, setWhole] = useState(false)
  const rows = useMemo(() => diffRows(yamlOf(from), yamlOf(to)), [from, to])
  if (rows === undefined) return <p>The templates are too long and too different to compare here. Compare them with kubectl.</p>
  const added = rows.filter(({ sign }) => sign === '+').length
  const removed = rows.filter(({ sign }) => sign === '-').length
  if (added + removed === 0) return <p>The pod templates are equal.</p>
  return (
    <div className="diff-box">
      <p>
        <span className="tone-good">{countText(added, 'line')} added</span>,{' '}
        <span className="tone-bad">{countText(removed, 'line')} removed</span>{' '}
        <label className="diff-whole">
          <input type="checkbox" checked={isWhole} onChange={(event) => setWhole(event.target.checked)} /> Show the whole template
        </label>
      </p>
      <Rows rows={rows} isWhole={isWhole} />
    </div>
  )
}

function Rows({ rows, isWhole }: { readonly rows: readonly DiffRow[]; readonly isWhole: boolean }): ReactNode {
  const shown = rows.slice(0, MOST_ROWS)
  const blocks = isWhole ? [{ kind: 'rows' as const, rows: shown }] : foldRows(shown)
  return (
    <ul className="diff" aria-label="Changed lines of the pod template">
      {blocks.map((block, at) =>
        block.kind === 'folded' ? (
          <li key={at} className="diff-folded">
            {countText(block.lines, 'unchanged line')}
          </li>
        ) : (
          block.rows.map((row, line) => <Row key={`${at} ${line}`} row={row} />)
        ),
      )}
      {rows.length > MOST_ROWS ? <li className="diff-folded">{countText(rows.length - MOST_ROWS, 'more line')}</li> : null}
    </ul>
  )
}

function Row({ row: { sign, text } }: { readonly row: DiffRow }): ReactNode {
  switch (sign) {
    case '+':
      return (
        <li className="diff-added">
          <span aria-hidden="true">+</span>
          <ins>
            <span className="visually-hidden">added: </span>
            {text}
          </ins>
        </li>
      )
    case '-':
      return (
        <li className="diff-removed">
          <span aria-hidden="true">−</span>
          <del>
            <span className="visually-hidden">removed: </span>
            {text}
          </del>
        </li>
      )
    case ' ':
      return (
        <li>
          <span />
          <span>{text}</span>
        </li>
      )
  }
}
