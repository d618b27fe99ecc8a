import type { Mutant } from './mutant.ts'

const oversize = 'packages/words/api-schema/src/oversize.ts'
const bounded = 'packages/core/validation/src/problems/bounded.ts'
const problem = 'packages/core/validation/src/problems/problem.ts'
const nodeScope = 'packages/core/fence/src/nodes/node-scope.ts'
const deny = 'packages/core/admission/src/deny.ts'

const sizeTests = 'packages/words/api-schema/test/size-limits.test.ts'
const boundedTests = 'packages/core/validation/test/bounded-findings.test.ts'
const answerTests = 'packages/core/admission/test/bounded-answers.test.ts'
const statusTests = 'packages/core/planner/test/rollout/bounded-status.test.ts'
const ruleTests = 'packages/core/fence/test/oversized-rules.test.ts'

/** Faults in the limits of sizes, and in the lengths of findings. */
export const mutantsOfSizes: readonly Mutant[] = [
  {
    rule: 'RolloutSize',
    fault: 'the values of selectors have no maximum together',
    file: oversize,
    find: '  search[total] += count',
    replace: "  if (total !== 'values') search[total] += count",
    tests: [sizeTests, boundedTests],
  },
  {
    rule: 'RolloutSize',
    fault: 'requirements of selectors count for each selector alone',
    file: oversize,
    find: "isTooMuch(search, 'requirements', count, path)",
    replace: "isTooMuch({ ...search, requirements: 0 }, 'requirements', count, path)",
    tests: [sizeTests, boundedTests],
  },
  {
    rule: 'RolloutSize',
    fault: 'unknown fields do not count',
    file: oversize,
    find: "if (isTooMuch(search, 'entries', names.length, path)) return",
    replace: "if (schema.properties === undefined && isTooMuch(search, 'entries', names.length, path)) return",
    tests: [sizeTests, boundedTests],
  },
  {
    rule: 'PolicySize',
    fault: 'the search continues after twenty lists',
    file: oversize,
    find: 'search.isOver = search.lists.length >= MOST_FOUND',
    replace: 'search.isOver = search.lists.length >= 2 * MOST_FOUND',
    tests: [sizeTests],
  },
  {
    rule: 'BatchReleaseSize',
    fault: 'the steps of a hand-written BatchRelease have no maximum',
    file: 'packages/words/api-schema/src/release-policy.ts',
    find: 'steps: listUpTo(nodeSelectorSchema, sizeLimits.steps)',
    replace: 'steps: atomicList(nodeSelectorSchema)',
    tests: [sizeTests, boundedTests],
  },
  {
    rule: 'BatchReleaseSize',
    fault: 'a text that is too long is not reported',
    file: 'packages/core/validation/src/fields/oversize-problems.ts',
    find: 'return firstProblems([...problems, ...unreported])',
    replace: 'return firstProblems(problems)',
    tests: [boundedTests],
  },
  {
    rule: 'BatchReleaseSize',
    fault: 'the terms of a Rollout and of a policy do not fit into one BatchRelease',
    file: 'packages/words/api-schema/src/size-limits.ts',
    find: 'values: 2 * ofOneObject.values',
    replace: 'values: ofOneObject.values',
    tests: [sizeTests],
  },
  {
    rule: 'MoreProblems',
    fault: 'a check lists every problem',
    file: bounded,
    find: 'if (problems.length <= MOST_FINDINGS) return problems',
    replace: 'if (problems.length <= 1_000_000) return problems',
    tests: [boundedTests],
  },
  {
    rule: 'MoreProblems',
    fault: 'problems that are not listed are not mentioned',
    file: bounded,
    find: 'return [...problems.slice(0, MOST_FINDINGS), { ...problemOf',
    replace:
      'if (reason !== undefined) return problems.slice(0, MOST_FINDINGS)\n  return [...problems.slice(0, MOST_FINDINGS), { ...problemOf',
    tests: [boundedTests],
  },
  {
    rule: 'Action',
    fault: 'a message repeats a field of any length',
    file: problem,
    find: 'message: clipText(message, LONGEST_SENTENCE)',
    replace: 'message',
    tests: [boundedTests, answerTests],
  },
  {
    rule: 'StepNodes',
    fault: 'a path contains a label key of any length',
    file: problem,
    find: 'path: clipText(path, LONGEST_PATH)',
    replace: 'path',
    tests: [boundedTests, answerTests],
  },
  {
    rule: 'RolloutSize',
    fault: 'a Rollout that is too large is admitted, as if the API server had checked it',
    file: 'packages/core/admission/src/admit-rollout.ts',
    find: 'checked.object === null && checked.isOversized !== true',
    replace: 'checked.object === null',
    tests: [answerTests],
  },
  {
    rule: 'MoreProblems',
    fault: 'the message of a denied request has any length',
    file: deny,
    find: 'problemsText(problems, LONGEST_MESSAGE)',
    replace: 'problemsText(problems, 1_000_000)',
    tests: [answerTests],
  },
  {
    rule: 'F3',
    fault: 'rules that are too large are compared with each node',
    file: nodeScope,
    find: 'if (isTooLarge(rules)) return noNode',
    replace: '',
    tests: [ruleTests],
  },
  {
    rule: 'F1',
    fault: 'a record without rules is valid under rules that are too large',
    file: nodeScope,
    find: "digest: 'f'.repeat(16)",
    replace: "digest: ''",
    tests: [ruleTests],
  },
  {
    rule: 'BatchReleaseSize',
    fault: 'the status repeats a hold of any length',
    file: 'packages/core/planner/src/release/progress/wanted-allowance.ts',
    find: 'message: clipText(message, sizeLimits.message)',
    replace: 'message',
    tests: [statusTests],
  },
  {
    rule: 'PolicyName',
    fault: 'the status repeats the name of a policy of any length',
    file: 'packages/core/planner/src/rollout/view/release-policy.ts',
    find: "clipText(reading.kind === 'found' ? reading.policy.metadata.name : reading.name, sizeLimits.objectName)",
    replace: "reading.kind === 'found' ? reading.policy.metadata.name : reading.name",
    tests: [statusTests],
  },
  {
    rule: 'Action',
    fault: 'the status keeps ids of any length',
    file: 'packages/words/api-schema/src/rollout-action.ts',
    find: '.max(sizeLimits.identity)',
    replace: '',
    tests: ['packages/core/planner/test/rollout/answer-action.test.ts'],
  },
  {
    rule: 'MoreProblems',
    fault: 'an answer of the REST API does not say that there are more problems',
    file: 'apps/api/src/http/field-problems.ts',
    find: 'if (problems.length <= MOST_PROBLEMS) return problems',
    replace: 'if (problems.length <= 1_000_000) return problems',
    tests: ['apps/api/test/field-problems.test.ts'],
  },
  {
    rule: 'MoreProblems',
    fault: 'an answer about manifests lists every finding',
    file: 'apps/api/src/checks/validate-manifests.ts',
    find: 'const MOST_LISTED = 1_000',
    replace: 'const MOST_LISTED = 1_000_000',
    tests: ['apps/api/test/validate.test.ts'],
  },
  {
    rule: 'Words',
    fault: 'a cut leaves half a character',
    file: 'packages/words/kube-types/src/clip-text.ts',
    find: '    .toWellFormed()\n',
    replace: '',
    tests: ['packages/words/kube-types/test/clip-text.test.ts'],
  },
  {
    rule: 'Words',
    fault: 'a status with half a character differs from what the API server stores',
    file: 'packages/words/kube-types/src/canonical-json.ts',
    find: 'return a.toWellFormed() === b.toWellFormed()',
    replace: 'return a === b',
    tests: ['packages/words/kube-types/test/canonical-json.test.ts'],
  },
  {
    rule: 'Words',
    fault: 'half a character in an annotation stays half',
    file: 'packages/words/kube-types/src/read-json.ts',
    find: "half === undefined ? found : '\\uFFFD'",
    replace: 'half === undefined ? found : half',
    tests: ['packages/words/kube-types/test/read-json.test.ts', 'test/scenarios/split-characters.test.ts'],
  },
]
