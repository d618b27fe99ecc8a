import {
  asciiGlyphs,
  type Glyphs,
  type LinePainter,
  loadTextDrawing,
  progressBar,
  stepMarks,
  type StyledSpan,
  unicodeGlyphs,
} from '@tranche/cli'
import { durationText } from '@tranche/clock'
import { asciiCells, type CellGlyphs, cellStyles, stateWords, unicodeCells } from './cell-glyphs.ts'
import { nodeMap, type ZoneRow } from './node-map.ts'
import { countStates, type NodeState, type ReleaseSnapshot } from './release-snapshot.ts'

const { createLinePainter, displayWidth, padToWidth, shorten, wrapText } = await loadTextDrawing()

/** Size and capabilities of the terminal. */
export interface ViewOptions {
  /** Columns; no line is wider. */
  readonly width: number
  /** Maximum number of lines. */
  readonly height: number
  readonly colors: boolean
  readonly unicode: boolean
}

const MOST_ZONE_ROWS = 8
const MOST_FAILING_ROWS = 5
const MOST_EVENT_ROWS = 6
const MOST_WAITING_ROWS = 3

/**
 * Draws a release: versions, progress, wait, failing nodes, node map and last events. Pure: the same snapshot gives the
 * same lines.
 *
 * @returns at most `height` lines without line ends; the least important sections are omitted first
 */
export function renderReleaseView(snapshot: ReleaseSnapshot, options: ViewOptions): readonly string[] {
  const pen: Pen = {
    ...options,
    glyphs: options.unicode ? unicodeGlyphs : asciiGlyphs,
    cells: options.unicode ? unicodeCells : asciiCells,
    painter: createLinePainter(options.width, options.colors),
  }
  const lines = fitted(
    [
      { weight: 5, lines: headerLines(snapshot, pen) },
      { weight: 2, lines: barLines(snapshot, pen) },
      { weight: 4, lines: waitingLines(snapshot, pen) },
      { weight: 3, lines: failingLines(snapshot, pen) },
      { weight: 1, lines: nodeLines(snapshot, pen) },
      { weight: 0, lines: eventLines(snapshot, pen) },
    ],
    options.height,
  )
  return options.unicode ? lines : lines.map((line) => line.replaceAll('…', '~').replaceAll('→', '->'))
}

interface Pen extends ViewOptions {
  readonly glyphs: Glyphs
  readonly cells: CellGlyphs
  readonly painter: LinePainter
}

/** A section of lines; all but the first begin with an empty line. */
interface Section {
  /** Sections with a higher weight get their rows first. */
  readonly weight: number
  readonly lines: readonly string[]
}

/** Minimum rows of a section: an empty line and a heading alone are useless. */
const FEWEST_ROWS = 3

function fitted(sections: readonly Section[], height: number): string[] {
  let left = height
  const rows = new Map<Section, number>()
  for (const section of [...sections].sort((a, b) => b.weight - a.weight)) {
    const given = Math.min(section.lines.length, left)
    if (given < Math.min(FEWEST_ROWS, section.lines.length)) continue
    rows.set(section, given)
    left -= given
  }
  return sections.flatMap((section) => section.lines.slice(0, rows.get(section) ?? 0))
}

function headerLines(snapshot: ReleaseSnapshot, pen: Pen): string[] {
  const { fromVersion, toVersion, startedAtMs, endedAtMs, nowMs } = snapshot
  const versions = fromVersion === null || fromVersion === toVersion ? toVersion : `${fromVersion} → ${toVersion}`
  const name = snapshot.rollout === null ? `daemonset ${snapshot.daemonSet}` : snapshot.daemonSet
  const elapsed: StyledSpan[] = startedAtMs === null ? [] : [['dim', `   ${durationText((endedAtMs ?? nowMs) - startedAtMs)}`]]
  return [pen.painter.line(['bold', name], `   ${versions}`, ...elapsed), pen.painter.line(...phaseSpans(snapshot))]
}

function phaseSpans({ phase, step, rollout, paused }: ReleaseSnapshot): StyledSpan[] {
  if (rollout === null) return [['dim', 'no Rollout: the DaemonSet controller updates the pods']]
  if (phase === null) return [['dim', 'the controller has not reconciled the Rollout yet']]
  const word: StyledSpan = [phase === 'Healthy' ? 'green' : phase === 'Progressing' ? 'cyan' : 'yellow', phase]
  if (phase !== 'Progressing') return [word]
  const held: StyledSpan[] = paused ? ['   ', ['yellow', 'paused']] : []
  if (step === null) return [word, ...held]
  return [word, `   step ${step.index} of ${step.count}   `, [step.state === 'StepPaused' ? 'yellow' : 'dim', step.state], ...held]
}

function barLines(snapshot: ReleaseSnapshot, pen: Pen): string[] {
  const counts = countStates(snapshot.nodes)
  const desired = snapshot.nodes.length
  if (desired === 0) return ['', pen.painter.line(['dim', 'no eligible nodes'])]
  const label = ` ${counts.updated}/${desired} nodes`
  const width = Math.max(10, pen.width - label.length)
  const bar = progressBar({ desired, updated: counts.updated, updating: counts.updating + failingOnCanary(snapshot) }, width, pen.glyphs)
  const current = snapshot.phase === 'Progressing' ? (snapshot.step?.index ?? null) : null
  const marks = stepMarks(snapshot.steps, current, { width, desired, glyphs: pen.glyphs })
  return ['', pen.painter.line(...bar, ['bold', label]), ...(marks.length > 0 ? [pen.painter.line(...marks)] : [])]
}

function failingOnCanary(snapshot: ReleaseSnapshot): number {
  return snapshot.nodes.filter((node) => node.state === 'failing' && node.onCanary).length
}

function waitingLines({ waiting, nowMs }: ReleaseSnapshot, pen: Pen): string[] {
  if (waiting === null) return []
  const since = waiting.sinceMs === null ? '' : ` for ${durationText(nowMs - waiting.sinceMs)}`
  const rows = wrapText(waiting.message, pen.width - 2).slice(0, MOST_WAITING_ROWS)
  return ['', pen.painter.line(['bold', 'Waiting'], ['dim', since]), ...rows.map((row) => pen.painter.line(`  ${row}`))]
}

function failingLines(snapshot: ReleaseSnapshot, pen: Pen): string[] {
  const failing = snapshot.nodes.filter((node) => node.state === 'failing').sort((a, b) => (a.sinceMs ?? 0) - (b.sinceMs ?? 0))
  if (failing.length === 0) return []
  const nameWidth = Math.min(32, Math.max(...failing.slice(0, MOST_FAILING_ROWS).map((node) => displayWidth(node.name))))
  const rows = failing.slice(0, MOST_FAILING_ROWS).map((node) => {
    const since: StyledSpan[] = node.sinceMs === undefined ? [] : [['dim', `  for ${durationText(snapshot.nowMs - node.sinceMs)}`]]
    return pen.painter.line(
      '  ',
      padToWidth(shorten(node.name, nameWidth), nameWidth),
      '  ',
      ['red', node.reason ?? 'not running'],
      ...since,
    )
  })
  const more = failing.length - rows.length
  const reasons = more > 0 ? [pen.painter.line(['dim', `  and ${more} more`])] : []
  return ['', pen.painter.line(['bold', `Failing on ${failing.length} ${failing.length === 1 ? 'node' : 'nodes'}`]), ...rows, ...reasons]
}

function nodeLines(snapshot: ReleaseSnapshot, pen: Pen): string[] {
  if (snapshot.nodes.length === 0) return []
  const labelWidth = Math.min(16, Math.max(...snapshot.nodes.map((node) => displayWidth(node.zone))))
  const countWidth = 2 * String(snapshot.nodes.length).length + 3
  const rows = nodeMap(snapshot.nodes, Math.max(5, pen.width - labelWidth - countWidth - 4))
  const shown = [...rows].sort((a, b) => b.failing - a.failing).slice(0, MOST_ZONE_ROWS)
  const lines = rows.filter((row) => shown.includes(row)).map((row) => zoneLine(row, labelWidth, pen))
  const more = rows.length - shown.length
  return ['', ...legendLines(snapshot, pen), ...lines, ...(more > 0 ? [pen.painter.line(['dim', `  and ${more} more zones`])] : [])]
}

/** Number of nodes that are down, and the present states with sign and count. */
function legendLines(snapshot: ReleaseSnapshot, pen: Pen): string[] {
  const counts = countStates(snapshot.nodes)
  const occurring = (Object.keys(counts) as NodeState[]).filter((state) => counts[state] > 0)
  const down = snapshot.nodes.length - counts.updated - counts.old
  const budget = snapshot.maxUnavailable === null ? '' : `, maxUnavailable ${snapshot.maxUnavailable}`
  const words = occurring.flatMap((state): StyledSpan[] => [
    [cellStyles[state], pen.cells[state]],
    ` ${counts[state]} ${stateWords[state]}  `,
  ])
  return [pen.painter.line(['bold', 'Nodes'], ['dim', ` ${down} down${budget}`]), pen.painter.line('  ', ...words)]
}

function zoneLine(row: ZoneRow, labelWidth: number, pen: Pen): string {
  const label = labelWidth === 0 ? '' : `${padToWidth(shorten(row.zone, labelWidth), labelWidth)}  `
  return pen.painter.line(['dim', `  ${label}`], ...cellSpans(row, pen), ['dim', `  ${row.updated}/${row.nodes}`])
}

/** Merges adjacent cells of one state into a span, so that a line has few colour codes. */
function cellSpans(row: ZoneRow, pen: Pen): StyledSpan[] {
  const spans: StyledSpan[] = []
  for (let from = 0; from < row.cells.length; ) {
    const state = row.cells[from]!
    let to = from
    while (row.cells[to] === state) to++
    spans.push([cellStyles[state], pen.cells[state].repeat(to - from)])
    from = to
  }
  return spans
}

function eventLines(snapshot: ReleaseSnapshot, pen: Pen): string[] {
  const events = snapshot.events.slice(0, MOST_EVENT_ROWS)
  if (events.length === 0) return []
  const lines = events.map((event) =>
    pen.painter.line(
      ['dim', `  ${durationText(snapshot.nowMs - event.atMs).padStart(6)}  `],
      [event.warning ? 'yellow' : 'cyan', event.reason],
      `  ${event.message}`,
      ...(event.object === `Rollout/${snapshot.rollout}` ? [] : [['dim', `  ${event.object}`] as const]),
    ),
  )
  return ['', pen.painter.line(['bold', 'Events']), ...lines]
}
