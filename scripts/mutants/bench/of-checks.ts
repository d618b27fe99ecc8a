import type { BluntMutant } from './blunt-mutant.ts'

const prePullCheck = 'apps/executor/src/checks/pre-pull-check.ts'
const preparedNodes = 'packages/core/fence/src/pass/prepared-nodes.ts'

/** Faults in the checks of nodes before a deletion: G1, and G7 for what they leave behind. */
export const mutantsOfNodeChecks: readonly BluntMutant[] = [
  {
    guarantee: 'G1',
    fault: 'a pod is deleted although its node does not have the images of the new one',
    edits: [
      { file: prePullCheck, find: "pod.state.kind === 'pulled' || isTolerated ?", replace: "pod.state.kind !== 'failed' || isTolerated ?" },
      {
        file: prePullCheck,
        find: "if (pod.state.kind === 'pulled') return { kind: 'ready', for: 'deletion' }",
        replace: "if (pod.state.kind !== 'failed') return { kind: 'ready', for: 'deletion' }",
      },
    ],
    worlds: 'pulling',
  },
  {
    guarantee: 'G7',
    fault: 'helper pods are never deleted',
    edits: [
      {
        file: preparedNodes,
        find: '): readonly Preparation[] {',
        replace: '): readonly Preparation[] {\n  if (fence.record.seq > 0) return []',
      },
    ],
    worlds: 'pulling',
    named: ['G7', 'G6'],
  },
]
