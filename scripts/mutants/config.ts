import type { Mutant } from './mutant.ts'

const references = 'packages/core/config/src/config-references.ts'
const hash = 'packages/core/config/src/has-content-hash.ts'
const judge = 'packages/core/config/src/judge-config.ts'
const conditions = 'packages/core/planner/src/rollout/states/rollout-conditions.ts'
const events = 'packages/core/planner/src/rollout/actions/rollout-events.ts'
const reading = 'packages/shells/controllers/src/config-port.ts'
const port = 'apps/controller/src/ports/config-port.ts'

const referencesTests = 'packages/core/config/test/config-references.test.ts'
const judgeTests = 'packages/core/config/test/judge-config.test.ts'
const conditionTests = 'packages/core/planner/test/rollout/config-condition.test.ts'
const eventsTests = 'packages/core/planner/test/rollout/rollout-events.test.ts'
const rolloutPass = 'packages/shells/controllers/src/rollout-pass.ts'
const portTests = 'apps/controller/test/config-port.test.ts'
const scenarios = 'test/scenarios/config.test.ts'

/** Faults in finding config that is not part of the version. */
export const mutantsOfConfig: readonly Mutant[] = [
  {
    rule: 'ConfigUnversioned',
    fault: 'init containers read no config',
    file: references,
    find: "['initContainers', 'containers', 'ephemeralContainers']",
    replace: "['containers', 'ephemeralContainers']",
    tests: [referencesTests],
  },
  {
    rule: 'ConfigUnversioned',
    fault: 'a file of a subPath is updated in running pods',
    file: references,
    find: '!isNamed(subPath) && !isNamed(subPathExpr)',
    replace: '!isNamed(subPathExpr)',
    tests: [referencesTests],
  },
  {
    rule: 'ConfigUnversioned',
    fault: 'a ConfigMap and a Secret of one name are one object',
    file: references,
    find: 'Map.groupBy(found, ({ kind, name }) =>',
    replace: "Map.groupBy(found.map((one) => ({ ...one, kind: 'ConfigMap' as const })), ({ kind, name }) =>",
    tests: [referencesTests],
  },
  {
    rule: 'ConfigUnversioned',
    fault: 'a date is the hash of a content',
    file: hash,
    find: ' && !isDate(hex)',
    replace: '',
    tests: [judgeTests],
  },
  {
    rule: 'ConfigUnversioned',
    fault: 'any ten letters are a hash of kustomize',
    file: hash,
    find: '[2456789bcdfghkmt]{10}$',
    replace: '[a-z0-9]{10}$',
    tests: [judgeTests],
  },
  {
    rule: 'ConfigUnversioned',
    fault: 'any annotation is a checksum',
    file: judge,
    find: 'key.startsWith(CHECKSUM) && ',
    replace: '',
    tests: [judgeTests],
  },
  {
    rule: 'ConfigUnversioned',
    fault: 'a Secret counts as immutable because a ConfigMap of its name is',
    file: conditions,
    find: "kind === 'ConfigMap' && immutableConfigMaps?.has(name) === true",
    replace: 'kind.length > 0 && immutableConfigMaps?.has(name) === true',
    tests: [conditionTests],
  },
  {
    rule: 'ConfigUnversioned',
    fault: 'the condition stays while the Rollout is disabled',
    file: conditions,
    find: 'if (daemonSet === undefined || rollout.spec.disabled === true) return []',
    replace: 'if (daemonSet === undefined || rollout.spec === undefined) return []',
    tests: [conditionTests],
  },
  {
    rule: 'ConfigUnversioned',
    fault: 'other config has no event',
    file: events,
    find: '(was?.status === is.status && was.message === is.message)',
    replace: 'was?.status === is.status',
    tests: [eventsTests],
  },
  {
    rule: 'ConfigUnversioned',
    fault: 'ConfigMaps whose names carry a hash are read as well',
    file: reading,
    find: 'judgeConfig(daemonSet?.spec.template)',
    replace:
      "({ references: [{ kind: 'ConfigMap' as const, name: 'agent-1a2b3c4d' }, ...(judgeConfig(daemonSet?.spec.template)?.references ?? [])] })",
    tests: [scenarios],
  },
  {
    rule: 'ConfigUnversioned',
    fault: 'a ConfigMap is read in each pass',
    file: port,
    find: 'earlier !== undefined && clock.monotonicMs() < earlier.untilMs',
    replace: 'earlier !== undefined && clock.monotonicMs() < 0',
    tests: [scenarios],
  },
  {
    rule: 'ConfigUnversioned',
    fault: 'a failed read is believed for five minutes',
    file: port,
    find: "read === 'failed' ? FAILED_FOR_MS : KNOWN_FOR_MS",
    replace: "read === 'failed' && FAILED_FOR_MS < 0 ? FAILED_FOR_MS : KNOWN_FOR_MS",
    tests: [portTests],
  },
  {
    rule: 'ConfigUnversioned',
    fault: 'nothing reads a ConfigMap again that became immutable',
    file: rolloutPass,
    find: 'return noLaterThan(known?.recheckAfterMs, outcomeOf(plan))',
    replace: 'return known === undefined ? noLaterThan(1, outcomeOf(plan)) : outcomeOf(plan)',
    tests: [scenarios],
  },
  {
    rule: 'ConfigUnversioned',
    fault: 'a missing permission stops the Rollout',
    file: port,
    find: '      signal.throwIfAborted()\n',
    replace: '      if (!isNotFound(error)) throw error\n',
    tests: [scenarios],
  },
]
