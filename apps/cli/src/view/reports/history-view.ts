import type { HistoryReport, RecordedAction, RevisionReport } from '@tranche/api-schema'
import type { Drawing } from './drawing.ts'
import { ageText, shortImage } from './report-words.ts'
import { type Column, tableLines } from './table.ts'

/** Revisions as one table, and who asked for what as another; newest first. Pure. */
export function historyView({ revisions, heldRevisions, actions }: HistoryReport, drawing: Drawing): readonly string[] {
  const heldBecause = new Map(heldRevisions.map(({ revision, reason }) => [revision, reason ?? 'held']))
  return [
    ...tableLines(revisions, revisionColumns(heldBecause, drawing.nowMs), drawing),
    ...(actions.length === 0 ? [] : ['', ...tableLines(actions, actionColumns(drawing.nowMs), drawing)]),
  ]
}

function revisionColumns(heldBecause: ReadonlyMap<string | undefined, string>, nowMs: number): readonly Column<RevisionReport>[] {
  return [
    { heading: 'REVISION', cell: ({ number }) => String(number) },
    { heading: 'HASH', cell: ({ revision }) => revision },
    { heading: 'AGE', cell: ({ createdAt }) => ageText(createdAt, nowMs) },
    {
      heading: 'ROLE',
      cell: ({ role, held, revision }) =>
        [role === 'none' ? '' : role, held ? `held (${heldBecause.get(revision) ?? 'held'})` : ''].filter(Boolean).join(', '),
      style: ({ held, role }) => (held ? 'red' : role === 'none' ? null : 'cyan'),
    },
    { heading: 'NODES', cell: ({ nodes }) => String(nodes) },
    { heading: 'IMAGES', cell: ({ images }) => images.map(shortImage).join(', '), least: 12 },
    { heading: 'CHANGE CAUSE', cell: ({ changeCause }) => changeCause ?? '' },
  ]
}

function actionColumns(nowMs: number): readonly Column<RecordedAction>[] {
  return [
    { heading: 'AGO', cell: ({ at }) => ageText(at, nowMs) },
    { heading: 'ACTION', cell: actionText },
    { heading: 'BY', cell: ({ by }) => by, least: 12 },
    { heading: 'VIA', cell: ({ via, from }) => (from === undefined ? via : `${via} (${from})`) },
    { heading: 'WHY', cell: ({ reason }) => reason ?? '' },
  ]
}

function actionText({ type, expectedStep, step, toRevision }: RecordedAction): string {
  const details = [
    ...(expectedStep === undefined ? [] : [`at step ${expectedStep}`]),
    ...(step === undefined ? [] : [`to step ${step}`]),
    ...(toRevision === undefined ? [] : [`to revision ${toRevision}`]),
  ]
  return [type, ...details].join(' ')
}
