import type { Mutant } from './mutant.ts'

const validateSizes = 'packages/core/validation/src/fields/validate-sizes.ts'
const validateBatchRelease = 'packages/core/validation/src/validate-batch-release.ts'

const validateRolloutTests = 'packages/core/validation/test/validate-rollout.test.ts'
const validateBatchReleaseTests = 'packages/core/validation/test/validate-batch-release.test.ts'

/** Faults in the validation of input for releases, by the code of the rule or the reason of the stall. */
export const mutantsOfValidation: readonly Mutant[] = [
  {
    rule: 'StepShrinks',
    fault: 'a number that is smaller than the percentage before it is accepted though the nodes are known',
    file: validateSizes,
    find: 'return desired !== null && resolveSize(size, desired) < resolveSize(earlier, desired)',
    replace: 'return false',
    tests: [validateRolloutTests, 'packages/core/validation/test/step-sizes.test.ts'],
  },
  {
    rule: 'StepSize',
    fault: 'a step of 0 nodes is accepted',
    file: validateSizes,
    find: 'Number.isInteger(size) && size >= 1 ? null',
    replace: 'Number.isInteger(size) && size >= 0 ? null',
    tests: [validateRolloutTests],
  },
  {
    rule: 'FailureThreshold',
    fault: 'an invalid threshold counts as none',
    file: 'packages/core/validation/src/validate-rollout.ts',
    find: 'return threshold === undefined || scaleIntOrPercent(threshold, 100) !== null',
    replace: "return threshold === undefined || threshold !== ''",
    tests: [validateRolloutTests],
  },
  {
    rule: 'WorkloadTaken',
    fault: 'a disabled Rollout blocks its DaemonSet for another one',
    file: 'packages/core/validation/src/fields/workload.ts',
    find: 'return spec.disabled !== true && metadata.deletionTimestamp === undefined',
    replace: 'return metadata.deletionTimestamp === undefined',
    tests: ['packages/core/validation/test/workload.test.ts'],
  },
  {
    rule: 'WorkloadFrozen',
    fault: 'the workload may change while a release is being stopped',
    file: 'packages/core/validation/src/validate-change.ts',
    find: "['Progressing', 'Terminating', 'Disabling']",
    replace: "['Progressing', 'Terminating']",
    tests: [validateRolloutTests],
  },
  {
    rule: 'BatchPartition',
    fault: 'a partition beyond the batches is accepted',
    file: validateBatchRelease,
    find: 'batchPartition >= 0 && batchPartition < batches',
    replace: 'batchPartition >= 0',
    tests: [validateBatchReleaseTests],
  },
  {
    rule: 'RolloutId',
    fault: 'an id that is no valid label value is accepted',
    file: validateBatchRelease,
    find: "rolloutID === '' || isLabelValue(rolloutID)",
    replace: "rolloutID === '' || !rolloutID.startsWith('-')",
    tests: [validateBatchReleaseTests],
  },
  {
    rule: 'RolloutField',
    fault: 'a field of the wrong type hides the problems of the others',
    file: 'packages/core/validation/src/check-object.ts',
    find: 'const fixed = issues.length === 0 ? value :',
    replace: 'const fixed = issues.length === 0 ? value : 1 < 2 ? null :',
    tests: ['packages/core/validation/test/check-object.test.ts'],
  },
  {
    rule: 'StatusOthers',
    fault: 'users may write the fields of the controller',
    file: 'packages/core/validation/src/validate-status-change.ts',
    find: ', ...otherProblems(before, after)])',
    replace: '])',
    tests: ['packages/core/validation/test/validate-status-change.test.ts'],
  },
]
