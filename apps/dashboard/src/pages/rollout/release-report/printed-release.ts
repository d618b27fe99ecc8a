import type { BatchReport, HistoryReport, RevisionReport, RolloutReport } from '@tranche/api-schema'
import { timeSpanText } from '../../../format/duration.ts'
import type { StateLook } from '../../../format/outcome-text.ts'
import { resultLook } from '../../../format/result-look.ts'
import { releaseName, type TimelineEntry, historyTimeline } from '../history/timeline.ts'
import { defaultPair } from '../revisions/default-pair.ts'

/** The latest release of a Rollout, as far as the cluster keeps it. */
export interface PrintedRelease {
  readonly revision: string
  readonly name: string
  readonly look: StateLook
  readonly startedAt: string
  /** Absent while it runs. */
  readonly endedAt: string | undefined
  readonly durationMs: number
  readonly failure: string | undefined
  /** Absent if the revision is no longer in the history. */
  readonly to: RevisionReport | undefined
  /** Revision that it replaces; absent if it is unknown. */
  readonly from: RevisionReport | undefined
}

/** @returns the release that runs, else the last one; undefined if none is known */
export function printedRelease({ releases = [], revisions }: HistoryReport, nowMs: number): PrintedRelease | undefined {
  const [latest] = releases
  if (latest === undefined) return undefined
  const { revision, startedAt, endedAt, result, failure } = latest
  const pair = defaultPair(revisions)
  const find = (hash: string | undefined): RevisionReport | undefined => revisions.find((one) => one.revision === hash)
  return {
    revision,
    name: releaseName(latest),
    look: resultLook(result),
    startedAt,
    endedAt,
    durationMs: (endedAt === undefined ? nowMs : Date.parse(endedAt)) - Date.parse(startedAt),
    failure,
    to: find(revision),
    from: pair?.to === revision ? find(pair.from) : undefined,
  }
}

/** The change of the template that begins a release is observed a moment before it, in milliseconds. */
const BEFORE_MS = 10_000

/** @returns actions and direct changes of a release, oldest first */
export function decisionsOf(
  history: HistoryReport,
  { startedAt, endedAt }: Pick<PrintedRelease, 'startedAt' | 'endedAt'>,
): readonly TimelineEntry[] {
  const fromMs = Date.parse(startedAt) - BEFORE_MS
  const toMs = endedAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(endedAt)
  return historyTimeline({ ...history, releases: [], heldRevisions: [] })
    .filter(({ at = '' }) => Date.parse(at) >= fromMs && Date.parse(at) <= toMs)
    .toReversed()
}

/** A step with the time that its nodes took. */
export interface StepTime {
  readonly index: number
  readonly size: string
  readonly nodes: number
  readonly pause: string
  /** Undefined after a rollback: the report then has the steps of the version that was restored. */
  readonly state: 'done' | 'current' | 'ahead' | undefined
  readonly startedAt: string | undefined
  readonly readyAt: string | undefined
}

/** Steps of a release. States and times are those of the present revision, so they are left out if the release was of another one. */
export function stepTimes(
  { steps, canaryRevision }: Pick<RolloutReport, 'steps' | 'canaryRevision'>,
  batches: readonly BatchReport[],
  release: Pick<PrintedRelease, 'revision'> | undefined,
): readonly StepTime[] {
  const isPresent = release === undefined || release.revision === canaryRevision
  return steps.map(({ index, replicas, nodes, pause, state }) => {
    const batch = isPresent ? batches.find((one) => one.index === index) : undefined
    return {
      index,
      size: replicas,
      nodes,
      pause: pauseText(pause),
      state: isPresent ? state : undefined,
      startedAt: batch?.startedAt,
      readyAt: batch?.readyAt,
    }
  })
}

/** @param pause as the report has it: `person`, or seconds such as `600s` */
function pauseText(pause: string | undefined): string {
  if (pause === undefined) return 'no pause'
  return pause === 'person' ? 'approval' : `pause of ${timeSpanText(Number.parseInt(pause, 10) * 1000)}`
}
