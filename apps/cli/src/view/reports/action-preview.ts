import type { RevisionReport, RolloutReport, ActionBody, ActionType } from '@tranche/api-schema'
import type { Drawing } from './drawing.ts'
import { wrapText } from '../wrap-text.ts'
import { changedConfigText, counted, nodeCountsText, shortImage, stateWord } from './report-words.ts'

/** Action to preview. */
export interface PreviewedAction {
  readonly type: ActionType
  readonly body: ActionBody
  /** Revisions that the body may reference. @default none */
  readonly revisions?: readonly RevisionReport[]
}

const LABEL = 'nodes   '

/** @returns the current state and the effect of the action, shown before the prompt */
export function actionPreview(action: PreviewedAction, report: RolloutReport, drawing: Drawing): readonly string[] {
  const { namespace, name, step, images } = report
  const place = step === undefined || report.phase === 'Healthy' ? '' : `, step ${step.index} of ${step.count}`
  return [
    drawing.line(['bold', `${namespace}/${name}`], `   ${stateWord(report)}${place}   ${images.map(shortImage).join(', ')}`),
    ...wrapText(nodeCountsText(report), drawing.width - LABEL.length).map((text, at) =>
      drawing.line(`${at === 0 ? LABEL : ' '.repeat(LABEL.length)}${text}`),
    ),
    ...wrapText(effect(action, report), drawing.width).map((text) => drawing.line(['yellow', text])),
  ]
}

function effect({ type, body, revisions = [] }: PreviewedAction, report: RolloutReport): string {
  const { stableRevision, canaryRevision, nodes, images } = report
  const { revision, toRevision } = body
  if (type === 'promote') {
    const left = Math.max(0, nodes.desired - nodes.updated)
    const more = `${counted(left, 'more node')} ${left === 1 ? 'gets' : 'get'}`
    const version = images.length === 0 ? 'the version' : images.map(shortImage).join(', ')
    return `promote skips ${skippedText(report, body)}: ${more} ${version}, within maxUnavailable; approve advances one step`
  }
  if (type === 'abort') {
    const aborted = revision ?? canaryRevision
    const shown = aborted === canaryRevision ? images : []
    const from = aborted === undefined ? 'the current revision' : `revision ${nameOf(aborted, revisions, shown)}`
    const to = stableRevision === undefined ? 'the stable revision' : `revision ${nameOf(stableRevision, revisions)}`
    const there = aborted === canaryRevision ? nodes.updated : (known(aborted ?? '', revisions)?.nodes ?? 0)
    return `abort rolls ${there} ${there === 1 ? 'node' : 'nodes'} back from ${from} to ${to}${failedText(report)}, and blocks the former: applying it again does not release it`
  }
  if (toRevision === undefined) return 'undo finds no earlier revision that is not blocked'
  const over = revision === undefined ? '' : `, replacing revision ${nameOf(revision, revisions)}`
  const there = known(toRevision, revisions)?.nodes ?? 0
  const already = there === 0 ? '' : `; ${there} of ${nodes.desired} already run it`
  return `undo restores the template of revision ${nameOf(toRevision, revisions)}${over}: ${Math.max(0, nodes.desired - there)} nodes get it${already}`
}

/** Says that the version to which an abort returns is blocked. Begins with a comma; empty where it is not. */
function failedText({ failedStable }: RolloutReport): string {
  if (failedStable === undefined) return ''
  return `, which is blocked because it failed${failedStable.at === undefined ? '' : ` at ${failedStable.at}`}`
}

/** Remaining pauses by step, and what `--full` also skips. */
function skippedText({ step, steps }: RolloutReport, { full = false }: ActionBody): string {
  const left = steps.filter(({ index, pause }) => pause !== undefined && index >= (step?.index ?? 1)).map(({ index }) => String(index))
  const several = `the pauses of steps ${left.slice(0, -1).join(', ')} and ${left.at(-1)}`
  const pauses = left.length === 0 ? 'no pause, because none is left' : left.length === 1 ? `the pause of step ${left[0]}` : several
  return full ? `${pauses}, and every soak and analysis` : pauses
}

/** Revision with its number and images, if known. */
function nameOf(named: string, revisions: readonly RevisionReport[], images: readonly string[] = []): string {
  const found = known(named, revisions)
  if (found === undefined) return images.length === 0 ? named : `${named} (${images.map(shortImage).join(', ')})`
  return `${found.number} (${[found.revision, ...found.images.map(shortImage), changedConfigText(found)].filter((text) => text !== '').join(', ')})`
}

function known(named: string, revisions: readonly RevisionReport[]): RevisionReport | undefined {
  return revisions.find(({ revision, number }) => revision === named || String(number) === named)
}
