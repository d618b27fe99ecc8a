import type { Mutant } from './mutant.ts'

const helperManifest = 'packages/core/pre-pull/src/helper-manifest.ts'
const helperPod = 'packages/core/pre-pull/src/helper-pod.ts'
const shortageOn = 'packages/core/fit/src/shortage-on.ts'
const helperPods = 'packages/clients/cluster/src/helper-pods.ts'
const prePullCheck = 'apps/executor/src/checks/pre-pull-check.ts'
const nodePreparer = 'apps/executor/src/node-preparer.ts'
const judgePrePull = 'packages/simulator/recording/src/judges/nodes/judge-pre-pull.ts'
const helperPodsPolicy = 'packages/core/admission/src/policies/helper-pods-policy.ts'
const policyTests = 'test/scenarios/helper-pods-policy.test.ts'
const images = 'packages/simulator/recording/src/world/images.ts'

const manifestTests = 'packages/core/pre-pull/test/helper-manifest.test.ts'
const podTests = 'packages/core/pre-pull/test/helper-pod.test.ts'
const shortageTests = 'packages/core/fit/test/shortage-on.test.ts'
const clientTests = 'packages/clients/cluster/test/helper-pods.test.ts'
const checkTests = 'apps/executor/test/pre-pull-check.test.ts'
const preparerTests = 'apps/executor/test/node-preparer.test.ts'
const judgeTests = 'packages/simulator/recording/test/judges/pre-pull.test.ts'

/** Faults in pulling images before pods are deleted. */
export const mutantsOfPrePull: readonly Mutant[] = [
  {
    rule: 'prePull',
    fault: 'a helper pod may run a program of its image on Windows',
    file: helperPodsPolicy,
    find: 'container.?command.orValue([]).size() == 1 &&',
    replace: 'container.?command.orValue([]).size() <= 1 ||',
    tests: [policyTests],
  },
  {
    rule: 'prePull',
    fault: 'executors may create pods with containers that run',
    file: helperPodsPolicy,
    find: '.orValue(1) == 0 && ',
    replace: '.orValue(0) == 0 && ',
    tests: [policyTests],
  },
  {
    rule: 'prePull',
    fault: 'executors may create pods with init containers',
    file: helperPodsPolicy,
    find: 'object.spec.?initContainers.orValue([]).size() == 0 && ',
    replace: '',
    tests: [policyTests],
  },
  {
    rule: 'prePull',
    fault: 'executors may create pods with volumes of the node',
    file: helperPodsPolicy,
    find: ' && object.spec.?volumes.orValue([]).size() == 0',
    replace: '',
    tests: [policyTests],
  },
  {
    rule: 'G6',
    fault: 'a policy whose pulls the installation does not allow counts as usable',
    file: 'apps/controller/src/ports/examine-policy.ts',
    find: 'prePull === undefined || installation.allowsPrePull',
    replace: 'prePull === undefined || !installation.allowsPrePull',
    tests: ['apps/controller/test/examine-policy.test.ts'],
  },
  {
    rule: 'G6',
    fault: 'names that other pods had once are kept for ever',
    file: 'apps/executor/src/checks/taken-names.ts',
    find: 'if (nowMs - askedMs < FORGOTTEN_MS) break',
    replace: 'if (nowMs - askedMs >= 0) break',
    tests: ['apps/executor/test/taken-names.test.ts'],
  },
  {
    rule: 'G1',
    fault: 'a helper pod has pulled when one of its images is there',
    file: helperPod,
    find: 'containerStatuses.every(isPulled)',
    replace: 'containerStatuses.some(isPulled)',
    tests: [podTests],
  },
  {
    rule: 'G1',
    fault: 'a helper pod has pulled although a container has no status yet',
    file: helperPod,
    find: 'containerStatuses.length === containers.length && ',
    replace: 'containerStatuses.length > 0 && ',
    tests: [podTests],
  },
  {
    rule: 'G6',
    fault: 'a failed pull counts as one that takes long',
    file: helperPod,
    find: '  if (failed !== undefined) return failure(failed, imageOf(failed.name), previous)\n',
    replace: '',
    tests: [podTests],
  },
  {
    rule: 'G6',
    fault: 'a helper pod that its node rejected is waited for',
    file: helperPod,
    find: "if (phase === 'Failed') return",
    replace: "if (phase === 'Never') return",
    tests: [podTests],
  },
  {
    rule: 'G8',
    fault: 'the words about a failed pull change with each attempt of the kubelet',
    file: helperPod,
    find: "  if (previous?.kind === 'failed' && reason === BACK_OFF) return previous\n",
    replace: '',
    tests: [podTests],
  },
  {
    rule: 'F15',
    fault: 'a pod with the label is a helper pod, with any owner',
    file: helperPod,
    find: "controller === true && kind === 'BatchRelease'",
    replace: "controller === true || kind === 'BatchRelease'",
    tests: [podTests],
  },
  {
    rule: 'G11',
    fault: 'a helper pod runs the image of the agent',
    file: helperManifest,
    find: '  runAsUser: 0,\n',
    replace: '',
    tests: [manifestTests],
  },
  {
    rule: 'G11',
    fault: 'a helper pod runs the command of the agent',
    file: helperManifest,
    find: 'command: [PRE_PULL_PROGRAM],',
    replace: '',
    tests: [manifestTests],
  },
  {
    rule: 'G6',
    fault: 'a helper pod pulls without the secrets of the template',
    file: helperManifest,
    find: '      ...(spec.imagePullSecrets !== undefined && { imagePullSecrets: spec.imagePullSecrets }),\n',
    replace: '',
    tests: [manifestTests],
  },
  {
    rule: 'G6',
    fault: 'a helper pod waits for the network that the agent of its node provides',
    file: helperManifest,
    find: '      ...(spec.hostNetwork === true && { hostNetwork: true }),\n',
    replace: '',
    tests: [manifestTests],
  },
  {
    rule: 'G1',
    fault: 'images of init containers are not pulled',
    file: helperManifest,
    find: '...(initContainers ?? []), ',
    replace: '',
    tests: [manifestTests],
  },
  {
    rule: 'G8',
    fault: 'the helper pods of two revisions have one name',
    file: helperManifest,
    find: '[release.uid, revision, node, images]',
    replace: '[release.uid, node, images]',
    tests: [manifestTests],
  },
  {
    rule: 'G6',
    fault: 'a helper pod takes the room of the new pod, which waits for ever',
    file: shortageOn,
    find: ' && !isHelper(pod, owner)',
    replace: '',
    tests: [shortageTests],
  },
  {
    rule: 'F15',
    fault: 'a pod of another namespace is left out of the room by its label',
    file: shortageOn,
    find: ' && metadata.namespace === namespace',
    replace: '',
    tests: [shortageTests],
  },
  {
    rule: 'G8',
    fault: 'a helper pod that another executor has created is an error',
    file: helperPods,
    find: "        if (isAlreadyExists(error)) return { kind: 'exists' }\n",
    replace: '',
    tests: [clientTests],
  },
  {
    rule: 'G6',
    fault: 'a process forgets the helper pod that it has just created',
    file: helperPods,
    find: '        if (pod !== null) created.set(keyText(pod), pod)\n',
    replace: '',
    tests: [clientTests],
  },
  {
    rule: 'G7',
    fault: 'a helper pod of the same name that was created again is deleted',
    file: helperPods,
    find: '{ preconditions: { uid }, signal }',
    replace: '{ signal }',
    tests: [clientTests],
  },
  {
    rule: 'G1',
    fault: 'a node is ready while it pulls',
    file: prePullCheck,
    find: "if (pod.state.kind === 'pulled') return { kind: 'ready', for: 'deletion' }",
    replace: "if (pod.state.kind !== 'failed') return { kind: 'ready', for: 'deletion' }",
    tests: [checkTests],
  },
  {
    rule: 'G6',
    fault: 'a pull may take any time',
    file: prePullCheck,
    find: "(pod.state.kind === 'pulling' && leftMs <= 0)",
    replace: "(pod.state.kind === 'pulling' && leftMs < -1e12)",
    tests: [checkTests],
  },
  {
    rule: 'G6',
    fault: 'a node that cannot pull is blocked although the policy says Continue',
    file: prePullCheck,
    find: "return onFailure === 'Continue'",
    replace: "return (onFailure as string) === 'Never'",
    tests: [checkTests],
  },
  {
    rule: 'G7',
    fault: 'helper pods of a finished release are left',
    file: prePullCheck,
    find: '!uids.has(release.uid) && ',
    replace: 'uids.has(release.uid) && ',
    tests: [checkTests],
  },
  {
    rule: 'G7',
    fault: 'the helper pod of another revision takes the present one with it',
    file: prePullCheck,
    find: 'stale.length > 0 ? stale : here',
    replace: 'here',
    tests: [checkTests],
  },
  {
    rule: 'F4',
    fault: 'a node is ready for a deletion if the first check says so',
    file: nodePreparer,
    find: "if (answer.kind !== 'ready') return answer",
    replace: "if (answer.kind !== 'ready' && strongest === 'ahead') return answer",
    tests: [preparerTests],
  },
  {
    rule: 'G1',
    fault: 'the judge believes that images are on every node',
    file: images,
    find: 'sinceMs.get(node)?.get(image)',
    replace: '[...sinceMs.values()].find((known) => known.has(image))?.get(image)',
    tests: [judgeTests],
  },
  {
    rule: 'G1',
    fault: 'the judge judges what others delete, or nothing',
    file: judgePrePull,
    find: "terms?.prePull !== undefined && terms.prePull.onFailure !== 'Continue'",
    replace: "terms?.prePull?.onFailure === 'Never'",
    tests: [judgeTests],
  },
  {
    rule: 'G6',
    fault: 'helper pods of other namespaces count',
    file: prePullCheck,
    find: 'helpers.list(uid).filter((pod) => pod.namespace === namespace)',
    replace: 'helpers.list(uid).filter((pod) => pod.namespace !== "" || namespace === "")',
    tests: [checkTests],
  },
  {
    rule: 'G6',
    fault: 'two helper pods of one node contradict each other for ever',
    file: prePullCheck,
    find: 'if (!first.has(key)) first.set(key, pod)',
    replace: 'first.set(key + pod.name, pod)',
    tests: [checkTests],
  },
]
