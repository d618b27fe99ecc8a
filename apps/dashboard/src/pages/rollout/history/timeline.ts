import type { HistoryReport, ObservedChangeType, RecordedAction } from '@tranche/api-schema'
import { countText, timeSpanText } from '../../../format/duration.ts'
import { imageVersion } from '../../../format/image-change.ts'
import type { StateLook } from '../../../format/outcome-text.ts'
import { resultLook } from '../../../format/result-look.ts'

type Release = NonNullable<HistoryReport['releases']>[number]
type Action = HistoryReport['actions'][number]
type Change = HistoryReport['observedChanges'][number]
type Blocked = HistoryReport['heldRevisions'][number]

/** One event in the history of a Rollout. */
export interface TimelineEntry {
  readonly id: string
  /** RFC 3339; absent if the cluster does not know. */
  readonly at?: string | undefined
  /** Event in a few words. */
  readonly title: string
  /** Result; absent if it has none, or is unknown. */
  readonly look?: StateLook | undefined
  /** User of an action, or program that wrote a change. */
  readonly who?: string | undefined
  /** Reason that was given, or why a version failed. */
  readonly why?: string | undefined
  /** How it came, or what followed; one sentence without a full stop. */
  readonly detail?: string | undefined
}

/** @returns releases, actions, direct changes and blocked revisions as one list, newest first; what has no time last */
export function historyTimeline({ releases = [], actions, observedChanges, heldRevisions }: HistoryReport): readonly TimelineEntry[] {
  const entries = [
    ...releases.flatMap(releaseEntries),
    ...heldRevisions.map(blockedEntry),
    ...actions.map(actionEntry),
    ...observedChanges.map(changeEntry),
  ]
  return entries.sort((a, b) => msOf(b) - msOf(a))
}

function msOf({ at }: TimelineEntry): number {
  return at === undefined ? Number.NEGATIVE_INFINITY : Date.parse(at)
}

/** @returns the version of a release, `v2 (revision 2)`; its hash if the revision is no longer in the history */
export function releaseName({ revision, number, images }: Pick<Release, 'revision' | 'number' | 'images'>): string {
  const version = images.length === 0 ? `revision ${revision}` : images.map(imageVersion).join(', ')
  return number === undefined ? version : `${version} (revision ${number})`
}

/** A release that has ended has two entries: its end, and its start. */
function releaseEntries(release: Release): readonly TimelineEntry[] {
  const { revision, startedAt, endedAt, result, failure, changedConfig = [] } = release
  const why = failure ?? (changedConfig.length === 0 ? undefined : `changed ${changedConfig.join(', ')}`)
  const id = `${revision} ${startedAt}`
  const look = resultLook(result)
  const start = { id: `${id} start`, at: startedAt, title: `Release of ${releaseName(release)} started` }
  if (endedAt === undefined) return [{ ...start, look, why, detail: 'it has not ended' }]
  const end = {
    id: `${id} end`,
    at: endedAt,
    title: `Release of ${releaseName(release)} ended`,
    look,
    why,
    detail: `after ${timeSpanText(Date.parse(endedAt) - Date.parse(startedAt))}`,
  }
  return [end, start]
}

function blockedEntry({ digest, revision, reason, at, reverted, reverts = 0 }: Blocked): TimelineEntry {
  const restored = reverted === true ? 'the stable template was restored' : undefined
  return {
    id: `blocked ${digest}`,
    at,
    title: `Revision ${revision ?? digest} blocked`,
    look: { word: 'Blocked', glyph: '✕', tone: 'bad' },
    why: reason === undefined ? undefined : reason === 'Aborted' ? 'its release was rolled back' : 'its release failed',
    detail: reverts > 0 ? `it was applied again, and the stable template was restored ${countText(reverts, 'time')}` : restored,
  }
}

const sources: ReadonlyMap<string, string> = new Map(
  Object.entries({ rest: 'over the REST API', cli: 'with the command line', hook: 'by a hook' }),
)

function actionEntry(action: Action): TimelineEntry {
  const { id, at, by, reason, via, from, result, refusal } = action
  const source = `${sources.get(via) ?? `by ${via}`}${from === undefined ? '' : ` from ${from}`}`
  return {
    id,
    at,
    title: actionTitle(action),
    look: result === undefined ? undefined : resultLook(result),
    who: by,
    why: reason,
    detail: refusal === undefined ? source : `${source}; rejected: ${refusal}`,
  }
}

const actionNames: Readonly<Record<RecordedAction['type'], string>> = {
  pause: 'Pause',
  resume: 'Resume',
  approve: 'Approve',
  promote: 'Promote',
  abort: 'Abort',
  retry: 'Retry',
  undo: 'Undo',
  jump: 'Jump',
  restart: 'Restart',
}

/** @returns an action with its target, for example `Jump to step 3` */
export function actionTitle({ type, step, expectedStep, full, toRevision }: RecordedAction): string {
  const name = actionNames[type]
  if (type === 'jump' && step !== undefined) return `${name} to step ${step}`
  if (type === 'promote' && full === true) return `${name} without soak and analysis`
  if (toRevision !== undefined) return `${name} to revision ${toRevision}`
  return type === 'approve' && expectedStep !== undefined ? `${name} step ${expectedStep}` : name
}

const changeNames: Readonly<Record<ObservedChangeType, string>> = {
  pause: 'Paused directly',
  resume: 'Resumed directly',
  approve: 'Approved directly',
  jump: 'Step changed directly',
  promote: 'Promoted directly',
  abort: 'Aborted directly',
  retry: 'Retried directly',
  disable: 'Rollout disabled',
  enable: 'Rollout enabled',
  template: 'Pod template changed',
}

function changeEntry({ id, type, manager, at, step, reason }: Change): TimelineEntry {
  return {
    id,
    at,
    title: `${changeNames[type]}${step === undefined ? '' : `, step ${step}`}`,
    who: manager,
    why: reason,
    detail: 'written to the object, not through Tranche; the cluster reports the program, not the user',
  }
}
