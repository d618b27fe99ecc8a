import type { Mutant } from './mutant-list.ts'

const rolloutPlanner = 'packages/planner/src/rollout'
const answers = `${rolloutPlanner}/answer-action.ts`
const heeds = `${rolloutPlanner}/heed-wishes.ts`
const releaseSpec = `${rolloutPlanner}/release-spec.ts`
const held = `${rolloutPlanner}/held-revisions.ts`
const going = `${rolloutPlanner}/going-course.ts`
const onDelete = `${rolloutPlanner}/on-delete.ts`

const answerTests = ['packages/planner/test/rollout/answer-action.test.ts']
const heldTests = ['packages/planner/test/rollout/held-revisions.test.ts']
const onDeleteTests = ['packages/planner/test/rollout/on-delete.test.ts']

/** Faults in how wishes are heeded, what is held, and how a Rollout goes. */
export const wishMutants: readonly Mutant[] = [
  {
    rule: 'F9',
    fault: 'a pause that the BatchRelease is not told yet keeps nothing from being opened',
    file: onDelete,
    find: 'rollout.spec.strategy.paused === true && paused !== true',
    replace: 'rollout.spec.strategy.paused === null && paused !== true',
    tests: onDeleteTests,
  },
  {
    rule: 'G12',
    fault: 'a revision that was taken back is opened before its BatchRelease is told',
    file: onDelete,
    find: 'if (hold === undefined && canaryRevision !== undefined',
    replace: 'if (hold !== undefined && canaryRevision !== undefined',
    tests: onDeleteTests,
  },
  {
    rule: 'G10',
    fault: 'a wish is carried out again when an older manifest is applied',
    file: answers,
    find: 'return answeredIds(rollout).includes(lastAction.id) ? null : { lastAction, effect }',
    replace: 'return rollout.status?.lastAction?.id === lastAction.id ? null : { lastAction, effect }',
    tests: answerTests,
  },
  {
    rule: 'G10',
    fault: 'an approval written while the revision is held is kept for later',
    file: heeds,
    find: 'if (isApproval && !isHeld(status, canary))',
    replace: 'if (isApproval)',
    tests: heldTests,
  },
  {
    rule: 'G12',
    fault: 'a held revision is released by a re-apply',
    file: releaseSpec,
    find: "return { hold: { reason: 'RevisionHeld', id: canaryRevision, message } }",
    replace: 'return message === "" ? { hold: { reason: "", id: "", message } } : {}',
    tests: heldTests,
  },
  {
    rule: 'G12',
    fault: 'the stable template is put back again and again',
    file: held,
    find: 'return held.reverted !== false || metadata.annotations?.[daemonSetAnnotations.reverted] === held.at',
    replace: "return held.reverted !== false || metadata.name === ''",
    tests: heldTests,
  },
  {
    rule: 'G12',
    fault: 'Complete releases a held revision when the Rollout goes',
    file: going,
    find: 'if (heldTemplate(before.heldRevisions, daemonSet) !== undefined) return null',
    replace: '',
    tests: onDeleteTests,
  },
  {
    rule: 'G9',
    fault: 'a record is opened though the Rollout is paused',
    file: onDelete,
    find: 'return rollout.spec.strategy.paused === true && release.spec.tranche?.paused !== true',
    replace: 'return release.metadata.name === ""',
    tests: onDeleteTests,
  },
]
