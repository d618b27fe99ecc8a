export type { BatchFailures } from './batch-failures.ts'
export { isLostAfterUpdate } from './counted-nodes.ts'
export { recoveredSinceOf } from './failure-status.ts'
export { failureDefaults, failureTerms, type FailureTerms } from './failure-terms.ts'
export {
  acceptedBefore,
  isAfterEnd,
  isOfNodesLeft,
  isWayBack,
  judgedNodes,
  judgedRelease,
  knownFailure,
  nameAfterEnd,
  recordedFacts,
  releasedRevision,
} from './judged-release.ts'
export { judgeRelease, type Judgement, type ReleaseCase } from './judge-release.ts'
export { judgeRevision, type Verdict, type VerdictQuestion } from './judge-revision.ts'
export { CLOCK_SET_MS, type LastingStatus, type MovedTimes, movedTimes, withMovedTimes } from './moved-times.ts'
export { nodeDeadlines } from './node-deadlines.ts'
export { type FirstObservation, firstObservationOf, stoppedTimeAfter } from './stopped-time.ts'
export { failedText, verdictText } from './verdict-text.ts'
export { notableNodes, type WatchQuestion, watchedLater, watchNodes } from './watch-nodes.ts'
