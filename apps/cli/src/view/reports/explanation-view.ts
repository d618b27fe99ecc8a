import type { Explanation } from '@tranche/api-schema'
import { displayWidth, padToWidth } from '../styled-line.ts'
import type { Drawing } from './drawing.ts'
import { wrapText } from '../wrap-text.ts'

const WIDEST_TEXT = 120

/** Formats an explanation: the answer, the rule, the facts and what would change it. Pure. */
export function explanationView({ subject, answer, rule, facts, next }: Explanation, drawing: Drawing): readonly string[] {
  const width = Math.max(...facts.map(({ name }) => displayWidth(name)), 'rule'.length, 'next'.length)
  const row = (name: string, value: string): readonly string[] =>
    wrapText(value, Math.max(20, Math.min(drawing.width, WIDEST_TEXT) - width - 4)).map((text, at) =>
      drawing.line(['dim', `  ${padToWidth(at === 0 ? name : '', width)}  `], text),
    )
  return [
    drawing.line(['bold', subject]),
    ...wrapText(answer, Math.min(drawing.width, WIDEST_TEXT)).map((text) => drawing.line(text)),
    ...row('rule', rule),
    ...facts.flatMap(({ name, value }) => row(name, value)),
    ...(next === undefined ? [] : row('next', next)),
  ]
}
