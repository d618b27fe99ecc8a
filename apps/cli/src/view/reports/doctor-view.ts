import type { DoctorFinding } from '@tranche/api-schema'
import type { Style } from '../styled-line.ts'
import type { Drawing } from './drawing.ts'
import { wrapText } from '../wrap-text.ts'

const WIDEST_TEXT = 120
const words: Readonly<Record<DoctorFinding['state'], readonly [Style, string]>> = {
  ok: ['green', 'ok'],
  note: ['cyan', 'note'],
  problem: ['red', 'problem'],
  unknown: ['yellow', 'unknown'],
}

/** Formats findings with their fixes. Pure. */
export function doctorView(findings: readonly DoctorFinding[], drawing: Drawing): readonly string[] {
  const width = Math.max(...findings.map(({ check }) => check.length))
  const textWidth = Math.max(20, Math.min(drawing.width, WIDEST_TEXT) - width - 11)
  return findings.flatMap(({ check, state, message, fix, command }) => {
    const [style, word] = words[state]
    const [first = '', ...more] = wrapText(message, textWidth)
    const indent = ' '.repeat(width + 11)
    return [
      drawing.line([style, word.padEnd(9)], check.padEnd(width), '  ', first),
      ...more.map((row) => drawing.line(indent, row)),
      ...(fix === undefined ? [] : wrapText(fix, textWidth).map((row) => drawing.line(indent, ['dim', row]))),
      ...(command === undefined ? [] : wrapText(command, textWidth).map((row) => drawing.line(indent, ['dim', row]))),
    ]
  })
}
