import type { Mutant } from './mutant.ts'

const waitReasons = 'packages/words/api-schema/src/states/wait-reasons.ts'
const personWaits = 'packages/core/planner/src/notify/person-waits.ts'
const reminders = 'packages/core/planner/src/notify/reminders.ts'
const personWait = 'packages/core/reports/src/policy/person-wait.ts'
const outcomeOf = 'packages/core/reports/src/outcome-of.ts'
const needOf = 'packages/core/reports/src/need-of.ts'
const pinnedConfig = 'packages/core/reports/src/policy/pinned-config.ts'
const prospects = 'packages/core/config/src/pin/pin-prospects.ts'
const adviseConfig = 'packages/core/validation/src/advise-config.ts'
const revisionText = 'packages/core/planner/src/rollout/held/revision-text.ts'
const policySigns = 'packages/clients/doctor/src/signs/policy-signs.ts'
const checkPolicies = 'packages/clients/doctor/src/checks/check-policies.ts'

const personWaitTests = 'packages/core/reports/test/person-wait.test.ts'
const reminderTests = 'packages/core/planner/test/notify/outbox.test.ts'
const pinnedTests = 'packages/core/reports/test/pinned-config.test.ts'
const prospectTests = 'packages/core/config/test/pin/pin-prospects.test.ts'
const documentTests = 'packages/core/validation/test/check-documents.test.ts'
const revisionTextTests = 'packages/core/planner/test/rollout/revision-text.test.ts'
const policyTests = 'packages/clients/doctor/test/check-policies.test.ts'

/** Faults in what is reported about policies that ask for too much, about held templates, and about pinned config. */
export const mutantsOfReports: readonly Mutant[] = [
  {
    rule: 'Blocked',
    fault: 'a release without a right proceeds by itself',
    file: outcomeOf,
    find: "if (personWaitOf(outline.facts.rollout, outline.release) !== null) return 'Blocked'",
    replace: '',
    tests: [personWaitTests],
  },
  {
    rule: 'Blocked',
    fault: 'only a person ends a wait for an image',
    file: waitReasons,
    find: '  ImagePull: false,',
    replace: '  ImagePull: true,',
    tests: [personWaitTests],
  },
  {
    rule: 'Blocked',
    fault: 'a wait for the right to drain may end by itself',
    file: waitReasons,
    find: '  DrainNotAllowed: true,',
    replace: '  DrainNotAllowed: false,',
    tests: [personWaitTests],
  },
  {
    rule: 'Blocked',
    fault: 'a paused step waits for a right',
    file: personWaits,
    find: " && canaryStatus?.currentStepState !== 'StepPaused'",
    replace: '',
    tests: [personWaitTests],
  },
  {
    rule: 'Blocked',
    fault: 'a release that is over waits for a right',
    file: personWaits,
    find: "phase === 'Progressing' && progressing",
    replace: 'progressing',
    tests: [personWaitTests, reminderTests],
  },
  {
    rule: 'Blocked',
    fault: 'a right counts while other nodes proceed',
    file: personWait,
    find: "state === 'open' && isHeld ?",
    replace: "state === 'open' ?",
    tests: [personWaitTests],
  },
  {
    rule: 'Blocked',
    fault: 'broken pods that stay for a right do not count',
    file: personWait,
    find: "reason === 'BudgetUsedUp' || ",
    replace: '',
    tests: [personWaitTests],
  },
  {
    rule: 'Blocked',
    fault: 'the need of a release without a right is an approval',
    file: needOf,
    find: "return personWaitOf(outline.facts.rollout, outline.release) ?? 'StepPaused'",
    replace: "return 'StepPaused'",
    tests: [personWaitTests],
  },
  {
    rule: 'Blocked',
    fault: 'a release without a right sends no reminders',
    file: reminders,
    find: ' && needsPerson(next.waitingFor.reason)',
    replace: " && next.waitingFor.reason === ''",
    tests: [reminderTests],
  },
  {
    rule: 'PinnedConfig',
    fault: 'the list of pinned config has no maximum',
    file: pinnedConfig,
    find: '    .slice(0, PINNED_CONFIG_MAX)\n',
    replace: '',
    tests: [pinnedTests],
  },
  {
    rule: 'PinProspects',
    fault: 'an object is optional if one of its fields is',
    file: prospects,
    find: 'own.every((field)',
    replace: 'own.some((field)',
    tests: [prospectTests, documentTests],
  },
  {
    rule: 'PinProspects',
    fault: 'an optional object that exists is pinned only later',
    file: prospects,
    find: ' && !exists(object)',
    replace: '',
    tests: [prospectTests, documentTests],
  },
  {
    rule: 'PinProspects',
    fault: 'an object of another namespace is among the documents',
    file: adviseConfig,
    find: "one.name === name && one.namespace === (metadata.namespace ?? '')",
    replace: 'one.name === name',
    tests: [documentTests],
  },
  {
    rule: 'ConfigUnpinned',
    fault: 'a held template that is no revision yet has no name',
    file: revisionText,
    find: "return images === '' ? 'the template'",
    replace: "return images !== '' ? 'the template'",
    tests: [revisionTextTests],
  },
  {
    rule: 'DoctorPolicies',
    fault: 'a report about another generation of a policy counts',
    file: policySigns,
    find: ' || usable.observedGeneration !== metadata.generation',
    replace: '',
    tests: [policyTests],
  },
  {
    rule: 'DoctorPolicies',
    fault: 'any number of policies is read',
    file: policySigns,
    find: 'named.slice(0, MOST_POLICIES)',
    replace: 'named',
    tests: [policyTests],
  },
  {
    rule: 'DoctorPolicies',
    fault: 'every policy has a finding of its own',
    file: checkPolicies,
    find: '...found.slice(0, MOST_FOUND),',
    replace: '...found,',
    tests: [policyTests],
  },
]
