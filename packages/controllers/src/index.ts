export { createReleasePass, type ReleaseParts } from './release-pass.ts'
export type { LiveReading, ReleasePort, ReleaseReading, TouchablePod } from './release-port.ts'
export { createRolloutPass, type RolloutParts } from './rollout-pass.ts'
export type { RolloutPort, RolloutReading } from './rollout-port.ts'
