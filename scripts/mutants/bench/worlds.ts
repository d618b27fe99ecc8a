import { GROUP, type Incident, type Schedule, ZONE } from '../../../test/faults/schedule.ts'
import type { WorldsName } from './blunt-mutant.ts'

/** Worlds in which a fault of one kind shows early. */
export interface Worlds {
  /** Events of these worlds, in the present tense. */
  readonly text: string
  /** @param drawn the schedule of the seed */
  readonly among: (drawn: Schedule) => Schedule
  /** Number of upgrades in each. @default 0 */
  readonly upgrades?: number
}

const SECOND = 1_000
const MINUTE = 60_000

/** All worlds. Every seed of each keeps every guarantee as long as nothing is broken on purpose. */
export const worlds: Readonly<Record<WorldsName, Worlds>> = {
  any: { text: 'anything goes wrong', among: (drawn) => drawn },
  calm: { text: 'one release of all nodes at once, and nothing goes wrong', among: (drawn) => undisturbed(drawn, {}, [template('v2', 1)]) },
  steps: {
    text: 'a version that never becomes ready, in steps without pauses',
    among: (drawn) => undisturbed(drawn, { steps: inSteps(), maxUnavailable: '100%' }, [template('v6-bad-ready', 1)]),
  },
  waiting: {
    text: 'every step of a release waits for a person, and no person acts before the storm ends',
    among: (drawn) => undisturbed(drawn, { steps: inSteps({}), maxUnavailable: 3 }, [template('v2', 1)], 3 * MINUTE),
  },
  timed: {
    text: 'a release whose every step pauses for some time',
    among: (drawn) => undisturbed(drawn, { steps: inSteps({ duration: 20 }), maxUnavailable: 3 }, [template('v2', 1)]),
  },
  returning: {
    text: 'an older template comes back after the newer one was released, in steps that wait for a person',
    among: (drawn) =>
      undisturbed(
        drawn,
        { steps: inSteps({}), maxUnavailable: 3, startMs: 1_000, minReadySeconds: 0 },
        [template('v2', 1), { atMs: 5 * SECOND, kind: 'act', type: 'promote' }, template('v1', 300)],
        8 * MINUTE,
      ),
  },
  down: {
    text: 'two kubelets fall silent before the release starts',
    among: (drawn) =>
      undisturbed(
        drawn,
        { maxUnavailable: 2, minReadySeconds: 0, nodes: 10 },
        [...[1, 4].map((pick): Incident => ({ atMs: SECOND, kind: 'silenceNode', pick, forMs: 5 * MINUTE })), template('v2', 120)],
        6 * MINUTE,
      ),
  },
  unreached: {
    text: 'every kubelet falls silent before the release starts, and is back later',
    among: (drawn) =>
      undisturbed(
        drawn,
        { maxUnavailable: 2, minReadySeconds: 0, nodes: 3, steps: inSteps({ duration: 20 }) },
        [...[0, 1, 2].map((pick): Incident => ({ atMs: SECOND, kind: 'silenceNode', pick, forMs: 5 * MINUTE })), template('v2', 90)],
        7 * MINUTE,
      ),
  },
  unserved: {
    text: 'every node is dead and out of service before the release starts, so that Kubernetes deletes its pods, and is back later',
    among: (drawn) =>
      undisturbed(
        drawn,
        { toleratesAll: false, maxUnavailable: 2, minReadySeconds: 0, nodes: 3, steps: inSteps({ duration: 20 }) },
        [...[0, 1, 2].map((pick): Incident => ({ atMs: SECOND, kind: 'outOfService', pick, forMs: 5 * MINUTE })), template('v2', 120)],
        8 * MINUTE,
      ),
  },
  chosen: {
    text: 'the only node of the first step is dead and out of service before the release starts, the other nodes are well',
    among: (drawn) =>
      undisturbed(
        drawn,
        { toleratesAll: false, maxUnavailable: 2, minReadySeconds: 0, startMs: 1_000, nodes: 6, steps: firstNodeFirst },
        [{ atMs: SECOND, kind: 'outOfService', pick: 0, forMs: 5 * MINUTE }, template('v2', 120)],
        8 * MINUTE,
      ),
  },
  zoned: {
    text: 'a person approves a step that selects the nodes of one zone, and no other',
    among: (drawn) =>
      undisturbed(
        drawn,
        { steps: inZones({ zone: 'zone-b' }, { zone: 'zone-a' }), maxUnavailable: 2, minReadySeconds: 0, startMs: 1_000 },
        [template('v2', 1), { atMs: MINUTE, kind: 'approve', by: 'status' }],
        3 * MINUTE,
      ),
  },
  replaced: {
    text: 'steps that select zones replace a running one that selects none, and nothing is approved',
    among: (drawn) =>
      undisturbed(
        drawn,
        { nodes: 12, steps: inSizes(6, 10), maxUnavailable: 3, minReadySeconds: 0, startMs: 1_000 },
        [
          template('v2', 1),
          { atMs: MINUTE, kind: 'steps', steps: inZones({ zone: 'zone-b', replicas: 1 }, { zone: 'zone-b' }, { zone: 'zone-a' }) },
        ],
        3 * MINUTE,
      ),
  },
  lost: {
    text: 'a client deletes the BatchRelease in a pause, and while another program keeps it the steps become larger ones',
    among: (drawn) =>
      undisturbed(
        drawn,
        { nodes: 10, steps: inSizes(1, 2), maxUnavailable: 2, minReadySeconds: 0, startMs: 1_000, watchDelayMs: 20 },
        [
          template('v2', 1),
          { atMs: 40 * SECOND, kind: 'approve', by: 'status' },
          { atMs: 80 * SECOND, kind: 'deleteRelease', propagation: 'Background', keptMs: 20 * SECOND },
          { atMs: 90 * SECOND, kind: 'steps', steps: inSizes(2, '80%') },
        ],
        4 * MINUTE,
      ),
  },
  killed: {
    text: 'the kubelets of two nodes with a new version fall silent, and a newer template replaces it before its release is complete',
    among: (drawn) =>
      undisturbed(
        drawn,
        { startMs: 1_000, maxUnavailable: 2, minReadySeconds: 0, nodes: 20, steps: inSteps({}) },
        [
          template('v2', 1),
          { atMs: 15 * SECOND, kind: 'approve', by: 'status' },
          { atMs: 40 * SECOND, kind: 'approve', by: 'status' },
          ...[1, 4].map((pick): Incident => ({ atMs: 70 * SECOND, kind: 'silenceNode', pick, forMs: 5 * MINUTE })),
          template('v3', 150),
        ],
        6 * MINUTE,
      ),
  },
  maintained: {
    text: 'two nodes are in maintenance, with pods that are not Ready, before the release starts',
    among: (drawn) =>
      undisturbed(
        drawn,
        { maxUnavailable: 2, minReadySeconds: 0, nodes: 10 },
        [
          ...[1, 4].map(
            (pick): Incident => ({ atMs: SECOND, kind: 'maintain', pick, condition: 'Drained', isSilent: false, forMs: 5 * MINUTE }),
          ),
          template('v2', 30),
        ],
        6 * MINUTE,
      ),
  },
  crowded: {
    text: 'another pod fills a node, and a second one waits for its room, before the release starts',
    among: (drawn) =>
      undisturbed(
        drawn,
        { maxUnavailable: 2, minReadySeconds: 0, nodes: 8, cpu: '500m', policy: { nodes: { room: 'Check' } } },
        [{ atMs: SECOND, kind: 'crowd', pick: 3, forMs: 8 * MINUTE }, template('v2', 120)],
        9 * MINUTE,
      ),
  },
  drained: {
    text: 'pods on three nodes use the agent, and a user has cordoned one of these nodes, before the release starts',
    among: (drawn) =>
      undisturbed(
        drawn,
        { maxUnavailable: 2, minReadySeconds: 0, nodes: 6, policy: { drain: { consumers: usingPods } } },
        [
          ...[1, 2, 3].map((pick): Incident => ({ atMs: SECOND, kind: 'consume', pick, kept: 'not', forMs: 8 * MINUTE })),
          { atMs: 2 * SECOND, kind: 'cordon', pick: 3, forMs: 8 * MINUTE },
          template('v2', 60),
        ],
        9 * MINUTE,
      ),
  },
  shown: {
    text: 'pods on three nodes use the agent, executors show drains by a condition, and another program has done so before the release starts',
    among: (drawn) =>
      undisturbed(
        drawn,
        { maxUnavailable: 2, minReadySeconds: 0, nodes: 6, drainConditions: true, policy: { drain: { consumers: usingPods } } },
        [
          ...[1, 2, 3].map((pick): Incident => ({ atMs: SECOND, kind: 'consume', pick, kept: 'not', forMs: 8 * MINUTE })),
          { atMs: 2 * SECOND, kind: 'drainByOther', pick: 4, leaves: 'False', forMs: 10 * SECOND },
          template('v2', 60),
        ],
        9 * MINUTE,
      ),
  },
  locked: {
    text: 'another program holds the Leases of two nodes, and gives one of them back, before and while the release runs',
    among: (drawn) =>
      undisturbed(
        drawn,
        { maxUnavailable: 2, minReadySeconds: 0, nodes: 6, nodeLocks: true, policy: { downtime: { nodeLock: 'Take' } } },
        [
          { atMs: SECOND, kind: 'holdNode', pick: 1, seconds: 120, crashes: false, forMs: 3 * MINUTE },
          { atMs: SECOND, kind: 'holdNode', pick: 3, seconds: 300, crashes: true, forMs: 8 * MINUTE },
          template('v2', 20),
        ],
        8 * MINUTE,
      ),
  },
  limited: {
    text: 'two releases in a day, where one uses up the downtime of each node',
    among: (drawn) =>
      undisturbed(
        drawn,
        { maxUnavailable: 2, minReadySeconds: 0, nodes: 4, startMs: 15_000, downtimes: true, policy: { downtime: { perDay: '1s' } } },
        [template('v2', 1), template('v3', 180)],
        8 * MINUTE,
      ),
  },
  pulling: {
    text: 'images take half a minute to pull, and one node reaches no registry for a while',
    among: (drawn) =>
      undisturbed(
        drawn,
        { maxUnavailable: 2, minReadySeconds: 0, nodes: 8, prePull: true, policy: { prePull: {} } },
        [{ atMs: SECOND, kind: 'noRegistry', pick: 3, forMs: 3 * MINUTE }, template('v2-pull30s', 5)],
        8 * MINUTE,
      ),
  },
  broken: {
    text: 'a good version follows one that was available on each node, and then crashed there for good; a person pauses and resumes',
    among: (drawn) =>
      undisturbed(
        drawn,
        { maxUnavailable: '100%', minReadySeconds: 0, startMs: 5_000, policy: { failure: { action: 'Continue' } } },
        [
          template('v9-bad-flap', 1),
          { atMs: 120 * SECOND, kind: 'budget', maxUnavailable: 2 },
          template('v3', 240),
          ...[243, 245, 247, 249].map((second, at): Incident => ({ atMs: second * SECOND, kind: at % 2 === 0 ? 'pause' : 'resume' })),
        ],
        8 * MINUTE,
      ),
  },
  flapping: {
    text: 'a good version follows one whose pods lose and regain their readiness, on some nodes later than on others, in steps; there is budget left',
    among: (drawn) =>
      undisturbed(
        drawn,
        {
          maxUnavailable: '100%',
          nodes: 12,
          minReadySeconds: 0,
          startMs: 2_000,
          policy: { failure: { action: 'Continue' } },
          steps: inSteps({}),
        },
        [
          template('v6-bad-probe', 1),
          { atMs: 2 * SECOND, kind: 'act', type: 'promote' },
          template('v3', 100),
          ...[106, 112, 117].map((second): Incident => ({ atMs: second * SECOND, kind: 'approve', by: 'status' })),
        ],
        5 * MINUTE,
      ),
  },
  crashing: {
    text: 'each version fails on each node and recovers there, and the policy says Pause',
    among: (drawn) =>
      undisturbed(drawn, { policy: { failure: { action: 'Pause' } }, maxUnavailable: 3, minReadySeconds: 0 }, [
        template('v8-bad-heals', 1),
      ]),
  },
  reapplied: {
    text: 'a version that fails is rolled back, and Git applies it again',
    among: (drawn) =>
      undisturbed(
        drawn,
        { policy: { failure: { action: 'Rollback' } } },
        [template('v8-bad-crash', 1), template('v8-bad-crash', 240), template('v8-bad-crash', 360)],
        8 * MINUTE,
      ),
  },
  aborted: {
    text: 'a person aborts a release, and Git applies the version again',
    among: (drawn) =>
      undisturbed(
        drawn,
        { steps: inSteps({}), startMs: 1_000 },
        [
          template('v2', 1),
          { atMs: 60 * SECOND, kind: 'act', type: 'abort' },
          template('v2', 240),
          ...[260, 290, 320].map((second): Incident => ({ atMs: second * SECOND, kind: 'approve', by: 'status' })),
        ],
        8 * MINUTE,
      ),
  },
  rollovers: {
    text: 'one template after the other, while pods start slowly',
    among: (drawn) =>
      undisturbed(drawn, { startMs: 15_000, maxUnavailable: 2 }, [
        ...['v2', 'v3', 'v4', 'v5'].map((tag, at) => template(tag, 1 + 12 * at)),
        failPod(2, 22),
        failPod(7, 22),
      ]),
  },
  stopped: {
    text: 'a person pauses and resumes, while deletions are delayed',
    among: (drawn) =>
      undisturbed(drawn, { startMs: 5_000, maxUnavailable: 3 }, [
        template('v2', 1),
        ...[3, 20, 37, 54].flatMap((second): readonly Incident[] => [
          ...(['executor-a', 'executor-b'] as const).map(
            (slot): Incident => ({ atMs: second * SECOND, kind: 'freezeBefore', slot, write: 'DELETE /pods/', forMs: 8 * SECOND }),
          ),
          { atMs: (second + 4) * SECOND, kind: 'pause' },
          { atMs: (second + 14) * SECOND, kind: 'resume' },
        ]),
      ]),
  },
  halted: {
    text: 'a person pauses in mid-release, and resumes two minutes later, while nothing goes wrong',
    among: (drawn) =>
      undisturbed(
        drawn,
        { startMs: 15_000, maxUnavailable: 1 },
        [template('v2', 1), { atMs: 10 * SECOND, kind: 'pause' }, { atMs: 130 * SECOND, kind: 'resume' }],
        3 * MINUTE,
      ),
  },
  people: {
    text: 'a person pauses, resumes, approves and promotes repeatedly, at the right time and at the wrong one',
    among: (drawn) =>
      undisturbed(
        drawn,
        { steps: inSteps({}), startMs: 5_000, maxUnavailable: 2 },
        [
          template('v2', 1),
          ...[3, 9, 15, 23, 31, 39, 47, 55, 63, 71].map(
            (second, at): Incident => ({ atMs: second * SECOND, kind: 'approve', by: at % 2 === 0 ? 'status' : 'action' }),
          ),
          ...[27, 51].map((second): Incident => ({ atMs: second * SECOND, kind: 'pause' })),
          ...[35, 59].map((second): Incident => ({ atMs: second * SECOND, kind: 'resume' })),
        ],
        3 * MINUTE,
      ),
  },
  returned: {
    text: 'four nodes are silent until the release of the others has ended, return one after the other, and reach no registry',
    among: (drawn) => returned(drawn, []),
  },
  undone: {
    text: 'a version fails on the first node left that returns; a user applies the template before, and Git the failed one again',
    among: (drawn) => returned(drawn, [template('v1', 275), template('v2', 280)]),
  },
  left: {
    text: 'no controller is running when a new template comes in mid-release',
    among: (drawn) =>
      undisturbed(drawn, { startMs: 5_000, maxUnavailable: 1 }, [
        template('v2', 1),
        ...(['controller-a', 'controller-b'] as const).map(
          (slot): Incident => ({ atMs: 8 * SECOND, kind: 'kill', slot, downMs: 2 * MINUTE }),
        ),
        template('v3', 10),
      ]),
  },
  tainted: {
    text: 'half of the nodes get a taint that no pod tolerates before the release starts',
    among: (drawn) =>
      undisturbed(drawn, { toleratesAll: false, maxUnavailable: 3 }, [
        ...[0, 2, 4, 6].map((pick): Incident => ({ atMs: 100, kind: 'taint', pick, effect: 'NoSchedule', forMs: 10 * MINUTE })),
        template('v2', 2),
      ]),
  },
  lagging: {
    text: 'the watches of one executor are late by up to half a minute',
    among: (drawn) =>
      undisturbed(drawn, { startMs: 1_000, stopMs: 500, maxUnavailable: 2, minReadySeconds: 0, nodes: 12 }, [
        template('v2', 1),
        ...[1, 30, 60].map(
          (second): Incident => ({
            atMs: second * SECOND,
            kind: 'lag',
            slot: 'executor-a',
            resource: 'pods',
            ms: 9_000,
            forMs: 25 * SECOND,
          }),
        ),
        ...[4, 10, 16, 22].map((second, at): Incident => ({ atMs: second * SECOND, kind: at % 2 === 0 ? 'pause' : 'resume' })),
      ]),
  },
  interrupted: {
    text: 'a person pauses and resumes while pods start slowly',
    among: (drawn) =>
      undisturbed(drawn, { startMs: 15_000, maxUnavailable: 2 }, [
        template('v2', 1),
        ...[4, 10, 16, 22, 28, 34].map((second, at): Incident => ({ atMs: second * SECOND, kind: at % 2 === 0 ? 'pause' : 'resume' })),
      ]),
  },
  overtaken: {
    text: 'two executors freeze before a write of the record, while a person pauses and resumes; they thaw one after the other',
    among: (drawn) =>
      undisturbed(drawn, { queue: 'own', nodes: 12, maxUnavailable: 6, startMs: 2_000, stopMs: 100, minReadySeconds: 0 }, [
        ...(['executor-a', 'executor-b'] as const).map(
          (slot, at): Incident => ({ atMs: 500, kind: 'freezeBefore', slot, write: 'PATCH /batchreleases', forMs: (8 + 8 * at) * SECOND }),
        ),
        template('v2', 1),
        { atMs: 3 * SECOND, kind: 'pause' },
        { atMs: 5 * SECOND, kind: 'resume' },
      ]),
  },
  behind: {
    text: 'two nodes crash, and are updated first; one executor does not notice, because its watch of pods is late, and would update others',
    among: (drawn) =>
      undisturbed(
        drawn,
        newestFirst,
        [
          template('v6-bad-late', 1),
          { atMs: 30 * SECOND, kind: 'approve', by: 'status' },
          { atMs: 31 * SECOND, kind: 'act', type: 'promote' },
          { atMs: 55 * SECOND, kind: 'lag', slot: 'executor-a', resource: 'pods', ms: 25_000, forMs: 40 * SECOND },
          { atMs: 66 * SECOND, kind: 'freeze', slot: 'executor-a', forMs: 8 * SECOND, replaced: false },
          template('v3', 68),
        ],
        4 * MINUTE,
      ),
  },
  drift: {
    text: 'a tool repeatedly sets RollingUpdate in mid-release',
    among: (drawn) =>
      undisturbed(
        drawn,
        { declares: 'RollingUpdate', admission: 'none', startMs: 5_000, nodes: 12, maxUnavailable: 1, minReadySeconds: 20 },
        [template('v2', 1), ...[10, 18, 26, 34, 42].map((second): Incident => ({ atMs: second * SECOND, kind: 'reapply' }))],
      ),
  },
  grouped: {
    text: 'two DaemonSets of one group get a new version at once, and pods start slowly',
    among: (drawn) =>
      undisturbed(
        drawn,
        {
          startMs: 5_000,
          maxUnavailable: 1,
          minReadySeconds: 0,
          policy: { downtime: { group: GROUP } },
          companion: { steps: [{ replicas: '100%' }], maxUnavailable: 1 },
        },
        [template('v2', 1), { atMs: 1 * SECOND, kind: 'companionTemplate', tag: 'v2' }],
        5 * MINUTE,
      ),
  },
  slow: {
    text: 'a pod counts only when it has been Ready for 20 seconds',
    among: (drawn) => undisturbed(drawn, { minReadySeconds: 20, startMs: 1_000 }, [template('v2', 1)], 4 * MINUTE),
  },
  superseded: {
    text: 'a newer template comes while the one before has some nodes, and the pods of the stable one crash; there is budget left',
    among: (drawn) =>
      undisturbed(
        drawn,
        {
          startMs: 2_000,
          maxUnavailable: '100%',
          nodes: 12,
          minReadySeconds: 0,
          policy: { failure: { action: 'Continue' } },
          steps: inSteps({}),
        },
        [
          template('v6-bad-late', 1),
          { atMs: 2 * SECOND, kind: 'act', type: 'promote' },
          template('v2', 40),
          { atMs: 46 * SECOND, kind: 'approve', by: 'status' },
          template('v3', 75),
        ],
        4 * MINUTE,
      ),
  },
  changing: {
    text: 'pods change between their permit and their deletion',
    among: (drawn) =>
      undisturbed(drawn, { startMs: 5_000, maxUnavailable: 1 }, [
        template('v2', 1),
        ...[2, 4, 6, 8, 10, 12, 14, 16].map((second, at): Incident => ({ atMs: second * SECOND, kind: 'stickPod', pick: at, forMs: 500 })),
      ]),
  },
  disabled: {
    text: 'a person disables the Rollout in mid-release',
    among: (drawn) =>
      undisturbed(drawn, { startMs: 5_000, maxUnavailable: 1 }, [
        template('v2', 1),
        { atMs: 10 * SECOND, kind: 'disable', forMs: 60 * SECOND },
      ]),
  },
  stale: {
    text: 'a person approves, by action, a step that the release has left in the meantime',
    among: (drawn) =>
      undisturbed(
        drawn,
        { steps: inSteps({}), startMs: 1_000, maxUnavailable: '100%', minReadySeconds: 0 },
        [
          template('v2', 1),
          ...[20, 40, 60].map((second): Incident => ({ atMs: second * SECOND, kind: 'approve', by: 'status' })),
          ...[30, 50, 70].map((second): Incident => ({ atMs: second * SECOND, kind: 'approve', by: 'lateAction' })),
        ],
        3 * MINUTE,
      ),
  },
  native: {
    text: 'a release of a DaemonSet whose strategy is replaced only for the release',
    among: (drawn) => undisturbed(drawn, { declares: 'RollingUpdate', admission: 'inProcess' }, [template('v2', 1)]),
  },
  crossing: {
    text: 'an executor freezes with permits decided but not written; two nodes crash, another executor updates those, and the first one notices it late',
    among: (drawn) =>
      undisturbed(
        drawn,
        newestFirst,
        [
          template('v6-bad-late', 1),
          { atMs: 30 * SECOND, kind: 'approve', by: 'status' },
          { atMs: 31 * SECOND, kind: 'act', type: 'promote' },
          { atMs: 59 * SECOND, kind: 'freeze', slot: 'executor-a', forMs: 7 * SECOND, replaced: false },
          { atMs: 59 * SECOND, kind: 'freezeBefore', slot: 'executor-b', write: 'PATCH /batchreleases', forMs: 10 * SECOND },
          template('v3', 60),
          { atMs: 61 * SECOND, kind: 'lag', slot: 'executor-b', resource: 'pods', ms: 25 * SECOND, forMs: 30 * SECOND },
        ],
        3 * MINUTE,
      ),
  },
  tenant: {
    text: 'a tenant forges pods and a ControllerRevision of the DaemonSet in another namespace',
    among: (drawn) =>
      undisturbed(drawn, { startMs: 1_000 }, [
        template('v2', 1),
        { atMs: 3 * SECOND, kind: 'forgePod', pick: 1, phase: 'running' },
        { atMs: 4 * SECOND, kind: 'forgePod', pick: 4, phase: 'stuck' },
        { atMs: 5 * SECOND, kind: 'forgeRevision', pick: 0, copies: 'hash', number: 'newest' },
      ]),
  },
  policies: {
    text: 'admission by policies; a tool repeatedly sets RollingUpdate in mid-release',
    among: (drawn) =>
      undisturbed(drawn, { declares: 'RollingUpdate', admission: 'policy', startMs: 5_000, maxUnavailable: 1 }, [
        template('v2', 1),
        ...[6, 12, 18].map((second): Incident => ({ atMs: second * SECOND, kind: 'reapply' })),
      ]),
  },
  asked: {
    text: 'people ask the API to undo and to restart, during a release and after it',
    among: (drawn) =>
      undisturbed(drawn, { steps: inSteps({ duration: 5 }), maxUnavailable: 3, startMs: 1_000, minReadySeconds: 0 }, [
        template('v2', 1),
        ...(['undo', 'restart', 'undo', 'restart'] as const).map(
          (type, at): Incident => ({ atMs: (10 + 25 * at) * SECOND, kind: 'ask', type, lookedMs: SECOND, waitMs: 0 }),
        ),
      ]),
    upgrades: 1,
  },
  upgrades: { text: 'all programs are replaced three times', among: (drawn) => drawn, upgrades: 3 },
}

/** Four nodes are silent until the release of the others has ended, return one after the other, and reach no registry. */
function returned(drawn: Parameters<typeof undisturbed>[0], more: readonly Incident[]): ReturnType<typeof undisturbed> {
  const world = { maxUnavailable: 3, minReadySeconds: 0, startMs: 1_000, nodes: 10, policy: { nodes: { notReady: { exempt: 4 } } } }
  const nodes = [1, 3, 5, 7].flatMap((pick, at): readonly Incident[] => [
    { atMs: SECOND, kind: 'noRegistry', pick, forMs: 9 * MINUTE },
    { atMs: 2 * SECOND, kind: 'silenceNode', pick, forMs: (4 + at) * MINUTE },
  ])
  return undisturbed(drawn, world, [...nodes, template('v2', 120), ...more], 10 * MINUTE)
}

function template(tag: string, atSecond: number): Incident {
  return { kind: 'template', tag, whole: false, atMs: atSecond * SECOND }
}

function failPod(pick: number, atSecond: number): Incident {
  return { kind: 'failPod', pick, atMs: atSecond * SECOND }
}

/** Newest pods first and no limit on nodes that are down, so that the choice of an executor shows at once. */
const newestFirst: Partial<Schedule['shape']> = {
  queue: 'own',
  nodes: 12,
  startMs: 1_000,
  stopMs: 200,
  maxUnavailable: '100%',
  minReadySeconds: 0,
  policy: { failure: { action: 'Continue' }, nodes: { order: [{ by: 'Newest' }] } },
  steps: inSteps({}),
}

/** A world with only these incidents, on enough nodes to see their effect, in one batch unless `change` has steps. */
function undisturbed(
  { shape, ...rest }: Schedule,
  change: Partial<Schedule['shape']>,
  incidents: readonly Incident[],
  stormMs = 2 * MINUTE,
): Schedule {
  const { companion: _none, ...own } = shape
  const whole = { nodes: Math.max(8, shape.nodes), steps: [{ replicas: '100%' }], policy: null, maxUnavailable: 2 } as const
  return {
    ...rest,
    stormMs,
    shape: { ...own, ...whole, ...change },
    incidents: incidents.toSorted((a, b) => a.atMs - b.atMs),
  }
}

function inSteps(pause?: { readonly duration?: number }): Schedule['shape']['steps'] {
  return [10, 40, 70, 100].map((percent) => ({
    replicas: `${percent}%`,
    ...(pause !== undefined && { pause }),
  })) as Schedule['shape']['steps']
}

/** Each step waits for a person; the last has all nodes. */
function inSizes(...sizes: readonly (number | string)[]): Schedule['shape']['steps'] {
  return [...sizes.map((replicas) => ({ replicas, pause: {} })), { replicas: '100%' }] as Schedule['shape']['steps']
}

/** The same for nodes of zones. */
function inZones(...parts: readonly { readonly zone: string; readonly replicas?: number }[]): Schedule['shape']['steps'] {
  const steps = parts.map(({ zone, replicas = '100%' }) => ({ replicas, nodes: { matchLabels: { [ZONE]: zone } }, pause: {} }))
  return [...steps, { replicas: '100%' }] as Schedule['shape']['steps']
}

const firstNodeFirst = [
  { replicas: '100%', nodes: { matchLabels: { 'kubernetes.io/hostname': 'node-001' } }, pause: { duration: 20 } },
  { replicas: '100%' },
] as Schedule['shape']['steps']

const usingPods = [{ selector: { matchLabels: { 'example.com/uses': 'agent' } } }]
