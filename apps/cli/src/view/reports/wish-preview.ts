import type { RevisionReport, RolloutReport, WishBody, WishType } from '@tranche/api-schema'
import type { Drawing } from './drawing.ts'
import { wrapText } from './wrap-text.ts'
import { counted, nodeCountsText, shortImage, stateWord } from './report-words.ts'

/** What somebody is about to ask. */
export interface PreviewedWish {
  readonly type: WishType
  readonly body: WishBody
  /** Those that the body may name. @default none */
  readonly revisions?: readonly RevisionReport[]
}

const LABEL = 'nodes   '

/** @returns what stands now and what the wish would do to it, before somebody is asked whether they mean it */
export function wishPreview(wish: PreviewedWish, report: RolloutReport, drawing: Drawing): readonly string[] {
  const { namespace, name, step, images } = report
  const place = step === undefined || report.phase === 'Healthy' ? '' : `, step ${step.index} of ${step.count}`
  return [
    drawing.line(['bold', `${namespace}/${name}`], `   ${stateWord(report)}${place}   ${images.map(shortImage).join(', ')}`),
    ...wrapText(nodeCountsText(report), drawing.width - LABEL.length).map((text, at) =>
      drawing.line(`${at === 0 ? LABEL : ' '.repeat(LABEL.length)}${text}`),
    ),
    ...wrapText(effect(wish, report), drawing.width).map((text) => drawing.line(['yellow', text])),
  ]
}

function effect({ type, body, revisions = [] }: PreviewedWish, report: RolloutReport): string {
  const { stableRevision, canaryRevision, nodes, images } = report
  const { revision, toRevision } = body
  if (type === 'promote') {
    const more = counted(Math.max(0, nodes.desired - nodes.updated), 'more node')
    const version = images.length === 0 ? 'the version' : images.map(shortImage).join(', ')
    return `promote skips ${pausesText(report)}${body.full === true ? ', soaks and analyses too' : ''}: ${more} get ${version}, as fast as maxUnavailable lets them; approve goes on by one step`
  }
  if (type === 'abort') {
    const aborted = revision ?? canaryRevision
    const shown = aborted === canaryRevision ? images : []
    const from = aborted === undefined ? 'the present revision' : `revision ${nameOf(aborted, revisions, shown)}`
    const to = stableRevision === undefined ? 'the stable revision' : `revision ${nameOf(stableRevision, revisions)}`
    const there = aborted === canaryRevision ? nodes.updated : (known(aborted ?? '', revisions)?.nodes ?? 0)
    return `abort rolls ${there} ${there === 1 ? 'node' : 'nodes'} back from ${from} to ${to}, and holds the former: applying it again does not release it`
  }
  if (toRevision === undefined) return 'undo finds no earlier revision that is not held'
  const over = revision === undefined ? '' : ` in place of that of revision ${nameOf(revision, revisions)}`
  const there = known(toRevision, revisions)?.nodes ?? 0
  const already = there === 0 ? '' : `; ${there} of ${nodes.desired} run it already`
  return `undo puts the template of revision ${nameOf(toRevision, revisions)} back${over}, which ${Math.max(0, nodes.desired - there)} nodes get${already}`
}

/** Which pauses are left, by their steps. */
function pausesText({ step, steps }: RolloutReport): string {
  const left = steps.filter(({ index, pause }) => pause !== undefined && index >= (step?.index ?? 1)).map(({ index }) => String(index))
  if (left.length === 0) return 'no pause, for none is left'
  if (left.length === 1) return `the pause of step ${left[0]}`
  return `the pauses of steps ${left.slice(0, -1).join(', ')} and ${left.at(-1)}`
}

/** With its number and its images, where they are known. */
function nameOf(named: string, revisions: readonly RevisionReport[], images: readonly string[] = []): string {
  const found = known(named, revisions)
  if (found === undefined) return images.length === 0 ? named : `${named} (${images.map(shortImage).join(', ')})`
  return `${found.number} (${[found.revision, ...found.images.map(shortImage)].join(', ')})`
}

function known(named: string, revisions: readonly RevisionReport[]): RevisionReport | undefined {
  return revisions.find(({ revision, number }) => revision === named || String(number) === named)
}
