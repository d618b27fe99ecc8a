/** Minimum and maximum of a duration, as text such as `30s`. */
export interface DurationRange {
  readonly from: string
  readonly to: string
}

/** Minimum and maximum of a whole number. */
export interface WholeNumberRange {
  readonly from: number
  readonly to: number
}

/** One week, in seconds. */
const WEEK_SECONDS = 604_800

const measurements: WholeNumberRange = { from: 0, to: 10_000 }

/** Ranges of the durations of a ReleasePolicy, by path. Its CustomResourceDefinition and its validation both have them from here. */
export const policyDurations: Readonly<Record<string, DurationRange>> = {
  'spec.nodes.notReady.after': { from: '0s', to: '24h' },
  'spec.failure.autoResume': { from: '1s', to: '168h' },
  'spec.drain.timeout': { from: '10s', to: '24h' },
  'spec.soak.step': { from: '0s', to: '168h' },
  'spec.soak.final': { from: '0s', to: '24h' },
  'spec.prePull.timeout': { from: '1s', to: '24h' },
  'spec.downtime.perDay': { from: '1s', to: '12h' },
  'spec.analysis[].prometheus.range': { from: '1s', to: '168h' },
  'spec.analysis[].prometheus.step': { from: '1s', to: '168h' },
  'spec.analysis[].initialDelay': { from: '0s', to: '24h' },
  'spec.analysis[].interval': { from: '1s', to: '24h' },
  'spec.analysis[].timeout': { from: '100ms', to: '5m' },
  'spec.notify[].remindAfter': { from: '1m', to: '168h' },
}

/** Ranges of the whole numbers of a ReleasePolicy, by path. Its CustomResourceDefinition and its validation both have them from here. */
export const policyNumbers: Readonly<Record<string, WholeNumberRange>> = {
  'spec.nodes.spread[].maxUnavailable': { from: 1, to: 100_000 },
  'spec.failure.progressDeadlineSeconds': { from: 1, to: WEEK_SECONDS },
  'spec.failure.schedulingDeadlineSeconds': { from: 1, to: WEEK_SECONDS },
  'spec.failure.maxRestarts': { from: 0, to: 10_000 },
  // Each node that pulls has a helper pod, which all executors watch.
  'spec.prePull.parallel': { from: 1, to: 1_000 },
  // A Rollout has at most 50 steps.
  'spec.analysis[].steps[]': { from: 1, to: 50 },
  'spec.analysis[].count': { from: 1, to: 10_000 },
  'spec.analysis[].failureLimit': measurements,
  'spec.analysis[].inconclusiveLimit': measurements,
  'spec.analysis[].consecutiveErrorLimit': measurements,
}

/** Numbers of nodes or percentages of a ReleasePolicy, by path, with the smallest one. */
export const policySizes: Readonly<Record<string, { readonly from: 0 | 1 }>> = {
  'spec.maxUnavailable': { from: 1 },
  'spec.nodes.notReady.exempt': { from: 0 },
  'spec.failure.maxFailedNodes': { from: 0 },
  'spec.failure.maxFailedNodesPerBatch': { from: 0 },
}

/** @returns a path without the indexes of its lists: `spec.analysis[].interval` */
export function pathOfField(path: string): string {
  return path.replaceAll(/\[\d+\]/g, '[]')
}
