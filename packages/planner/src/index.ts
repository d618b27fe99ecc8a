export { type Candidate, firstCandidates, type Revisions } from './pass/candidate-order.ts'
export { isOld, type NodeTally, tallyNodes } from './pass/node-tally.ts'
export type { Announcement, PassView } from './pass/pass-view.ts'
export { agrees, type PassPlan, type PassWait, type PermittedPod, planPass } from './pass/plan-pass.ts'
