export { durationText } from './view/duration-text.ts'
export { plainLines } from './view/plain-lines.ts'
export type { EventSnapshot, NodeSnapshot, NodeState, ReleaseSnapshot, StepMark, StepPosition, Waiting } from './view/release-snapshot.ts'
export { renderReleaseView, type ViewOptions } from './view/render-release-view.ts'
