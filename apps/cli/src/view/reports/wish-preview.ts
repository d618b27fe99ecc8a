import type { RolloutReport, WishBody, WishType } from '@tranche/api-schema'
import type { Drawing } from './drawing.ts'
import { wrapText } from './wrap-text.ts'
import { nodeCountsText, shortImage, stateWord } from './report-words.ts'

/** What somebody is about to ask. */
export interface PreviewedWish {
  readonly type: WishType
  readonly body: WishBody
}

/** @returns what stands now and what the wish would do to it, before somebody is asked whether they mean it */
export function wishPreview({ type, body }: PreviewedWish, report: RolloutReport, drawing: Drawing): readonly string[] {
  const { namespace, name, step, images } = report
  const place = step === undefined || report.phase === 'Healthy' ? '' : `, step ${step.index} of ${step.count}`
  return [
    drawing.line(['bold', `${namespace}/${name}`], `   ${stateWord(report)}${place}   ${images.map(shortImage).join(', ')}`),
    drawing.line(`nodes   ${nodeCountsText(report)}`),
    ...wrapText(effect(type, body, report), drawing.width).map((text) => drawing.line(['yellow', text])),
  ]
}

function effect(type: WishType, { toRevision }: WishBody, { stableRevision, canaryRevision, nodes }: RolloutReport): string {
  if (type === 'abort')
    return `abort holds revision ${canaryRevision ?? 'of this release'}, puts the template of ${stableRevision ?? 'the stable revision'} back, and takes ${nodes.updated} nodes back`
  const target = toRevision === undefined ? 'the revision before this one' : `revision ${toRevision}`
  return `undo puts the template of ${target} back, which all ${nodes.desired} nodes get`
}
