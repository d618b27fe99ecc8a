import type { Mutant } from './mutant.ts'

const decision = 'packages/core/drain/src/drain-condition.ts'
const fleetView = 'packages/core/fleet/src/fleet-view.ts'
const conditions = 'packages/clients/cluster/src/drain-conditions.ts'
const cordons = 'packages/clients/cluster/src/cordons.ts'
const drainNode = 'packages/clients/cluster/src/drain-node.ts'
const drainCheck = 'packages/clients/node-checks/src/drain-check.ts'

const decisionTests = 'packages/core/drain/test/drain-condition.test.ts'
const fleetTests = 'packages/core/fleet/test/fleet-index.test.ts'
const clientTests = 'packages/clients/cluster/test/drain-conditions.test.ts'
const stories = 'test/scenarios/drain-conditions.test.ts'

/** Faults in the condition `DrainInProgress` of drained nodes. */
export const mutantsOfDrainConditions: readonly Mutant[] = [
  {
    rule: 'DrainCondition',
    fault: 'the condition of another program is replaced',
    file: decision,
    find: 'if (present !== undefined && present.reason !== DRAIN_REASON) return null',
    replace: '',
    tests: [decisionTests],
  },
  {
    rule: 'DrainCondition',
    fault: 'the condition of another program is removed',
    file: decision,
    find: 'return conditionOf(node)?.reason === DRAIN_REASON',
    replace: 'return conditionOf(node) !== undefined',
    tests: [decisionTests],
  },
  {
    rule: 'DrainCondition',
    fault: 'the condition is set on a node without the mark of the permit',
    file: decision,
    find: 'if (mark === null || mark === undefined || !isMarkFor(mark, drained)) return null',
    replace: 'void [mark, isMarkFor]',
    tests: [decisionTests],
  },
  {
    rule: 'DrainCondition',
    fault: 'the condition is written at every look',
    file: decision,
    find: 'if (present?.status === wanted.status && present.message === wanted.message) return null',
    replace: '',
    tests: [decisionTests],
  },
  {
    rule: 'DrainCondition',
    fault: 'the condition is written over a later change of the node',
    file: decision,
    find: '{ metadata: { resourceVersion: metadata.resourceVersion }, status',
    replace: '{ metadata: {} as typeof metadata, status',
    tests: [decisionTests],
  },
  {
    rule: 'DrainCondition',
    fault: 'a node that a release drains counts as in maintenance',
    file: fleetView,
    find: ' && !isOwn(one)',
    replace: '',
    tests: [fleetTests],
  },
  {
    rule: 'DrainCondition',
    fault: 'a node that another program drains counts as in service',
    file: fleetView,
    find: 'type === DRAIN_CONDITION && reason === DRAIN_REASON',
    replace: 'type === DRAIN_CONDITION && reason !== DRAIN_REASON + type',
    tests: [fleetTests],
  },
  {
    rule: 'DrainCondition',
    fault: 'a write that lost a race is not repeated',
    file: conditions,
    find: 'const MOST_ATTEMPTS = 2',
    replace: 'const MOST_ATTEMPTS = 1',
    tests: [clientTests],
  },
  {
    rule: 'DrainCondition',
    fault: 'the condition stays when the mark is removed',
    file: cordons,
    find: 'return await clearCondition(client, node, signal)',
    replace: 'return await Promise.resolve(clearCondition === undefined ? null : node)',
    tests: [clientTests],
  },
  {
    rule: 'DrainCondition',
    fault: 'a condition that cannot be removed keeps the cordon',
    file: cordons,
    find: 'if (signal.aborted) throw error\n    return node',
    replace: 'throw error',
    tests: [clientTests],
  },
  {
    rule: 'DrainCondition',
    fault: 'a condition that cannot be set stops the drain',
    file: drainNode,
    find: 'if (signal.aborted) throw error\n      conditions.onFailure',
    replace: 'if (!signal.aborted) throw error\n      conditions.onFailure',
    tests: [clientTests],
  },
  {
    rule: 'DrainCondition',
    fault: 'the sweep removes the condition of a drain that runs',
    file: conditions,
    find: 'if (node !== null && (mark === null || mark === undefined)) await',
    replace: 'if (node !== null && mark !== true as unknown) await',
    tests: [clientTests],
  },
  {
    rule: 'DrainCondition',
    fault: 'conditions that outlived their mark stay',
    file: drainCheck,
    find: 'const left = setsConditions ? leftConditions(cluster) : []',
    replace: 'const left = setsConditions ? leftConditions(cluster).slice(0, 0) : []',
    tests: [stories],
  },
  {
    rule: 'DrainCondition',
    fault: 'conditions are set where the installation does not allow it',
    file: drainCheck,
    find: 'setsConditions ? loggedConditions(clock, log) : undefined',
    replace: 'loggedConditions(clock, log)',
    tests: [stories],
  },
]
