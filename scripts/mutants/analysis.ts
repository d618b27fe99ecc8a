import type { Mutant } from './mutant.ts'

const recordMeasurement = 'packages/core/analysis/src/record-measurement.ts'
const judgeAnswer = 'packages/core/analysis/src/judge-answer.ts'
const runIdentity = 'packages/core/analysis/src/run-identity.ts'
const analysisVerdict = 'packages/core/analysis/src/analysis-verdict.ts'
const planAnalyses = 'packages/core/analysis/src/plan-analyses.ts'

const recordTests = 'packages/core/analysis/test/record-measurement.test.ts'
const judgeTests = 'packages/core/analysis/test/judge-answer.test.ts'
const planTests = 'packages/core/analysis/test/plan-analyses.test.ts'
const verdictTests = 'packages/core/analysis/test/analysis-verdict.test.ts'

/** Faults in the judgement of measurements by analyses. */
export const mutantsOfAnalysis: readonly Mutant[] = [
  {
    rule: 'analysis',
    fault: 'measurements from before a retry let a step continue',
    file: 'packages/core/planner/src/rollout/release/soak.ts',
    find: ', ...(retry !== undefined && { retry }) }',
    replace: ', ...(_last !== undefined && { retry: _last }) }',
    tests: ['test/scenarios/analysis.test.ts'],
  },
  {
    rule: 'analysis',
    fault: 'a step does not wait for analyses that began in its pause',
    file: 'packages/core/planner/src/rollout/release/soak.ts',
    find: "analyses.kind === 'done' ? null : waiting",
    replace: "analyses.kind !== '' ? null : waiting",
    tests: ['test/scenarios/analysis.test.ts'],
  },
  {
    rule: 'analysis',
    fault: 'one failure more than the limit is tolerated',
    file: recordMeasurement,
    find: "if (failed > pacing.failureLimit) return 'Failed'",
    replace: "if (failed > pacing.failureLimit + 1) return 'Failed'",
    tests: [recordTests],
  },
  {
    rule: 'analysis',
    fault: 'exactly as many failures as the limit fail the analysis',
    file: recordMeasurement,
    find: "if (failed > pacing.failureLimit) return 'Failed'",
    replace: "if (failed >= Math.max(1, pacing.failureLimit)) return 'Failed'",
    tests: [recordTests],
  },
  {
    rule: 'analysis',
    fault: 'nothing is ever inconclusive',
    file: recordMeasurement,
    find: "if (inconclusive > pacing.inconclusiveLimit) return 'Inconclusive'",
    replace: '',
    tests: [recordTests],
  },
  {
    rule: 'analysis',
    fault: 'errors count although they are not consecutive',
    file: recordMeasurement,
    find: 'consecutiveErrors: isError ? (run.consecutiveErrors ?? 0) + 1 : 0',
    replace: 'consecutiveErrors: (run.consecutiveErrors ?? 0) + (isError ? 1 : 0)',
    tests: [recordTests],
  },
  {
    rule: 'analysis',
    fault: 'an analysis that only has errors never fails',
    file: recordMeasurement,
    find: "if (consecutiveErrors > pacing.consecutiveErrorLimit) return 'Error'",
    replace: '',
    tests: [recordTests],
  },
  {
    rule: 'analysis',
    fault: 'an error counts as a measurement',
    file: recordMeasurement,
    find: 'successful + failed + inconclusive >= pacing.count',
    replace: 'successful + failed + inconclusive + (run.errors ?? 0) >= pacing.count',
    tests: [recordTests],
  },
  {
    rule: 'analysis',
    fault: 'NaN counts as a success, because no failure condition holds',
    file: judgeAnswer,
    find: "if (hasNaN(facts.result)) return { phase: 'Inconclusive', message: 'the result is NaN, which is not a number' }",
    replace: '',
    tests: [judgeTests],
  },
  {
    rule: 'analysis',
    fault: 'a success outweighs a failure',
    file: judgeAnswer,
    find: "if (failed) return { phase: 'Failed',",
    replace: "if (failed && success === undefined) return { phase: 'Failed',",
    tests: [judgeTests],
  },
  {
    rule: 'analysis',
    fault: 'an HTTP error is judged like a normal answer',
    file: judgeAnswer,
    find: 'if (!asksStatus && !isGood(answer)) return refused(answer)',
    replace: '',
    tests: [judgeTests],
  },
  {
    rule: 'analysis',
    fault: 'a retry continues with the runs from before it',
    file: runIdentity,
    find: ' || run.retry !== tranche?.retry) return undefined',
    replace: ') return undefined',
    tests: [planTests, verdictTests],
  },
  {
    rule: 'analysis',
    fault: 'measurements of another release decide',
    file: runIdentity,
    find: "run.release !== (tranche?.release ?? '') || ",
    replace: '',
    tests: [planTests, verdictTests],
  },
  {
    rule: 'analysis',
    fault: 'measurements by other rules decide',
    file: runIdentity,
    find: 'analysis !== undefined && analysisDigest(analysis) === run.spec ? analysis : undefined',
    replace: 'analysis',
    tests: [planTests, verdictTests],
  },
  {
    rule: 'analysis',
    fault: 'a dry run decides',
    file: analysisVerdict,
    find: "return dryRun !== true && phase !== 'Running'",
    replace: "return dryRun !== false && phase !== 'Running'",
    tests: [verdictTests, planTests],
  },
  {
    rule: 'analysis',
    fault: 'a step is measured before it has soaked',
    file: planAnalyses,
    find: 'return soakLeftMs === 0 && isOfStep(analysis, step)',
    replace: 'return Number.isFinite(soakLeftMs) && isOfStep(analysis, step)',
    tests: [planTests],
  },
]
