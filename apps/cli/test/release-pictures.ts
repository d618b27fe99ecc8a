import type { NodeReport, RolloutReport } from '@tranche/api-schema'
import type { ReleasePicture } from '@tranche/release-client'

/** Time of all pictures. */
export const NOW_MS = Date.parse('2026-03-04T12:00:00Z')

/** @returns the time that many seconds before */
export function ago(seconds: number): string {
  return new Date(NOW_MS - seconds * 1000).toISOString()
}

const base: RolloutReport = {
  namespace: 'demo',
  name: 'node-agent',
  daemonSet: 'node-agent',
  phase: 'Healthy',
  reason: 'Completed',
  outcome: 'Done',
  message: 'revision 6b7f9c4d85 runs on all 30 nodes',
  paused: false,
  disabled: false,
  stableRevision: '6b7f9c4d85',
  canaryRevision: '6b7f9c4d85',
  images: ['registry.example/node-agent:v2'],
  nodes: { desired: 30, updated: 30, updatedAvailable: 30, unavailable: 0, failed: 0, leaked: 0, skipped: 0 },
  maxUnavailable: 3,
  createdAt: ago(604_800),
  resourceVersion: '1742',
  steps: [
    { index: 1, replicas: '10%', nodes: 3, pause: 'person', state: 'done' },
    { index: 2, replicas: '50%', nodes: 15, pause: '600s', state: 'done' },
    { index: 3, replicas: '100%', nodes: 30, state: 'done' },
  ],
  heldRevisions: [],
  actions: ['undo', 'restart', 'pause'],
  zones: [],
  skippedNodes: [],
  conditions: [],
}

const canary = { revision: '6b7f9c4d85', number: 2, createdAt: ago(300), held: false, images: ['registry.example/node-agent:v2'] }
const stable = { revision: '58c4d7b9f6', number: 1, createdAt: ago(86_400), held: false, images: ['registry.example/node-agent:v1'] }

/** A completed release. */
export const done: ReleasePicture = {
  report: base,
  nodes: zones('##########', '##########', '##########'),
  batches: [],
  revisions: [
    { ...canary, role: 'stable', nodes: 30 },
    { ...stable, role: 'none', nodes: 0 },
  ],
}

const running: RolloutReport = {
  ...base,
  phase: 'Progressing',
  reason: 'InRolling',
  outcome: 'Running',
  message: 'waiting for 3 nodes to become available: node-a-5, node-b-5, node-b-6',
  step: { index: 2, count: 3, state: 'StepUpgrade', since: ago(65) },
  stableRevision: '58c4d7b9f6',
  nodes: { desired: 30, updated: 13, updatedAvailable: 10, unavailable: 3, failed: 0, leaked: 0, skipped: 0 },
  releaseStartedAt: ago(305),
  steps: [
    { index: 1, replicas: '10%', nodes: 3, pause: 'person', state: 'done' },
    { index: 2, replicas: '50%', nodes: 15, pause: '600s', state: 'current' },
    { index: 3, replicas: '100%', nodes: 30, state: 'ahead' },
  ],
  actions: ['pause', 'promote', 'abort', 'jump'],
}

const twoRevisions = [
  { ...canary, role: 'canary' as const, nodes: 13 },
  { ...stable, role: 'stable' as const, nodes: 17 },
]

const batchesOfStepTwo = [
  { index: 1, nodes: 3, updated: 3, available: 3, state: 'done' as const, startedAt: ago(300), readyAt: ago(260) },
  { index: 2, nodes: 15, updated: 10, available: 7, state: 'current' as const, startedAt: ago(65) },
  { index: 3, nodes: 30, updated: 0, available: 0, state: 'ahead' as const },
]

/** A release in its second batch. */
export const inStepTwo: ReleasePicture = {
  report: { ...running, remaining: { of: 'batch', until: ago(-46) } },
  nodes: zones('1##2##o...', '1##2#oo...', '1.........'),
  batches: batchesOfStepTwo,
  revisions: twoRevisions,
}

/** The first step waits for approval. */
export const waitsForApproval: ReleasePicture = {
  report: {
    ...running,
    outcome: 'Waiting',
    message: 'step 1 of 3 is done and waits for approval since 2026-03-04T11:58:55Z',
    need: {
      reason: 'StepPaused',
      message: 'step 1 of 3 (10%, 3 nodes) is done; the next step updates 12 more nodes',
      since: ago(65),
      actions: ['approve', 'promote', 'abort'],
    },
    step: { index: 1, count: 3, state: 'StepPaused', since: ago(65) },
    nodes: { ...running.nodes, updated: 3, updatedAvailable: 3, unavailable: 0 },
    steps: running.steps.map((step, at) => ({ ...step, state: at === 0 ? ('current' as const) : ('ahead' as const) })),
  },
  nodes: zones('1.........', '1.........', '1.........'),
  batches: [
    { index: 1, nodes: 3, updated: 3, available: 3, state: 'current', startedAt: ago(100), readyAt: ago(65) },
    { index: 2, nodes: 15, updated: 0, available: 0, state: 'ahead' },
    { index: 3, nodes: 30, updated: 0, available: 0, state: 'ahead' },
  ],
  revisions: [
    { ...twoRevisions[0]!, nodes: 3 },
    { ...twoRevisions[1]!, nodes: 27 },
  ],
}

/** After a jump back to the first step: the nodes of the second stay updated, and one of them fails. */
export const jumpedBack: ReleasePicture = {
  ...inStepTwo,
  report: {
    ...running,
    outcome: 'Waiting',
    need: { ...waitsForApproval.report.need!, message: 'step 1 of 3 (10%) is ready and waits for approval since 2026-03-04T11:58:55Z' },
    step: { index: 1, count: 3, state: 'StepPaused', since: ago(65) },
    nodes: { ...running.nodes, updated: 13, updatedAvailable: 12, unavailable: 1 },
    steps: waitsForApproval.report.steps,
  },
  nodes: zones('1##2##X...', '1##2#.....', '1.........'),
  batches: [
    { ...batchesOfStepTwo[0]!, state: 'current' },
    { index: 2, nodes: 15, updated: 10, available: 9, state: 'ahead', startedAt: ago(65) },
    batchesOfStepTwo[2]!,
  ],
  revisions: twoRevisions,
}

/** Disabled in its second batch. */
export const frozen: ReleasePicture = {
  ...jumpedBack,
  report: {
    ...base,
    phase: 'Disabled',
    reason: '',
    outcome: 'Waiting',
    disabled: true,
    message: 'disabled in mid-release: 17 of 30 nodes do not run revision 6b7f9c4d85 of the template',
    need: {
      reason: 'Disabled',
      message: 'disabled in mid-release: 17 of 30 nodes do not run revision 6b7f9c4d85 of the template',
      actions: [],
    },
    stableRevision: '58c4d7b9f6',
    nodes: { ...running.nodes, updated: 13, updatedAvailable: 12, unavailable: 1 },
    steps: base.steps.map((step) => ({ ...step, state: 'ahead' as const })),
  },
  batches: jumpedBack.batches.map((batch) => ({ ...batch, state: 'ahead' as const })),
}

/** Paused by a user in mid-batch. */
export const paused: ReleasePicture = {
  ...inStepTwo,
  nodes: withoutDeadlines(inStepTwo.nodes),
  report: {
    ...running,
    outcome: 'Waiting',
    paused: true,
    reason: 'Paused',
    message: 'paused in step 2 of 3 since 2026-03-04T11:59:00Z by spec.strategy.paused',
    need: {
      reason: 'Paused',
      message: 'paused in step 2 of 3: nothing is deleted until it is resumed',
      since: ago(60),
      actions: ['resume', 'abort'],
    },
  },
}

/** An undo: thirteen nodes had the new version, six are rolled back. */
export const goingBack: ReleasePicture = {
  report: {
    ...running,
    reason: 'Cancelling',
    message:
      'going back from revision 6b7f9c4d85 to 58c4d7b9f6: waiting for new pods on node-a-5, node-b-5, node-b-6 (since 2026-03-04T11:59:40Z)',
    waitingFor: {
      reason: 'Upgrading',
      message: 'waiting for new pods on node-a-5, node-b-5, node-b-6',
      since: '2026-03-04T11:59:40Z',
      nodes: ['node-a-5', 'node-b-5', 'node-b-6'],
    },
    rollbackFrom: '6b7f9c4d85',
    canaryRevision: '58c4d7b9f6',
    images: ['registry.example/node-agent:v1'],
    step: { index: 3, count: 3, state: 'StepUpgrade', since: ago(65) },
    nodes: { ...running.nodes, updated: 23, updatedAvailable: 22, unavailable: 4 },
    steps: running.steps.map((step) => ({ ...step, state: 'done' as const })),
  },
  nodes: withoutDeadlines(inStepTwo.nodes),
  batches: [],
  revisions: [
    { ...twoRevisions[0]!, role: 'superseded' as const, nodes: 7 },
    { ...twoRevisions[1]!, role: 'stable' as const, nodes: 23 },
  ],
}

/** The new version fails on three nodes, and one node is NotReady. */
export const failing: ReleasePicture = {
  report: {
    ...running,
    outcome: 'Failed',
    reason: 'ReleaseFailed',
    message: 'stopped: 3 nodes failed, none is tolerated: node-a-4 and 2 more (CrashLoopBackOff of container agent, exit code 1)',
    need: {
      reason: 'ReleaseFailed',
      message:
        '3 nodes failed, none is tolerated: node-a-4, node-b-4, node-b-5 (CrashLoopBackOff of container agent, exit code 1, "panic: no route to the metadata service")',
      since: ago(32),
      actions: ['abort', 'undo', 'retry'],
    },
    failure: {
      reason: 'CrashLoopBackOff',
      message: 'container agent ends with exit code 1',
      nodes: ['node-a-4', 'node-b-4', 'node-b-5'],
      count: 3,
      limit: 0,
    },
    nodes: { desired: 30, updated: 10, updatedAvailable: 7, unavailable: 4, failed: 3, leaked: 1, skipped: 1 },
  },
  nodes: zones('1##2X.....', '1##2XX....', '1L?......v'),
  batches: batchesOfStepTwo,
  revisions: twoRevisions,
}

/** A release of which two nodes are drained, while others proceed; three nodes are down, of which one is dead, and others are left out. */
export const holding: ReleasePicture = {
  ...inStepTwo,
  report: {
    ...inStepTwo.report,
    nodes: { ...inStepTwo.report.nodes, unavailable: 4, skipped: 3 },
    remaining: undefined,
    budget: { limit: 3, ours: 3, others: 0, unreachable: 1, dead: 1, exempt: 1 },
    zones: [{ zone: 'a', states: { excluded: 2, notReady: 1 } }],
    blockedNodes: [
      {
        node: 'node-b-8',
        reason: 'Draining',
        message:
          '1 pod uses the agent: shop/db-0 (The disruption budget db does not allow evicting pods currently), since 2026-11-27T20:45:40Z, until 2026-11-27T20:55:40Z at the latest',
      },
      { node: 'node-c-2', reason: 'NoRoom', message: 'no room for the new pod: cpu: 2 requested, 1 of 8 free' },
    ],
  },
}

/** A release under a policy that asks for more than the installation allows; one node is dead and costs no budget. */
export const ofUnusablePolicy: ReleasePicture = {
  ...inStepTwo,
  report: {
    ...inStepTwo.report,
    remaining: undefined,
    nodes: { ...inStepTwo.report.nodes, unavailable: 4, skipped: 1 },
    budget: { limit: 3, ours: 3, others: 0, unreachable: 1, dead: 1, exempt: 1 },
    policy: 'careful',
    policyState: {
      valid: true,
      usable: false,
      message:
        'ReleasePolicy careful cannot be used in full: spec.drain is {"cordon":true}: the installation lets no policy of namespace demo drain nodes; list it in rbac.drain.namespaces of the chart, or remove it',
    },
  },
  nodes: zones('1##2##o...', '1##2#oo...', '1........?').map((node) =>
    node.state === 'notReady' ? { ...node, budget: { counts: false, reason: 'Exempt', message: 'costs no budget' } } : node,
  ),
}

/** A release whose policy asks for a right that the installation does not give. */
export const ofMissingRight: ReleasePicture = {
  ...inStepTwo,
  report: {
    ...inStepTwo.report,
    remaining: undefined,
    outcome: 'Blocked',
    need: {
      reason: 'DrainNotAllowed',
      message:
        'drain of the policy keeps the old pods because the installation does not allow it: node-b-8; list the namespace in rbac.drain.namespaces of the chart',
      since: '2026-11-27T20:45:40Z',
      actions: [],
    },
  },
}

/** The first step of a release whose only change is in the config that it pins. */
export const ofConfig: ReleasePicture = {
  ...waitsForApproval,
  report: {
    ...waitsForApproval.report,
    images: stable.images,
    pinnedConfig: [
      { kind: 'ConfigMap', name: 'agent', copy: 'agent-9f86d081884c7d65' },
      { kind: 'ConfigMap', name: 'agent-rules', copy: 'agent-rules-60303ae22b998861' },
      { kind: 'Secret', name: 'agent-token', copy: 'agent-token-fd61a03af4f77d87' },
      { kind: 'Secret', name: 'agent-keys', copy: 'agent-keys-a4e624d686e03ed2' },
    ],
  },
  revisions: waitsForApproval.revisions.map((revision) =>
    revision.role === 'canary'
      ? { ...revision, images: stable.images, changedConfig: ['ConfigMap agent', 'Secret agent-token'] }
      : revision,
  ),
}

/** A release without progress: more nodes are down than it may take down. */
export const overBudget: ReleasePicture = {
  ...inStepTwo,
  report: { ...inStepTwo.report, remaining: undefined, nodes: { ...inStepTwo.report.nodes, unavailable: 5 } },
}

/** @returns a node name as clouds give them: 46 characters */
export function longName(at: number): string {
  return `ip-10-20-${at >> 8}-${String(at & 255).padStart(3, '0')}.eu-central-1.compute.internal`
}

const longNames = Array.from({ length: 10 }, (_, at) => longName(at + 250))

/** A release of five thousand nodes with long names, which is over but for nodes that it left behind. */
export const leftBehind: ReleasePicture = {
  report: {
    ...base,
    message: '125 nodes are left behind',
    nodes: { ...base.nodes, desired: 5000, updated: 4875, updatedAvailable: 4875, unavailable: 120, skipped: 125, dead: 120, exempt: 120 },
    maxUnavailable: 50,
    budget: { limit: 50, ours: 0, others: 0, unreachable: 120, dead: 120, exempt: 120, exemptLimit: 500 },
    leftNodes: [
      {
        cause: 'Dead',
        count: 120,
        nodes: longNames,
        message: `120 dead (${longNames[0]} since ${ago(86_400)}, ${longNames[1]} since ${ago(90_000)}, ${longNames[2]} since ${ago(90_001)} and 117 more)`,
        next: 'updated on return',
      },
      {
        cause: 'Excluded',
        count: 5,
        nodes: longNames.slice(5),
        message: `5 excluded by nodes.exclude of the policy (${longNames.slice(5, 8).join(', ')} and 2 more)`,
        next: 'updated once the policy or their labels no longer exclude them',
      },
    ],
    conditions: [{ type: 'StrategyRestored', status: 'False', reason: 'NodesLeft', message: '125 nodes are left behind' }],
  },
  nodes: nodesOf('a', `${'1'.repeat(4875)}${'?'.repeat(120)}`).map((node, at) => ({ ...node, name: longName(at) })),
  batches: [],
  revisions: [
    { ...canary, role: 'stable', nodes: 4875 },
    { ...stable, role: 'superseded', nodes: 125 },
  ],
}

/** A release that waits: more nodes are dead than the policy exempts, so all of them count. */
export const tooManyDead: ReleasePicture = {
  ...inStepTwo,
  report: {
    ...inStepTwo.report,
    remaining: undefined,
    message: 'step 2 of 3 (50%): 5 more nodes are to be updated',
    nodes: { ...inStepTwo.report.nodes, unavailable: 6, skipped: 4, dead: 4, exempt: 0 },
    budget: {
      limit: 3,
      ours: 2,
      others: 0,
      unreachable: 4,
      dead: 4,
      exempt: 0,
      exemptLimit: 3,
      users: [
        { use: 'InFlight', count: 2, nodes: ['node-a-7', 'node-b-6'] },
        { use: 'Dead', count: 4, nodes: longNames.slice(0, 4) },
      ],
    },
  },
}

/** A release whose second step matches no node. */
export const emptyStep: ReleasePicture = {
  ...waitsForApproval,
  batches: waitsForApproval.batches.map((batch) => (batch.index === 2 ? { ...batch, nodes: 3 } : batch)),
}

/** A DaemonSet without eligible nodes. */
export const noNodes: ReleasePicture = {
  report: {
    ...base,
    message: 'no node is wanted',
    nodes: { desired: 0, updated: 0, updatedAvailable: 0, unavailable: 0, failed: 0, leaked: 0, skipped: 0 },
  },
  nodes: [],
  batches: [],
  revisions: [{ ...canary, role: 'stable', nodes: 0 }],
}

/** A Rollout without a status. */
export const unseen: ReleasePicture = {
  report: { ...noNodes.report, phase: '', reason: '', outcome: 'Running', message: 'no controller has observed it yet', steps: [] },
  nodes: [],
  batches: [],
  revisions: [],
}

/** Five thousand nodes in twelve zones, 1,990 updated, hundreds failing. */
export const fiveThousand: ReleasePicture = {
  report: {
    ...failing.report,
    nodes: { desired: 5000, updated: 2290, updatedAvailable: 1990, unavailable: 320, failed: 300, leaked: 12, skipped: 20 },
    maxUnavailable: 500,
    steps: [
      { index: 1, replicas: '1%', nodes: 50, pause: 'person', state: 'done' },
      { index: 2, replicas: '50%', nodes: 2500, pause: '3600s', state: 'current' },
      { index: 3, replicas: '100%', nodes: 5000, state: 'ahead' },
    ],
  },
  nodes: 'abcdefghijkl'.split('').flatMap((zone, at) => nodesOf(`eu-central-${zone}`, zoneOf(417 - (at >= 8 ? 1 : 0), at))),
  batches: [
    { index: 1, nodes: 50, updated: 48, available: 48, state: 'done', startedAt: ago(9_000), readyAt: ago(8_000) },
    { index: 2, nodes: 2500, updated: 2232, available: 1930, state: 'current', startedAt: ago(4_000) },
    { index: 3, nodes: 5000, updated: 0, available: 0, state: 'ahead' },
  ],
  revisions: twoRevisions,
}

function zoneOf(count: number, at: number): string {
  return `1111${'2'.repeat(160)}${'X'.repeat(25 * (at % 3))}${'?'.repeat(at % 2)}`.padEnd(count, '.')
}

function zones(...texts: readonly string[]): readonly NodeReport[] {
  return texts.flatMap((text, at) => nodesOf('abc'[at]!, text))
}

/**
 * One sign per node: `1` and `2` are updated in that batch, `#` in batch 2, `L` is leaked.
 * `o` is updating, `.` old, `v` old and down, `X` failing, `?` NotReady.
 */
/** No deadline runs while a release is stopped or rolls back. */
function withoutDeadlines(nodes: readonly NodeReport[]): readonly NodeReport[] {
  return nodes.map(({ failsAt: _none, ...node }) => node)
}

function nodesOf(zone: string, text: string): readonly NodeReport[] {
  return Array.from(text).map((sign, index): NodeReport => {
    const node = { name: `node-${zone}-${index}`, zone }
    const updated = {
      ...node,
      role: 'canary',
      revision: canary.revision,
      pod: `node-agent-${zone}${index}`,
      since: ago(40 + index),
    } as const
    const old = { ...node, role: 'stable', revision: stable.revision, pod: `node-agent-${zone}${index}` } as const
    if (sign === '1' || sign === '2') return { ...updated, state: 'updated', batch: Number(sign) }
    if (sign === '#') return { ...updated, state: 'updated', batch: 2 }
    if (sign === 'L') return { ...updated, state: 'updated' }
    if (sign === 'o') return { ...node, role: 'none', state: 'updating', since: ago(4), failsAt: ago(-596), why: 'no pod yet' }
    if (sign === 'X')
      return {
        ...updated,
        state: 'failing',
        batch: 2,
        restarts: 4,
        why: 'CrashLoopBackOff of container agent: exit code 1, "panic: no route to the metadata service"',
      }
    if (sign === '?')
      return { ...old, state: 'notReady', since: ago(700), why: 'the node is NotReady: kubelet stopped posting node status' }
    if (sign === 'v') return { ...old, state: 'down', since: ago(12), why: 'the pod is not Ready' }
    return { ...old, state: 'old' }
  })
}
