import type { BluntMutant } from './blunt-mutant.ts'

const lockCheck = 'packages/clients/node-checks/src/lock-check.ts'
const downtimeCheck = 'packages/clients/node-checks/src/downtime-check.ts'
const drainCondition = 'packages/core/drain/src/drain-condition.ts'
const preparedNodes = 'packages/core/fence/src/pass/prepared-nodes.ts'

/** Faults in the checks of nodes before a deletion: G1, and G7 for what they leave behind. */
export const mutantsOfNodeChecks: readonly BluntMutant[] = [
  {
    guarantee: 'G1',
    fault: 'a pod is deleted although its node does not have the images of the new one',
    edits: [
      {
        file: 'packages/core/pre-pull/src/pull-progress.ts',
        find: "leftMs > 0 ? { kind: 'pulling', leftMs }",
        replace: "leftMs > 0 ? { kind: 'pulled' }",
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
        find: 'export function preparationsToUndo(fence: FenceState): readonly Preparation[] {',
        replace: 'export function preparationsToUndo(fence: FenceState): readonly Preparation[] {\n  if (fence.record.seq > 0) return []',
      },
    ],
    worlds: 'pulling',
    named: ['G7', 'G6'],
  },
  {
    guarantee: 'G4',
    fault: 'a pod is deleted without the Lease of its node',
    edits: [
      {
        file: lockCheck,
        find: "return purpose === 'deletion' ? this.#take(locks, target, node, signal) : { kind: 'ready', for: 'permit' }",
        replace: "return { kind: 'ready', for: 'deletion' }",
      },
    ],
    worlds: 'locked',
  },
  {
    guarantee: 'G11',
    fault: 'the Lease of a node is taken from another program',
    edits: [{ file: lockCheck, find: 'if (isOfAnother && !', replace: 'if (isOfAnother && purpose === null && !' }],
    worlds: 'locked',
  },
  {
    guarantee: 'G7',
    fault: 'Leases of nodes are never given back',
    edits: [
      {
        file: 'packages/clients/cluster/src/leases/node-locks.ts',
        find: 'if (!(await deleteLease(this.#client, this.#keyOf(node), { uid, resourceVersion }, signal))) return false',
        replace: 'await Promise.resolve([uid, resourceVersion, signal, deleteLease])',
      },
    ],
    worlds: 'locked',
    named: ['G7', 'G6'],
  },
  {
    guarantee: 'G4',
    fault: 'a pod is deleted although its agent was away for long enough in the last 24 hours',
    edits: [
      { file: downtimeCheck, find: 'if (spent !== null) return spent', replace: 'if (spent !== null && purpose === null) return spent' },
    ],
    worlds: 'limited',
  },
  {
    guarantee: 'G4',
    fault: 'the downtime of a node is not remembered',
    edits: [
      {
        file: downtimeCheck,
        find: 'downtimes: downtimeEnded(memory, agent, clock.nowMs())',
        replace: "downtimes: downtimeEnded(memory, { kind: 'stayed' }, agent.kind === 'stayed' ? 0 : clock.nowMs())",
      },
    ],
    worlds: 'limited',
  },
  {
    guarantee: 'G7',
    fault: 'nodes keep the condition of a drain that has ended',
    edits: [
      {
        file: 'packages/clients/cluster/src/cordons.ts',
        find: 'return await clearCondition(client, node, signal)',
        replace: 'return await Promise.resolve(clearCondition === undefined ? null : node)',
      },
      {
        file: 'packages/clients/node-checks/src/drain-check.ts',
        find: 'const left = setsConditions ? leftConditions(cluster) : []',
        replace: 'const left = setsConditions ? leftConditions(cluster).slice(0, 0) : []',
      },
    ],
    worlds: 'shown',
    named: ['G7', 'G6'],
  },
  {
    guarantee: 'G11',
    fault: 'the condition of a drain by another program is replaced',
    edits: [{ file: drainCondition, find: 'if (present !== undefined && present.reason !== DRAIN_REASON) return null', replace: '' }],
    worlds: 'shown',
  },
]
