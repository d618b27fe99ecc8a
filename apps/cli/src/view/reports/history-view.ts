import type { HistoryReport, RevisionReport } from '@tranche/api-schema'
import { durationText } from '@tranche/clock'
import { parseTime } from '@tranche/kube-types'
import type { Style } from '../styled-line.ts'
import type { Drawing } from './drawing.ts'
import { ageText, shortImage } from './report-words.ts'
import { type Column, isTableCut, tableLines } from './table.ts'

type HistoryRelease = NonNullable<HistoryReport['releases']>[number]
type HistoryAction = HistoryReport['actions'][number] | HistoryReport['observedChanges'][number]

/** Formats revisions, releases and actions as one table each, newest first. Pure. */
export function historyView(
  { revisions, heldRevisions, releases = [], actions, observedChanges }: HistoryReport,
  drawing: Drawing,
): readonly string[] {
  const acts = [...actions, ...observedChanges].sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0))
  const heldBecause = new Map(heldRevisions.map(({ revision, reason }) => [revision, reason ?? 'held']))
  const [ofRevisions, ofReleases, ofActs] = [
    withoutEmpty(revisions, revisionColumns(heldBecause, drawing.nowMs)),
    releaseColumns(drawing.nowMs),
    actColumns(drawing.nowMs),
  ]
  const isCut =
    isTableCut(revisions, ofRevisions, drawing) || isTableCut(releases, ofReleases, drawing) || isTableCut(acts, ofActs, drawing)
  return [
    ...tableLines(revisions, ofRevisions, drawing),
    ...(releases.length === 0 ? [] : ['', ...tableLines(releases, ofReleases, drawing)]),
    ...(acts.length === 0 ? [] : ['', ...tableLines(acts, ofActs, drawing)]),
    ...(isCut ? ['', drawing.line(['dim', '-o wide shows all texts'])] : []),
  ]
}

function revisionColumns(heldBecause: ReadonlyMap<string | undefined, string>, nowMs: number): readonly Column<RevisionReport>[] {
  return [
    { heading: 'REVISION', cell: ({ number }) => String(number) },
    { heading: 'HASH', cell: ({ revision }) => revision },
    { heading: 'AGE', cell: ({ createdAt }) => ageText(createdAt, nowMs) },
    {
      heading: 'ROLE',
      least: 17,
      cell: ({ role, held, revision }) =>
        [role === 'none' ? '' : role, held ? `blocked (${heldBecause.get(revision) ?? 'held'})` : ''].filter(Boolean).join(', '),
      style: ({ held, role }) => (held ? 'red' : role === 'none' ? null : 'cyan'),
    },
    { heading: 'NODES', cell: ({ nodes }) => String(nodes) },
    { heading: 'IMAGES', cell: ({ images }) => images.map(shortImage).join(', '), least: 14 },
    {
      heading: CHANGE_CAUSE,
      least: 20,
      cell: ({ changedConfig = [], changeCause = '' }) => [changedConfig.join(', '), changeCause].filter((text) => text !== '').join('; '),
    },
  ]
}

const CHANGE_CAUSE = 'CHANGE CAUSE'

/** Leaves out the change cause where no revision has one. */
function withoutEmpty(revisions: readonly RevisionReport[], columns: readonly Column<RevisionReport>[]): readonly Column<RevisionReport>[] {
  return columns.filter(({ heading, cell }) => heading !== CHANGE_CAUSE || revisions.some((revision) => cell(revision) !== ''))
}

function releaseColumns(nowMs: number): readonly Column<HistoryRelease>[] {
  return [
    { heading: 'RELEASED', cell: ({ startedAt }) => ageText(startedAt, nowMs) },
    { heading: 'REVISION', cell: ({ number, revision }) => (number === undefined ? revision : String(number)) },
    { heading: 'IMAGES', cell: ({ images }) => images.map(shortImage).join(', '), least: 24 },
    { heading: 'RESULT', cell: ({ result }) => resultWords[result], style: ({ result }) => resultStyles[result] ?? null },
    { heading: 'TOOK', cell: ({ startedAt, endedAt }) => (endedAt === undefined ? '' : tookText(startedAt, endedAt)) },
    { heading: 'WHY', cell: whyReleased, least: 12 },
  ]
}

/** The failure; else the config that was released, which no image shows. */
function whyReleased({ failure, changedConfig = [] }: HistoryRelease): string {
  return failure ?? (changedConfig.length === 0 ? '' : `changed ${changedConfig.join(', ')}`)
}

const resultWords: Readonly<Record<HistoryRelease['result'], string>> = {
  Completed: 'completed',
  RolledBack: 'rolled back',
  Failed: 'failed',
  Superseded: 'superseded',
  Stopped: 'stopped',
  Done: 'completed',
  Blocked: 'blocked',
  Waiting: 'waiting',
  Running: 'running',
}

const resultStyles: Partial<Readonly<Record<HistoryRelease['result'], Style>>> = {
  Completed: 'green',
  RolledBack: 'yellow',
  Failed: 'red',
  Blocked: 'red',
  Waiting: 'yellow',
  Running: 'cyan',
}

function tookText(startedAt: string, endedAt: string): string {
  const [fromMs, toMs] = [parseTime(startedAt), parseTime(endedAt)]
  return fromMs === null || toMs === null ? '-' : durationText(Math.max(0, toMs - fromMs))
}

function actColumns(nowMs: number): readonly Column<HistoryAction>[] {
  return [
    { heading: 'AGO', cell: ({ at }) => ageText(at, nowMs) },
    { heading: 'ACTION', cell: (act) => ('by' in act ? recordedActionText(act) : observedChangeText(act)) },
    { heading: 'RESULT', cell: resultText, style: (act) => ('refusal' in act ? 'red' : null) },
    { heading: 'BY', cell: (act) => ('by' in act ? act.by : 'unknown'), least: 12 },
    { heading: 'VIA', cell: viaText, least: 6 },
    { heading: 'WHY', cell: whyText, least: 24 },
  ]
}

/** Result of an action; an observed change of another client is already in effect. */
function resultText(act: HistoryAction): string {
  if (!('by' in act)) return 'seen'
  return { Accepted: 'accepted', Refused: 'rejected', Written: 'done', unknown: '' }[act.result ?? 'unknown']
}

/** Reason of the rejection, else of the action. */
function whyText(act: HistoryAction): string {
  const refusal = 'by' in act ? act.refusal : undefined
  return refusal ?? act.reason ?? ''
}

/** Path of the action; for an observed change of another client, only its field manager is known. */
function viaText(act: HistoryAction): string {
  if (!('by' in act)) return act.manager ?? 'unknown'
  return act.from === undefined ? act.via : `${act.via} (${act.from})`
}

function observedChangeText({ type, step }: HistoryReport['observedChanges'][number]): string {
  if (type === 'template') return 'new template'
  return step === undefined ? type : `${type} ${type === 'jump' ? 'to' : 'at'} step ${step}`
}

function recordedActionText({ type, expectedStep, step, toRevision }: HistoryReport['actions'][number]): string {
  const details = [
    ...(expectedStep === undefined ? [] : [`at step ${expectedStep}`]),
    ...(step === undefined ? [] : [`to step ${step}`]),
    ...(toRevision === undefined ? [] : [`to revision ${toRevision}`]),
  ]
  return [type, ...details].join(' ')
}
