import type { Mutant } from './mutant.ts'

const leftNodes = 'packages/core/planner/src/release/progress/left-nodes.ts'
const budgetUsers = 'packages/core/planner/src/release/progress/budget-users.ts'
const waitingFor = 'packages/core/planner/src/release/waiting-for.ts'
const releaseStatus = 'packages/core/planner/src/release/release-status.ts'
const remaining = 'packages/core/reports/src/remaining.ts'
const presentMessage = 'packages/core/reports/src/present-message.ts'
const leftReports = 'packages/core/reports/src/left-nodes.ts'

const leftNodesTests = 'packages/core/planner/test/release/left-nodes.test.ts'
const budgetUsersTests = 'packages/core/planner/test/release/budget-users.test.ts'
const waitingForTests = 'packages/core/planner/test/release/waiting-for.test.ts'
const releaseStatusTests = 'packages/core/planner/test/release/release-status.test.ts'
const summaryTests = 'packages/core/reports/test/summary.test.ts'
const leftReportsTests = 'packages/core/reports/test/left-nodes.test.ts'

/** Faults in what is said about nodes that a release leaves, and about nodes that use the budget. */
export const mutantsOfLeftNodes: readonly Mutant[] = [
  {
    rule: 'LeftNodes',
    fault: 'an excluded node that is dead is promised an update on return',
    file: leftNodes,
    find: "    if (excluded.has(name)) return 'Excluded'\n    if (dead.has(name)) return 'Dead'\n",
    replace: "    if (dead.has(name)) return 'Dead'\n    if (excluded.has(name)) return 'Excluded'\n",
    tests: [leftNodesTests],
  },
  {
    rule: 'LeftNodes',
    fault: 'a check of an earlier time explains a NotReady node',
    file: leftNodes,
    find: "  if (!ready) return 'NotReady'\n  return isBlocked ? 'Blocked' : 'Due'",
    replace: "  if (isBlocked) return 'Blocked'\n  return ready ? 'Due' : 'NotReady'",
    tests: [leftNodesTests],
  },
  {
    rule: 'LeftNodes',
    fault: 'an accepted failure is a pod that starts',
    file: leftNodes,
    find: ', ...(failure?.accepted ?? [])',
    replace: '',
    tests: [leftNodesTests],
  },
  {
    rule: 'LeftNodes',
    fault: 'a node is counted as often as it is named',
    file: leftNodes,
    find: '[...new Set(names)]',
    replace: '[...names]',
    tests: [leftNodesTests],
  },
  {
    rule: 'LeftNodes',
    fault: 'dead nodes are mixed with those that are skipped',
    file: releaseStatus,
    find: 'const isDead = new Set(exemption.dead)',
    replace: 'const isDead = new Set(exemption.dead.slice(0, 0))',
    tests: [releaseStatusTests],
  },
  {
    rule: 'LeftNodes',
    fault: 'a report of a release that is over leaves out tolerated nodes',
    file: leftReports,
    find: 'const names = isOver ? namesLeft(',
    replace: 'const names = isOver && fleet.desired < 0 ? namesLeft(',
    tests: [leftReportsTests],
  },
  {
    rule: 'LeftNodes',
    fault: 'the end of a batch counts nodes that only return by themselves',
    file: remaining,
    find: '[...skipped, ...excluded, ...exemption.dead]).size',
    replace: '[...skipped, ...excluded, ...exemption.dead].slice(0, 0)).size',
    tests: [summaryTests],
  },
  {
    rule: 'LeftNodes',
    fault: 'a failure is hidden behind a step that matches no node',
    file: presentMessage,
    find: 'if (failure !== undefined || ',
    replace: 'if (',
    tests: [leftReportsTests],
  },
  {
    rule: 'BudgetUsers',
    fault: 'a dead node that another release has in flight is not said to be dead',
    file: budgetUsers,
    find: "    if (dead.has(name)) return 'Dead'\n",
    replace: '',
    tests: [budgetUsersTests],
  },
  {
    rule: 'BudgetUsers',
    fault: 'a node whose pod is being replaced is said to have an unavailable pod',
    file: budgetUsers,
    find: "    if (inFlight.has(name) && !hasTrouble(node, revision)) return 'InFlight'\n",
    replace: '',
    tests: [budgetUsersTests],
  },
  {
    rule: 'BudgetUsers',
    fault: 'the wait for new pods names nodes while there is budget left',
    file: waitingFor,
    find: 'const isUsedUp = unavailable.length >= allowance.limit && ',
    replace: 'const isUsedUp = ',
    tests: [waitingForTests],
  },
  {
    rule: 'BudgetUsers',
    fault: 'the wait for the last new pods of a batch names nodes that use the budget',
    file: waitingFor,
    find: ' || updated + between.length >= effectiveSize) return counted',
    replace: ') return counted',
    tests: [waitingForTests],
  },
]
