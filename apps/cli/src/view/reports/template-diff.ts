import type { RevisionTemplate } from '@tranche/api-schema'
import { structuredPatch } from 'diff'
import { stringify } from 'yaml'
import type { Style } from '../styled-line.ts'
import type { Drawing } from './drawing.ts'

const CONTEXT_LINES = 3
/** Longest time that a comparison takes, in milliseconds. */
const TIMEOUT_MS = 1_000

/** Unified diff of two templates as YAML; empty if they are equal; undefined if they are too long and too different to compare. */
export function templateDiff(from: RevisionTemplate, to: RevisionTemplate, drawing: Drawing): readonly string[] | undefined {
  const title = ({ number, revision }: RevisionTemplate): string => `revision ${number} (${revision})`
  const options = { context: CONTEXT_LINES, timeout: TIMEOUT_MS }
  const patch = structuredPatch(title(from), title(to), yamlOf(from), yamlOf(to), undefined, undefined, options)
  if (patch === undefined) return undefined
  const { hunks } = patch
  if (hunks.length === 0) return []
  return [
    drawing.line(['bold', `--- ${title(from)}`]),
    drawing.line(['bold', `+++ ${title(to)}`]),
    ...hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
      drawing.line(['cyan', `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`]),
      ...lines.map((line) => drawing.line(...styled(line))),
    ]),
  ]
}

/** Sorts fields, so that only changes differ. */
function yamlOf({ template }: RevisionTemplate): string {
  return stringify(template, { sortMapEntries: true, lineWidth: 0 })
}

function styled(line: string): readonly [string | readonly [Style, string]] {
  if (line.startsWith('+')) return [['green', line]]
  return line.startsWith('-') ? [['red', line]] : [line]
}
