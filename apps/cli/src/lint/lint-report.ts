import { shownValue } from '@tranche/validation'
import { createColors } from 'picocolors'
import { printable } from '../view/printable.ts'
import type { DocumentIdentity, LintFinding, LintResult, PinnedIn } from './lint-documents.ts'

/** Formats the findings by document, each with its fix, and a summary. */
export function lintReport({ findings, documents, judged, pinned }: LintResult, colors: boolean): string {
  const paint = createColors(colors)
  const groups = Map.groupBy(findings, ({ document }) => document)
  const blocks = [...groups].map(([document, ofDocument]) => {
    const lines = ofDocument.flatMap((finding) => findingLines(finding, paint))
    return [paint.bold(printable(titleOf(document))), ...lines, ''].join('\n')
  })
  const pins = pinned.length === 0 ? [] : [...pinned.map(pinnedLine), '']
  return `${[...blocks, ...pins, summaryOf(findings, documents, judged)].join('\n')}\n`
}

type Paint = ReturnType<typeof createColors>

function findingLines({ level, path, value, message, fix, rule }: LintFinding, paint: Paint): readonly string[] {
  const mark = level === 'problem' ? paint.red('problem') : paint.yellow('advice ')
  const what = rule === 'Syntax' ? path : `${path} is ${value === undefined ? 'missing' : shownValue(value)}`
  return [
    `  ${mark}  ${printable(what)}`,
    `           ${printable(message)} ${paint.dim(`(${rule})`)}`,
    `           ${paint.green('fix:')} ${printable(fix)}`,
  ]
}

/** Most objects that a line names. */
const MOST_NAMED = 10

function pinnedLine({ document: { namespace, name }, policy, objects }: PinnedIn): string {
  const more = objects.length > MOST_NAMED ? ` and ${objects.length - MOST_NAMED} more` : ''
  const daemonSet = `${namespace === undefined ? '' : `${namespace}/`}${name ?? 'without a name'}`
  return printable(
    `DaemonSet ${daemonSet}: pinned by copies (config: Pin of ReleasePolicy ${policy}): ${objects.slice(0, MOST_NAMED).join(', ')}${more}`,
  )
}

function titleOf({ source, index, line, kind, namespace, name }: DocumentIdentity): string {
  const file = source === '-' ? 'standard input' : source
  const place = `${file}, document ${index} (line ${line})`
  if (kind === undefined) return place
  return `${place}: ${kind} ${namespace === undefined ? '' : `${namespace}/`}${name ?? 'without a name'}`
}

function summaryOf(findings: readonly LintFinding[], documents: number, judged: number): string {
  const problems = findings.filter(({ level }) => level === 'problem').length
  const advice = findings.length - problems
  const read = counted(documents, 'document', 'documents')
  const looked = judged === 0 ? `no checked kinds in ${read}` : `${counted(judged, 'object', 'objects')} checked in ${read}`
  const found = problems === 0 ? 'no problems' : counted(problems, 'problem', 'problems')
  return `${looked}: ${found}${advice === 0 ? '' : `, ${counted(advice, 'piece', 'pieces')} of advice`}`
}

function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`
}
