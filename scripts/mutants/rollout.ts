import type { Mutant } from './mutant.ts'

const rolloutStatus = 'packages/planner/src/rollout/rollout-status.ts'
const heedWishes = 'packages/planner/src/rollout/heed-wishes.ts'
const answerAction = 'packages/planner/src/rollout/answer-action.ts'
const heldRevisions = 'packages/planner/src/rollout/held-revisions.ts'
const releaseSpec = 'packages/planner/src/rollout/release-spec.ts'
const releaseFailure = 'packages/planner/src/rollout/release-failure.ts'
const reapply = 'packages/planner/src/rollout/reapply.ts'
const releasePolicy = 'packages/planner/src/rollout/release-policy.ts'
const onDelete = 'packages/planner/src/rollout/on-delete.ts'

const planRolloutTests = 'packages/planner/test/rollout/plan-rollout.test.ts'
const wishesProperties = 'packages/planner/test/rollout/wishes.property.test.ts'
const answerActionTests = 'packages/planner/test/rollout/answer-action.test.ts'
const heldRevisionsTests = 'packages/planner/test/rollout/held-revisions.test.ts'
const heldRevisionsProperties = 'packages/planner/test/rollout/held-revisions.property.test.ts'
const outdatedDefinitionsTests = 'test/scenarios/outdated-definitions.test.ts'
const failedCourseTests = 'packages/planner/test/rollout/failed-course.test.ts'
const reapplyTests = 'packages/planner/test/rollout/reapply.test.ts'
const releasePolicyTests = 'packages/planner/test/rollout/release-policy.test.ts'
const policiesTests = 'test/scenarios/policies.test.ts'
const onDeleteTests = 'packages/planner/test/rollout/on-delete.test.ts'

/** Faults in the decisions for a Rollout: wishes, what is held, and how it goes. */
export const mutantsOfRollout: readonly Mutant[] = [
  {
    rule: 'verdict',
    fault: 'the end of a pause from before lifts a failure that nobody has seen',
    file: 'packages/planner/src/rollout/wishes-after-pause.ts',
    find: 'lifts: wasTold(view, failure)',
    replace: 'lifts: true',
    tests: [failedCourseTests],
  },
  {
    rule: 'G9',
    fault: 'a Rollout acknowledges a stop before its release has',
    file: rolloutStatus,
    find: "if (course.phase === 'Progressing') return acknowledged ? generation : before",
    replace: "if (course.phase === 'Progressing') return generation",
    tests: [planRolloutTests],
  },
  {
    rule: 'CRDOutdated',
    fault: 'a status is written over and over because some of it is dropped',
    file: rolloutStatus,
    find: 'if (schemaGap === undefined) return status',
    replace: "if (schemaGap !== '') return status",
    tests: [planRolloutTests],
  },
  {
    rule: 'G9',
    fault: 'a leader with an old Rollout undoes what was written for a newer one',
    file: 'packages/planner/src/rollout/plan-rollout.ts',
    find: 'return (release?.spec.tranche?.rolloutGeneration ?? 0) > generationOf(rollout)',
    replace: 'return false',
    tests: [planRolloutTests],
  },
  {
    rule: 'G10',
    fault: 'an approval is put back without a word',
    file: heedWishes,
    find: 'if (isApproval && stop === null) return { canary, warning: null }',
    replace: 'if (isApproval && stop === null) return { canary: { ...canary, currentStepState: own }, warning: null }',
    tests: [wishesProperties, planRolloutTests],
  },
  {
    rule: 'G10',
    fault: 'a step is approved that nobody has seen paused',
    file: heedWishes,
    find: "own === 'StepPaused' && asked === 'StepReady'",
    replace: "asked === 'StepReady'",
    tests: [wishesProperties, planRolloutTests],
  },
  {
    rule: 'G10',
    fault: 'a jump is put back without a word',
    file: heedWishes,
    find: 'if (isOwn || (nextStepIndex >= 1 && nextStepIndex <= steps)) return { canary, warning: null }',
    replace:
      'if (isOwn || nextStepIndex >= 1) return { canary: { ...canary, nextStepIndex: nextIndex(currentStepIndex, steps) }, warning: null }',
    tests: [wishesProperties, planRolloutTests],
  },
  {
    rule: 'G10',
    fault: 'an approval written while the revision is held is kept for later',
    file: heedWishes,
    find: 'if (isApproval && stop === null)',
    replace: 'if (isApproval)',
    tests: [heldRevisionsTests],
  },
  {
    rule: 'G7',
    fault: 'an action is carried out again by whoever comes next',
    file: answerAction,
    find: 'return answeredIds(rollout).includes(lastAction.id) ? null : { lastAction, effect }',
    replace: 'return { lastAction, effect }',
    tests: [answerActionTests],
  },
  {
    rule: 'G10',
    fault: 'a wish is carried out again when an older manifest is applied',
    file: answerAction,
    find: 'return answeredIds(rollout).includes(lastAction.id) ? null : { lastAction, effect }',
    replace: 'return rollout.status?.lastAction?.id === lastAction.id ? null : { lastAction, effect }',
    tests: [answerActionTests],
  },
  {
    rule: 'G12',
    fault: 'a held template is not known again',
    file: heldRevisions,
    find: 'return held.find((one) => one.digest === digest)',
    replace: "return held.find((one) => one.digest === '')",
    tests: [heldRevisionsTests, heldRevisionsProperties],
  },
  {
    rule: 'G12',
    fault: 'the template is put back again and again',
    file: heldRevisions,
    find: 'return held.reverted !== false || isMarked(daemonSet, held)',
    replace: "return held.revision === ''",
    tests: [heldRevisionsTests],
  },
  {
    rule: 'G12',
    fault: 'the stable template is put back again and again',
    file: heldRevisions,
    find: 'return held.reverted !== false || isMarked(daemonSet, held)',
    replace: "return held.reverted !== false || held.revision === ''",
    tests: [heldRevisionsTests],
  },
  {
    rule: 'G12',
    fault: 'a held template leads on when it is applied again',
    file: releaseSpec,
    find: 'if (held === undefined) return {}',
    replace: 'if (held !== null) return {}',
    tests: [heldRevisionsTests, heldRevisionsProperties],
  },
  {
    rule: 'G12',
    fault: 'a held revision is released by a re-apply',
    file: releaseSpec,
    find: "return { hold: { reason: 'RevisionHeld', id: canaryRevision, message } }",
    replace: 'return message === "" ? { hold: { reason: "", id: "", message } } : {}',
    tests: [heldRevisionsTests],
  },
  {
    rule: 'G12',
    fault: 'a template is put back over one that was applied in between',
    file: 'packages/planner/src/rollout/plan-revert.ts',
    find: "    { op: 'test', path: '/metadata/generation', value: daemonSet.metadata.generation },\n",
    replace: '',
    tests: [heldRevisionsTests],
  },
  {
    rule: 'CRDOutdated',
    fault: 'a release starts though its record would be dropped',
    file: 'packages/planner/src/rollout/obstacle-of.ts',
    find: '  outdatedDefinitions,\n',
    replace: '',
    tests: [outdatedDefinitionsTests],
  },
  {
    rule: 'F9',
    fault: 'a pause that the BatchRelease is not told yet keeps nothing from being opened',
    file: onDelete,
    find: 'rollout.spec.strategy.paused === true && paused !== true',
    replace: 'rollout.spec.strategy.paused === null && paused !== true',
    tests: [onDeleteTests],
  },
  {
    rule: 'G12',
    fault: 'a revision that was taken back is opened before its BatchRelease is told',
    file: onDelete,
    find: 'if (hold === undefined && canaryRevision !== undefined',
    replace: 'if (hold !== undefined && canaryRevision !== undefined',
    tests: [onDeleteTests],
  },
  {
    rule: 'G9',
    fault: 'a record is opened though the Rollout is paused',
    file: onDelete,
    find: 'return rollout.spec.strategy.paused === true && paused !== true',
    replace: 'return release.metadata.name === ""',
    tests: [onDeleteTests],
  },
  {
    rule: 'G12',
    fault: 'Complete releases a held revision when the Rollout goes',
    file: 'packages/planner/src/rollout/going-course.ts',
    find: 'if (held !== undefined) return isBeingTakenBack(held) ? heldCourse(view, daemonSet, before, held) : null',
    replace: '',
    tests: [onDeleteTests],
  },
  {
    rule: 'G9',
    fault: 'a spec that cannot be acted on is observed before its release has stopped',
    file: 'packages/planner/src/rollout/rollout-status.ts',
    find: 'if (course.obstacle !== null) return paused || !present ? generation : before',
    replace: 'if (course.obstacle !== null) return generation',
    tests: [planRolloutTests],
  },
  {
    rule: 'G6',
    fault: 'a release that was finished passes for the rollback that begins where it ended',
    file: 'packages/planner/src/release/is-finalized.ts',
    find: '  if (!isStatusOfRelease(release)) return false\n',
    replace: '',
    tests: ['packages/planner/test/rollout/rollback.test.ts'],
  },
  {
    rule: 'G11',
    fault: 'a late leader puts a template back on a DaemonSet that was let go',
    file: 'packages/planner/src/rollout/plan-revert.ts',
    find: "    { op: 'test', path: annotationPath(daemonSetAnnotations.rollout), value: rollout.metadata.name },\n",
    replace: '',
    tests: [heldRevisionsTests],
  },
  {
    rule: 'G6',
    fault: 'a rollback counts as over when its Rollout is enabled again',
    file: 'packages/planner/src/rollout/course-of.ts',
    find: 'return isReturn(canary) || heldRevisions.some(({ revision }) => revision === canary.canaryRevision)',
    replace: 'return canary.canaryRevision === "" && isReturn(canary) && heldRevisions.length > 0',
    tests: [onDeleteTests],
  },
  {
    rule: 'failure',
    fault: 'a release that a verdict stops says that all is well',
    file: releaseFailure,
    find: 'return failure.retry === acceptedWishes.retry ? failure : null',
    replace: 'return failure.retry === acceptedWishes.retry ? null : failure',
    tests: [failedCourseTests],
  },
  {
    rule: 'failure',
    fault: 'a retry is answered by the verdict of before',
    file: releaseFailure,
    find: 'return failure.retry === acceptedWishes.retry ? failure : null',
    replace: 'return failure',
    tests: [failedCourseTests],
  },
  {
    rule: 'failure',
    fault: 'a release is said to be stalled while pods can still be deleted for it',
    file: 'packages/planner/src/rollout/failed-course.ts',
    find: 'if (releaseReport(view).stopped) return',
    replace: 'if (releaseReport(view).present) return',
    tests: [failedCourseTests],
  },
  {
    rule: 'failure',
    fault: 'a version is never taken back by itself',
    file: releaseFailure,
    find: "return action === 'Rollback' && reason !== 'AnalysisInconclusive'",
    replace: 'return false',
    tests: [failedCourseTests],
  },
  {
    rule: 'failure',
    fault: 'a version is taken back that nobody could judge',
    file: releaseFailure,
    find: "return action === 'Rollback' && reason !== 'AnalysisInconclusive'",
    replace: "return action === 'Rollback'",
    tests: [failedCourseTests],
  },
  {
    rule: 'held first',
    fault: 'the status says that a revision is held before its release is stopped',
    file: 'packages/planner/src/rollout/hold-first.ts',
    find: "return record === undefined || (record.state === 'stopped' && record.holds.length > 0)\n}",
    replace: 'return true\n}',
    tests: [failedCourseTests],
  },
  {
    rule: 'G12',
    fault: 'the stable template is put back every second while somebody applies the other one',
    file: reapply,
    find: 'Math.max(nowMs, lastMs + backOffMs)',
    replace: 'nowMs',
    tests: [reapplyTests],
  },
  {
    rule: 'G12',
    fault: 'the waits before the stable template is put back again do not grow',
    file: reapply,
    find: 'BACK_OFF_MS * 2 ** (held.reverts ?? 0)',
    replace: 'BACK_OFF_MS',
    tests: [reapplyTests],
  },
  {
    rule: 'G12',
    fault: 'the stable template is put back again days later',
    file: reapply,
    find: 'Math.min(BACK_OFF_MS * 2 ** (held.reverts ?? 0), BACK_OFF_MAX_MS)',
    replace: 'BACK_OFF_MS * 2 ** (held.reverts ?? 0)',
    tests: [reapplyTests],
  },
  {
    rule: 'G12',
    fault: 'the stable template is put back before its time',
    file: 'packages/planner/src/rollout/plan-revert.ts',
    find: ' || untilRevertMs(held, view.nowMs) > 0)) return null',
    replace: ')) return null',
    tests: [reapplyTests],
  },
  {
    rule: 'policy',
    fault: 'a release goes on by the defaults while its policy is gone',
    file: releasePolicy,
    find: "case 'missing':\n      return {",
    replace: "case 'missing':\n      return 1 > 0 ? null : {",
    tests: [releasePolicyTests, policiesTests],
  },
  {
    rule: 'policy',
    fault: 'a release goes by a policy that breaks its rules',
    file: releasePolicy,
    find: 'if (first === undefined) return null\n',
    replace: 'return null\n',
    tests: [releasePolicyTests, policiesTests],
  },
  {
    rule: 'policy',
    fault: 'what is brought to an end goes by laxer terms once its policy is gone',
    file: releasePolicy,
    find: 'if (policyObstacle(view) !== null) return termsOf(view.release?.spec.tranche)',
    replace: 'if (policyObstacle(view) !== null) return termsOf(undefined)',
    tests: [releasePolicyTests],
  },
]
