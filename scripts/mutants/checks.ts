import type { Mutant } from './mutant.ts'

const planPass = 'packages/core/fence/src/pass/plan-pass.ts'
const fence = 'packages/core/fence/src/pass/fence-state.ts'
const permitChange = 'packages/core/fence/src/pass/permit-change.ts'
const nodeCheck = 'packages/core/fence/src/nodes/node-check.ts'
const blockedNodes = 'packages/core/fence/src/pass/blocked-nodes.ts'
const preparedNodes = 'packages/core/fence/src/pass/prepared-nodes.ts'
const nodeReadings = 'packages/shells/partition-executor/src/node-readings.ts'
const checkNodes = 'packages/shells/partition-executor/src/check-nodes.ts'

const roomTests = 'packages/core/fence/test/pass/room.test.ts'
const preparedTests = 'packages/core/fence/test/pass/prepared-nodes.test.ts'
const executorTests = 'packages/shells/partition-executor/test/executor-pass.test.ts'

/** Faults in what an executor's pass makes of the checks of nodes. */
export const mutantsOfChecks: readonly Mutant[] = [
  {
    rule: 'F4',
    fault: 'a pod is deleted although its node is not known to be ready',
    file: nodeCheck,
    find: "if (reading?.check.kind !== 'ready' || reading.check.for !== 'deletion') return false",
    replace: 'if (reading === undefined) return monotonicMs > 0',
    tests: [roomTests],
  },
  {
    rule: 'F4',
    fault: 'a node that is ready for a permit counts as ready for the deletion of its pod',
    file: nodeCheck,
    find: " || reading.check.for !== 'deletion') return false",
    replace: ') return false',
    tests: [preparedTests],
  },
  {
    rule: 'F4',
    fault: 'the answer of a check is current for ever',
    file: nodeCheck,
    find: 'return false\n  return monotonicMs - reading.readAtMs < CHECK_CURRENT_MS',
    replace: 'return false\n  return monotonicMs > 0',
    tests: [roomTests],
  },
  {
    rule: 'F7',
    fault: 'a blocked node keeps its permit',
    file: planPass,
    find: ' || blocked.has(tracked)',
    replace: '',
    tests: [roomTests],
  },
  {
    rule: 'F7',
    fault: 'a permit makes way for a node that may get none, again and again',
    file: fence,
    find: ' && mayGetPermit(fence, name)',
    replace: '',
    tests: [roomTests],
  },
  {
    rule: 'G6',
    fault: 'a pass does not rest while a blocked node has a permit that is not executable',
    file: blockedNodes,
    find: '.filter((atMs) => atMs > monotonicMs)',
    replace: '',
    tests: [roomTests],
  },
  {
    rule: 'G8',
    fault: 'two executors that check a node at different times undo the list of each other',
    file: blockedNodes,
    find: '[...(record.blocked ?? []), ...read]',
    replace: '[...(record.blocked ?? []).filter(({ node }) => !view.checks.has(node)), ...read]',
    tests: [roomTests],
  },
  {
    rule: 'F3',
    fault: 'a node that is not ready gets a permit',
    file: permitChange,
    find: ' && mayGetPermit(fence, name)',
    replace: '',
    tests: [roomTests],
  },
  {
    rule: 'F3',
    fault: 'a node gets a permit before it is checked',
    file: planPass,
    find: "return toCheckNodes(unknown, 'permit') ?? {",
    replace: 'return {',
    tests: [roomTests],
  },
  {
    rule: 'G6',
    fault: 'nothing wakes a pass when a blocked node is due to be checked again',
    file: planPass,
    find: 'nextCheckMs(fence), ',
    replace: '',
    tests: [roomTests],
  },
  {
    rule: 'G6',
    fault: 'a restart forgets the blocked nodes that the record names',
    file: blockedNodes,
    find: '[...(record.blocked ?? []), ...read]',
    replace: '[...read]',
    tests: [roomTests],
  },
  {
    rule: 'G6',
    fault: 'nodes that are prepared keep their places from one on which a pod is to be deleted again',
    file: preparedNodes,
    find: 'if (isAnyOldNode && fence.scope.rules.spread.length === 0) return waiting.length',
    replace: 'if (isAnyOldNode || fence.scope.rules.spread.length === 0) return waiting.length',
    tests: [preparedTests],
  },
  {
    rule: 'G6',
    fault: 'a node on which a pod is to be deleted again is not prepared',
    file: 'packages/core/fence/src/pass/plan-pass.ts',
    find: 'nodesToPrepare(fence, due)',
    replace: 'nodesToPrepare(fence, due === null ? null : [])',
    tests: [preparedTests],
  },
  {
    rule: 'F3',
    fault: 'a node gets a permit before it is prepared',
    file: fence,
    find: ' && isPreparedAhead(fence, name)',
    replace: '',
    tests: [preparedTests],
  },
  {
    rule: 'F3',
    fault: 'a node counts as prepared by what was done for another revision',
    file: fence,
    find: " && state === 'ready' && !isStale)",
    replace: " && state === 'ready')",
    tests: [preparedTests],
  },
  {
    rule: 'F3',
    fault: 'more nodes are prepared at a time than the policy says',
    file: preparedNodes,
    find: 'const count = most - countPrepared(fence, waiting, { candidates, isAnyOldNode })',
    replace: 'const count = most',
    tests: [preparedTests],
  },
  {
    rule: 'G6',
    fault: 'a node whose preparation failed keeps its place from others for ever',
    file: preparedNodes,
    find: '  if (isBlockedUntilDue(knownChecks(fence), node)) return false\n',
    replace: '',
    tests: [preparedTests],
  },
  {
    rule: 'G6',
    fault: 'a prepared node that a spread rule holds back keeps its place from others',
    file: preparedNodes,
    find: '  if (isAnyOldNode && fence.scope.rules.spread.length === 0) return waiting.length\n',
    replace: '  if (waiting.length > 0) return waiting.length\n',
    tests: [preparedTests],
  },
  {
    rule: 'G6',
    fault: 'a prepared node that another check blocks keeps its place from others',
    file: preparedNodes,
    find: ' && !isBlockedUntilDue(knownChecks(fence), node)',
    replace: '',
    tests: [preparedTests],
  },
  {
    rule: 'F3',
    fault: 'a version that no node can be prepared for is tried on the whole fleet',
    file: preparedNodes,
    find: 'isAnyOldNode && blocked.size >= BLOCKED_LISTED ?',
    replace: 'isAnyOldNode && blocked.size < 0 ?',
    tests: [preparedTests],
  },
  {
    rule: 'G9',
    fault: 'what was done on a node stays while the record is stopped',
    file: preparedNodes,
    find: "if (!isAhead || fence.record.state !== 'open') return false",
    replace: 'if (!isAhead) return false',
    tests: [preparedTests],
  },
  {
    rule: 'G7',
    fault: 'what was done on a node stays there after its update',
    file: preparedNodes,
    find: 'return isOldNode(fence.view, fence.record, node) && isTakeable(fence, node)',
    replace: 'return isTakeable(fence, node)',
    tests: [preparedTests],
  },
  {
    rule: 'F4',
    fault: 'what was done on a node is undone before its new pod is available',
    file: preparedNodes,
    find: '  if (hasPermit) return true\n',
    replace: '',
    tests: [preparedTests],
  },
  {
    rule: 'G6',
    fault: 'what an executor waits for on a node is over, and it does not look',
    file: nodeReadings,
    find: 'else if (reading.state !== state) known.delete(node)',
    replace: '',
    tests: [executorTests],
  },
  {
    rule: 'G6',
    fault: 'an executor that cannot undo what was done on a node does nothing else',
    file: checkNodes,
    find: "      if (parts.signal.aborted) throw error\n      parts.log.warn({ daemonSet: keyText(daemonSet), node, check, err: error }, 'could not undo what was done on node')",
    replace: '      throw error',
    tests: [executorTests],
  },
]
