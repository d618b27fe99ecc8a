import type { Mutant } from './mutant.ts'

const liveConfig = 'packages/core/config/src/pin/live-config.ts'
const liveHold = 'packages/core/planner/src/rollout/live-config-hold.ts'
const fault = 'packages/core/admission/src/policies/pod-policy-fault.ts'
const pinner = 'packages/shells/controllers/src/pins/pinner.ts'
const rolloutPass = 'packages/shells/controllers/src/rollout-pass.ts'
const watch = 'apps/controller/src/ports/pin/pod-policy-watch.ts'
const examine = 'apps/controller/src/ports/examine-policy.ts'
const pinPort = 'apps/controller/src/ports/pin/pin-port.ts'
const planPins = 'packages/core/config/src/pin/plan-pins.ts'
const doctorSigns = 'packages/clients/doctor/src/signs/pod-policy-signs.ts'
const reported = 'packages/harness/forecast/src/planned/reported-holds.ts'
const plannedPins = 'packages/harness/forecast/src/planned/planned-pins.ts'
const stored = 'packages/harness/forecast/src/stored-objects.ts'
const toForecast = 'packages/harness/forecast/src/to-forecast.ts'

const podPolicyStory = 'test/scenarios/pod-policy.test.ts'
const forecastStory = 'test/scenarios/forecast-holds.test.ts'
const faultTests = 'packages/core/admission/test/pod-policy-fault.test.ts'
const liveTests = 'packages/core/config/test/pin/live-config.test.ts'
const reportedTests = 'packages/harness/forecast/test/reported-holds.test.ts'

/** Faults in noticing that pods read config itself, and in what a plan knows of holds. */
export const mutantsOfPodPolicy: readonly Mutant[] = [
  {
    rule: 'PodPolicy',
    fault: 'a release continues without the policy for pods',
    file: pinner,
    find: "if (fault !== undefined) return { kind: 'held', reason: 'PodPolicyMissing', why: unenforcedText(fault) }",
    replace: 'if (fault !== undefined) return null',
    tests: [podPolicyStory],
  },
  {
    rule: 'PodPolicy',
    fault: 'pods that read config itself hold no release',
    file: rolloutPass,
    find: 'asksForPins(read) ? liveConfigHold(read) : null',
    replace: 'asksForPins(read) && read.revisions.length < 0 ? liveConfigHold(read) : null',
    tests: [podPolicyStory],
  },
  {
    rule: 'PodPolicy',
    fault: 'pods of a revision that is rolled back hold the rollback',
    file: liveHold,
    find: 'live.filter(({ hash }) => hash === found.canary)',
    replace: 'live.filter(({ hash }) => hash !== found.kind)',
    tests: [podPolicyStory],
  },
  {
    rule: 'PodPolicy',
    fault: 'a container that a user adds to a pod holds the release',
    file: liveConfig,
    find: "field.at[0] !== 'ephemeralContainers' && ",
    replace: '',
    tests: [liveTests],
  },
  {
    rule: 'PodPolicy',
    fault: 'the Secret of a CSI driver holds the release',
    file: liveConfig,
    find: '!field.isForDriver && ',
    replace: '',
    tests: [liveTests],
  },
  {
    rule: 'PodPolicy',
    fault: 'a copy that is itself an object with a copy holds the release',
    file: liveConfig,
    find: ' && !copies.has(field.name)',
    replace: '',
    tests: [liveTests],
  },
  {
    rule: 'PodPolicy',
    fault: 'a policy without a binding names copies',
    file: fault,
    find: 'if (binding === undefined) return ',
    replace: 'if (binding === undefined && policy === undefined) return ',
    tests: [faultTests, podPolicyStory],
  },
  {
    rule: 'PodPolicy',
    fault: 'a policy whose failures are ignored names copies',
    file: fault,
    find: 'members.filter(([key, one]) => one',
    replace: "members.filter(([key, one]) => key !== 'failurePolicy' && one",
    tests: [faultTests, podPolicyStory],
  },
  {
    rule: 'PodPolicy',
    fault: 'a binding that leaves the namespace out names copies',
    file: fault,
    find: "(operator === 'In' ? isListed : ",
    replace: "(operator === 'In' ? values !== undefined : ",
    tests: [faultTests, podPolicyStory],
  },
  {
    rule: 'PodPolicy',
    fault: 'a policy that is deleted wakes no Rollout',
    file: watch,
    find: 'reflector.subscribe({ onChange })',
    replace: 'reflector.subscribe({ onChange: () => {} })',
    tests: [podPolicyStory],
  },
  {
    rule: 'PodPolicy',
    fault: 'a policy that cannot be read is waited for without a word',
    file: watch,
    find: 'if (unread !== undefined) return unread',
    replace: 'if (unread !== undefined) return undefined',
    tests: [podPolicyStory],
  },
  {
    rule: 'PodPolicy',
    fault: 'a policy is usable that pins config without the policy for pods',
    file: examine,
    find: 'return fault == null ? [] : [podPolicyAdvice(fault)]',
    replace: 'return []',
    tests: [podPolicyStory],
  },
  {
    rule: 'PodPolicy',
    fault: 'a policy is usable that pins config where the installation does not allow it',
    file: examine,
    find: 'if (podPolicy === null) return [pinAdvice()]',
    replace: 'if (podPolicy === null) return []',
    tests: ['test/scenarios/pinned-config.test.ts'],
  },
  {
    rule: 'PodPolicy',
    fault: 'a quota that refuses a copy names no fix',
    file: pinPort,
    find: 'if (isForbidden(error)) throw notCreated(copy, error)',
    replace: '',
    tests: ['test/scenarios/pinned-changes.test.ts'],
  },
  {
    rule: 'PodPolicy',
    fault: 'nothing says that an object to pin does not exist',
    file: planPins,
    find: '...(absent.length > 0 && { absent })',
    replace: '...(absent.length < 0 && { absent })',
    tests: ['test/scenarios/pinned-config.test.ts'],
  },
  {
    rule: 'PodPolicy',
    fault: 'doctor reads the policy for pods under its default name alone',
    file: doctorSigns,
    find: "name === undefined || name === ''",
    replace: "name !== ''",
    tests: ['packages/clients/doctor/test/examine-cluster.test.ts'],
  },
  {
    rule: 'Plan',
    fault: 'a release that holds because config is not pinned is planned as if it did not',
    file: reported,
    find: "(pins && stalled.reason === 'ConfigUnpinned'",
    replace: "(!pins && stalled.reason === 'ConfigUnpinned'",
    tests: [reportedTests, forecastStory],
  },
  {
    rule: 'Plan',
    fault: 'pods that read config itself stop the plan of a template that replaces them',
    file: reported,
    find: 'changesTemplate && snapshot.pods.some(',
    replace: '!changesTemplate && snapshot.pods.some(',
    tests: [reportedTests],
  },
  {
    rule: 'Plan',
    fault: 'what the installation does not allow is planned as if it did',
    file: reported,
    find: 'observedGeneration === policy?.metadata.generation ? unusable : []',
    replace: 'observedGeneration === policy?.metadata.generation ? unusable.slice(9) : []',
    tests: [reportedTests, forecastStory],
  },
  {
    rule: 'Plan',
    fault: 'the copy of the cluster has drains that the installation does not allow',
    file: stored,
    find: "drain !== undefined && refused.has('DrainNotAllowed')",
    replace: "drain !== undefined && refused.has('')",
    tests: [forecastStory],
  },
  {
    rule: 'Plan',
    fault: 'a manifest that does not state the copies is planned as a release',
    file: plannedPins,
    find: 'snapshot.daemonSet?.spec.template.metadata?.annotations?.[PINNED_CONFIG_ANNOTATION] ?? ',
    replace: '',
    tests: [forecastStory],
  },
  {
    rule: 'Plan',
    fault: 'nodes that keep their pods now are not named',
    file: toForecast,
    find: "waits.length === 0 ? ''",
    replace: "waits.length >= 0 ? ''",
    tests: [forecastStory],
  },
]
