import type { ApiKey } from '@tranche/api-client'
import type { HistoryReport, ObservedChange, RecordedAction, ReleaseReport } from '@tranche/api-schema'
import { imageVersion } from '../../format/image-change.ts'
import type { StateLook } from '../../format/outcome-text.ts'
import { resultLook } from '../../format/result-look.ts'

/** Kinds of entries: an action requested through Tranche, a change written directly to an object, and a release. */
export type RecordKind = 'action' | 'change' | 'release'

/** One line of the record. */
export interface RecordEntry {
  readonly id: string
  /** RFC 3339. */
  readonly at: string
  readonly namespace: string
  readonly rollout: string
  readonly kind: RecordKind
  /** Type of the action or change; `release` for a release. */
  readonly type: string
  /** Action in words, such as `jump to step 3`. */
  readonly what: string
  /** User of an action, or program that wrote a change; empty if it is unknown. */
  readonly who: string
  /** Reason that was given, or why a version failed; may be empty. */
  readonly why: string
  /** Result as the API has it; empty if it is unknown. */
  readonly result: string
  /** End of a release, reason of a rejection, or where a request came from; may be empty. */
  readonly detail: string
}

type Action = HistoryReport['actions'][number]

/** @returns everything that the history of a Rollout has, in any order */
export function entriesOf({ namespace, name: rollout }: ApiKey, history: HistoryReport): readonly RecordEntry[] {
  const place = { namespace, rollout }
  return [
    ...history.actions.map((action) => ({ ...place, ...entryOfAction(action) })),
    ...history.observedChanges.map((change) => ({ ...place, ...entryOfChange(change) })),
    ...(history.releases ?? []).map((release) => ({ ...place, ...entryOfRelease(release) })),
  ]
}

type Content = Omit<RecordEntry, 'namespace' | 'rollout'>

function entryOfAction(action: Action): Content {
  const { id, type, by, reason = '', at, via, from, result = '', refusal } = action
  return { id, at, kind: 'action', type, what: actionText(action), who: by, why: reason, result, detail: refusal ?? sourceText(via, from) }
}

const sourceWords: Readonly<Record<RecordedAction['via'], string>> = { rest: 'REST', cli: 'command line', hook: 'hook' }

function sourceText(via: RecordedAction['via'], from: string | undefined): string {
  return `by ${sourceWords[via]}${from === undefined ? '' : ` from ${from}`}`
}

function actionText({ type, step, expectedStep, full, toRevision }: RecordedAction): string {
  const target = step === undefined ? '' : ` to step ${step}`
  const of = expectedStep === undefined || target !== '' ? '' : ` step ${expectedStep}`
  return `${type}${target}${of}${full === true ? ' in full' : ''}${toRevision === undefined ? '' : ` to revision ${toRevision}`}`
}

function entryOfChange({ id, type, manager = '', at, step, reason = '' }: ObservedChange): Content {
  const what = `${type === 'template' ? 'new pod template' : type}${step === undefined ? '' : ` step ${step}`}`
  return { id, at, kind: 'change', type, what, who: manager, why: reason, result: '', detail: 'written to the object directly' }
}

function entryOfRelease({ revision, number, images, startedAt, endedAt, result, failure = '' }: ReleaseReport): Content {
  const version = images.length === 0 ? revision : images.map(imageVersion).join(', ')
  const what = `release of ${version}${number === undefined ? '' : ` (revision ${number})`}`
  const detail = endedAt === undefined ? 'not over yet' : `ended ${endedAt}`
  return { id: `${revision} ${startedAt}`, at: startedAt, kind: 'release', type: 'release', what, who: '', why: failure, result, detail }
}

/** @returns how a result is shown; undefined without one */
export function lookOfResult(result: string): StateLook | undefined {
  return result === '' ? undefined : resultLook(result)
}
