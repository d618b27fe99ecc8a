export { carryOut } from './carry-out.ts'
export { createKubeReleaseClient, type KubeReleaseClientOptions } from './create-kube-release-client.ts'
export { createRestReleaseClient } from './create-rest-release-client.ts'
export { followRelease } from './follow-release.ts'
export { type Followed, followRollout } from './follow-rollout.ts'
export { newestFirst, type SeenEvent, type StampedEvent, toBoundedReport } from './events/seen-event.ts'
export { readEvents } from './read-events.ts'
export { type FactReader, readAllFacts, readFacts } from './read-facts.ts'
export { type EventObject, nodeObject, readObjectEvents, type StampedNodeEvent } from './events/read-object-events.ts'
export { readSnapshot, type ReadSnapshotOptions } from './read-snapshot.ts'
export { getOrNone, readRevisions, type ReadOptions, workloadKey } from './read-action-facts.ts'
export type {
  AskOptions,
  ClientAction,
  FollowEnd,
  FollowOptions,
  ListRolloutsOptions,
  ReleaseClient,
  ReleasePart,
  ReleaseParts,
  ReleasePicture,
  RolloutNames,
  SeenRelease,
} from './release-client.ts'
export { selectorText } from './selector-text.ts'
export { templateOfRevision } from './template-of-revision.ts'
export { allWatchedFacts, watchedFacts } from './watched-facts.ts'
export { readOwnUsername } from './own-username.ts'
export type { ReleaseClientPorts, ActionOrder } from './action-order.ts'
