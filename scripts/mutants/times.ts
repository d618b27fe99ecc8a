import type { Mutant } from './mutant.ts'

const invalidTimesTests = 'packages/core/planner/test/rollout/invalid-times.test.ts'
const exportTests = 'apps/controller/test/export-release-metrics.test.ts'

/** Faults in what one object of a user can do to programs and to others: times that are none, and objects that cannot be read. */
export const mutantsOfTimes: readonly Mutant[] = [
  {
    rule: 'Times',
    fault: 'a pause keeps a start that is no time',
    file: 'packages/core/planner/src/rollout/states/next-state.ts',
    find: 'lastUpdateTime === undefined || parseTime(lastUpdateTime) !== null ? canary',
    replace: 'lastUpdateTime !== null ? canary',
    tests: [invalidTimesTests],
  },
  {
    rule: 'Times',
    fault: 'the final settling ends where its start is no time',
    file: 'packages/core/planner/src/release/progress/the-end.ts',
    find: 'parseTime(canary.batchReadyTime) ?? nowMs',
    replace: 'parseTime(canary.batchReadyTime) ?? 0',
    tests: [invalidTimesTests],
  },
  {
    rule: 'Times',
    fault: 'an object that cannot be read ends the watch',
    file: 'packages/adapters/kube-client/src/cache/resource-cache.ts',
    find: 'unreadable.attempt(keyText(keyOf(object)), read) ?? null',
    replace: 'read()',
    tests: ['packages/adapters/kube-client/test/reflector-life.test.ts'],
  },
  {
    rule: 'Times',
    fault: 'a metric takes a time of NaN',
    file: 'packages/adapters/metrics/src/create-metrics.ts',
    find: 'if (Number.isFinite(seconds))',
    replace: 'if (seconds !== null)',
    tests: ['packages/adapters/metrics/test/metrics.test.ts'],
  },
  {
    rule: 'Times',
    fault: 'a timer takes a delay of NaN',
    file: 'packages/words/clock/src/clock.ts',
    find: 'if (!Number.isFinite(delayMs))',
    replace: 'if (delayMs === null)',
    tests: ['packages/words/clock/test/delays.test.ts'],
  },
  {
    rule: 'Times',
    fault: 'each scrape reads all releases',
    file: 'apps/controller/src/metrics/export-release-metrics.ts',
    find: 'atMs - last.atMs < FRESH_MS',
    replace: 'atMs === last.atMs',
    tests: [exportTests],
  },
  {
    rule: 'Times',
    fault: 'a message about room names pods of other namespaces',
    file: 'packages/core/fit/src/shortage-text.ts',
    find: 'pod.namespace === namespace ?',
    replace: "pod.namespace !== '' ?",
    tests: ['packages/core/fit/test/shortage-on.test.ts'],
  },
]
