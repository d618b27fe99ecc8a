export { type Consumer, type PodOnNode, claimsOf, consumersOf, isEvictable, needsDrivers } from './consumers.ts'
export { type CordonMark, cordonMarkOf, type DrainedPermit, isMarkFor, isMarkOf, isSamePermit, parseCordonMark } from './cordon-mark.ts'
export { type CordonStep, cordonStep, type NodePatch, uncordonPatch } from './cordon-step.ts'
export { drainText, type EvictionRefusal } from './drain-text.ts'
