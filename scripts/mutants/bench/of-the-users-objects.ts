import type { BluntMutant } from './blunt-mutant.ts'

const releasePort = 'apps/controller/src/ports/release-port.ts'
const rolloutPort = 'apps/controller/src/ports/rollout-port.ts'
const readStatusActions = 'packages/core/planner/src/rollout/actions/read-status-actions.ts'
const refuseAction = 'packages/core/planner/src/rollout/actions/refuse-action.ts'
const rolloutStatus = 'packages/core/planner/src/rollout/rollout-status.ts'
const releaseFailure = 'packages/core/planner/src/rollout/release/release-failure.ts'
const heldRevisions = 'packages/core/planner/src/rollout/held/held-revisions.ts'
const heldWhenOvertaken = 'packages/core/planner/src/rollout/states/held-when-overtaken.ts'
const startState = 'packages/core/planner/src/rollout/states/start-state.ts'
const progressing = 'packages/core/planner/src/rollout/states/progressing-state.ts'
const releaseSpec = 'packages/core/planner/src/rollout/release/release-spec.ts'
const daemonSetPatch = 'packages/core/planner/src/release/view/daemon-set-patch.ts'
const drift = 'packages/core/planner/src/release/progress/strategy-drift.ts'
const detach = 'packages/core/planner/src/release/detach.ts'
const daemonSetPolicy = 'packages/core/admission/src/policies/daemon-set-policy.ts'
const putBack = "((variables.begins || variables.held) && variables.type != 'OnDelete' ?"
const updateStatus = 'const written = await updateStatus({ client, schemas }, { rollout, status, signal })'

/** Faults in the treatment of the user's objects: G10 to G12. */
export const mutantsOfTheUsersObjects: readonly BluntMutant[] = [
  {
    guarantee: 'G10',
    fault: 'a status overwrites concurrent changes by people',
    edits: [
      {
        file: rolloutPort,
        find: updateStatus,
        replace:
          "const written = await client.patch<Rollout>(resourcePaths.rollouts, keyOf(rollout), { type: 'json', body: [{ op: 'add', path: '/status', value: status }] as never }, { subresource: 'status', signal })",
      },
    ],
    worlds: 'people',
  },
  {
    guarantee: 'G10',
    fault: 'StepReady counts as an approval in any state of the step',
    edits: [
      {
        file: readStatusActions,
        find: "const isApproval = status.phase === 'Progressing' && own === 'StepPaused' && asked === 'StepReady'",
        replace: "const isApproval = status.phase === 'Progressing' && asked === 'StepReady'",
      },
    ],
    worlds: 'people',
  },
  {
    guarantee: 'G10',
    fault: 'an approval in the status is reset',
    edits: [{ file: readStatusActions, find: 'if (isApproval && stop === null) return { canary, warning: null }', replace: '' }],
    worlds: 'people',
  },
  {
    guarantee: 'G10',
    fault: 'an action is carried out at a step that it does not name',
    edits: [
      {
        file: refuseAction,
        find: 'if (expectedStep === undefined || expectedStep === currentStepIndex) return null',
        replace: 'if (expectedStep !== undefined || currentStepIndex >= 0) return null',
      },
    ],
    worlds: 'stale',
  },
  {
    guarantee: 'G10',
    fault: 'an action is removed from the Rollout once it is answered',
    edits: [
      {
        file: rolloutPort,
        find: updateStatus,
        replace: `${updateStatus}\n      if (status.lastAction !== undefined && status.lastAction.id !== rollout.status?.lastAction?.id)\n        await client.patch<Rollout>(resourcePaths.rollouts, keyOf(rollout), { type: 'merge', body: { metadata: { annotations: { 'tranche.dev/action': null } } } as never }, { signal })`,
      },
    ],
    worlds: 'people',
  },
  {
    guarantee: 'G11',
    fault: 'a field of the DaemonSet that is not ours is changed',
    edits: [
      {
        file: daemonSetPatch,
        find: 'if (operations.length === 0) return null',
        replace: "if (operations.length === 0) return null\n  operations.push({ op: 'add', path: '/spec/revisionHistoryLimit', value: 3 })",
      },
    ],
    worlds: 'calm',
  },
  {
    guarantee: 'G11',
    fault: 'the recorded strategy is always OnDelete',
    edits: [
      {
        file: daemonSetPatch,
        find: '{ [daemonSetAnnotations.originalUpdateStrategy]: type } : {},',
        replace: "{ [daemonSetAnnotations.originalUpdateStrategy]: 'OnDelete' } : {},",
      },
    ],
    worlds: 'drift',
  },
  {
    guarantee: 'G11',
    fault: 'a version that fails is rolled back, whatever the policy says',
    edits: [{ file: releaseFailure, find: "return action === 'Rollback' && reason", replace: 'return action !== undefined && reason' }],
    worlds: 'crashing',
  },
  {
    guarantee: 'G11',
    fault: 'drift of the strategy is corrected without a limit',
    edits: [{ file: drift, find: 'const FIGHTS_UNTIL_WE_GIVE_IN = 2', replace: 'const FIGHTS_UNTIL_WE_GIVE_IN = 200' }],
    worlds: 'drift',
  },
  {
    guarantee: 'G11',
    fault: 'the strategy is forgotten, and not restored',
    edits: [
      {
        file: detach,
        find: '...(original !== undefined && { strategy: original }),',
        replace: "...(original === undefined && { strategy: 'OnDelete' }),",
      },
    ],
    worlds: 'native',
  },
  {
    guarantee: 'G11',
    fault: 'admission lets every DaemonSet pass unchanged',
    edits: [
      {
        file: 'packages/core/admission/src/admit-daemon-set.ts',
        find: "return patch.length === 0 ? allow(warnings) : { kind: 'patch', patch, warnings: firstWarnings(warnings) }",
        replace: 'return patch.length >= 0 ? allow(warnings) : allow()',
      },
    ],
    worlds: 'native',
    named: ['G3', 'G11'],
  },
  {
    guarantee: 'G11',
    fault: 'admission policies admit a new template under RollingUpdate',
    edits: [{ file: daemonSetPolicy, find: putBack, replace: putBack.replace('(variables.begins || variables.held)', 'false') }],
    worlds: 'policies',
    named: ['G3', 'G11'],
  },
  {
    guarantee: 'G11',
    fault: 'admission policies admit RollingUpdate in mid-release',
    edits: [{ file: daemonSetPolicy, find: putBack, replace: putBack.replace('(variables.begins || variables.held)', 'variables.begins') }],
    worlds: 'policies',
  },
  {
    guarantee: 'G12',
    fault: 'no rolled-back version is recorded',
    edits: [{ file: rolloutStatus, find: '...(heldRevisions.length > 0 && { heldRevisions }),', replace: '' }],
    worlds: 'aborted',
  },
  {
    guarantee: 'G12',
    fault: 'a rolled-back version is forgotten once another template comes',
    edits: [
      {
        file: rolloutStatus,
        find: '...(heldRevisions.length > 0 && { heldRevisions }),',
        replace:
          '...(heldRevisions.some(({ reverted }) => reverted === false) && { heldRevisions: heldRevisions.filter(({ reverted }) => reverted === false) }),',
      },
    ],
    worlds: 'reapplied',
  },
  {
    guarantee: 'G12',
    fault: 'a blocked template is not recognized when it is applied again',
    edits: [
      {
        file: releasePort,
        find: 'return rollout === undefined || !isReleaseOf(release, rollout) || isStopAsked(rollout, release)',
        replace: 'return rollout === undefined || !isReleaseOf(release, rollout)',
      },
      {
        file: heldRevisions,
        find: 'return held.find((one) => one.digest === digest)',
        replace: 'return held.find((one) => one.digest === digest && one.reverted === false)',
      },
      {
        file: releaseSpec,
        find: 'if (held === undefined) return {}',
        replace: 'if (held === undefined || held.reverted !== false) return {}',
      },
    ],
    worlds: 'reapplied',
  },
  {
    guarantee: 'G12',
    fault: 'applying a blocked template again counts as a retry',
    edits: [
      {
        file: startState,
        find: 'const held = heldTemplate(holds, daemonSet)',
        replace: 'const held = [] as unknown as undefined',
      },
      {
        file: startState,
        find: 'heldRevisions: heldAsSeen(holds, daemonSet, { held, revision }),',
        replace: 'heldRevisions: isOvertaken ? holds.filter((one) => one !== heldTemplate(holds, daemonSet)) : holds,',
      },
      {
        file: startState,
        find: 'if (held !== undefined) return heldState(',
        replace: 'if (held !== undefined && view.nowMs < 0) return heldState(',
      },
    ],
    worlds: 'reapplied',
  },
  {
    guarantee: 'G12',
    fault: 'a blocked version is recorded, and released anyway',
    edits: [
      {
        file: releasePort,
        find: 'return rollout === undefined || !isReleaseOf(release, rollout) || isStopAsked(rollout, release)',
        replace: 'return rollout === undefined || !isReleaseOf(release, rollout)',
      },
      {
        file: releaseSpec,
        find: 'if (held === undefined) return {}',
        replace: 'if (held === undefined || held.reverted !== false) return {}',
      },
      {
        file: startState,
        find: 'if (held !== undefined) return heldState(',
        replace: 'if (held !== undefined && held.reverted === false) return heldState(',
      },
      {
        file: progressing,
        find: 'if (held !== undefined) return heldState(',
        replace: 'if (held !== undefined && held.reverted === false) return heldState(',
      },
    ],
    worlds: 'aborted',
  },
  {
    guarantee: 'G12',
    fault: 'a version that failed only on nodes left is forgotten when another template comes',
    edits: [{ file: heldWhenOvertaken, find: "phase === 'Progressing' || phase === 'Healthy'", replace: "phase === 'Progressing'" }],
    worlds: 'undone',
  },
]
