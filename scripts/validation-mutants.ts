import type { Mutant } from './mutant-list.ts'

const sizes = 'packages/validation/src/validate-sizes.ts'
const batchRelease = 'packages/validation/src/validate-batch-release.ts'
const change = 'packages/validation/src/validate-change.ts'
const checkObject = 'packages/validation/src/check-object.ts'

const rolloutTests = ['packages/validation/test/validate-rollout.test.ts']
const batchReleaseTests = ['packages/validation/test/validate-batch-release.test.ts']
const checkTests = ['packages/validation/test/check-object.test.ts']
const sizeTests = ['packages/validation/test/step-sizes.test.ts']
const outdatedTests = ['test/scenarios/outdated-definitions.test.ts']

/** Faults in what guards releases from bad input, by the code of the rule, or by the reason of the stall. */
export const validationMutants: readonly Mutant[] = [
  {
    rule: 'StepShrinks',
    fault: 'a number that shrinks behind a percentage is accepted though the nodes are known',
    file: sizes,
    find: 'return desired !== null && resolveSize(size, desired) < resolveSize(earlier, desired)',
    replace: 'return false',
    tests: [...rolloutTests, ...sizeTests],
  },
  {
    rule: 'StepSize',
    fault: 'a step of nothing is accepted',
    file: sizes,
    find: 'Number.isInteger(size) && size >= 1 ? null',
    replace: 'Number.isInteger(size) && size >= 0 ? null',
    tests: rolloutTests,
  },
  {
    rule: 'FailureThreshold',
    fault: 'a threshold that cannot be read counts as none',
    file: 'packages/validation/src/validate-rollout.ts',
    find: 'return threshold === undefined || scaleIntOrPercent(threshold, 100) !== null',
    replace: "return threshold === undefined || threshold !== ''",
    tests: rolloutTests,
  },
  {
    rule: 'WorkloadTaken',
    fault: 'a disabled Rollout keeps a DaemonSet from another one',
    file: 'packages/validation/src/workload.ts',
    find: 'other.spec.disabled !== true &&',
    replace: '',
    tests: ['packages/validation/test/workload.test.ts'],
  },
  {
    rule: 'WorkloadFrozen',
    fault: 'the workload may change while a release is being stopped',
    file: change,
    find: "['Progressing', 'Terminating', 'Disabling']",
    replace: "['Progressing', 'Terminating']",
    tests: rolloutTests,
  },
  {
    rule: 'BatchPartition',
    fault: 'a partition beyond the batches is accepted',
    file: batchRelease,
    find: 'batchPartition >= 0 && batchPartition < batches',
    replace: 'batchPartition >= 0',
    tests: batchReleaseTests,
  },
  {
    rule: 'RolloutId',
    fault: 'an id that no label can carry is accepted',
    file: batchRelease,
    find: "rolloutID === '' || isLabelValue(rolloutID)",
    replace: "rolloutID === '' || !rolloutID.startsWith('-')",
    tests: batchReleaseTests,
  },
  {
    rule: 'RolloutField',
    fault: 'a field of the wrong type hides what is wrong with the others',
    file: checkObject,
    find: 'return { problems: [...told, ...more]',
    replace: 'return { problems: issues.length > 0 ? told : [...told, ...more]',
    tests: checkTests,
  },
  {
    rule: 'StatusOthers',
    fault: 'people may write what the controller knows',
    file: 'packages/validation/src/validate-status-change.ts',
    find: ', ...otherProblems(before, after)]',
    replace: ']',
    tests: ['packages/validation/test/validate-status-change.test.ts'],
  },
  {
    rule: 'InvalidSpec',
    fault: 'a BatchRelease that breaks rules is carried out',
    file: 'packages/planner/src/release/wanted-allowance.ts',
    find: 'if (problems.length > 0) return stop(',
    replace: 'if (problems.length > 99) return stop(',
    tests: ['packages/planner/test/release/wanted-allowance.test.ts'],
  },
  {
    rule: 'CRDOutdated',
    fault: 'a release starts though its record would be dropped',
    file: 'packages/planner/src/rollout/course-of.ts',
    find: "if (view.schemaGap !== undefined) return stalledCourse(before, 'CRDOutdated', view.schemaGap)",
    replace: '',
    tests: outdatedTests,
  },
  {
    rule: 'CRDOutdated',
    fault: 'a status is written over and over because some of it is dropped',
    file: 'packages/planner/src/rollout/rollout-status.ts',
    find: 'if (schemaGap === undefined) return status',
    replace: "if (schemaGap !== '') return status",
    tests: outdatedTests,
  },
]
