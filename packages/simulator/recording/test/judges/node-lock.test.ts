import { describe } from 'vitest'
import { fleet, judgeEach, type Script } from '../script.ts'

const MINUTE = 60_000
const OURS = 'tranche/demo/agent/u1'
const OTHER = 'node-maintenance'

/** The fleet under a policy with `downtime.nodeLock` that every process has seen for a while. */
function under(nodeLock: string): () => Script {
  return () =>
    fleet()
      .order({ spec: { tranche: { downtime: { nodeLock } } } })
      .seen('executor-1', ['pods', 'nodes', 'daemonsets', 'batchreleases'])
      .wait(MINUTE)
}

describe('a pod, where the policy takes the Leases of nodes', () => {
  judgeEach(
    'G4',
    [
      ['goes while a release of its namespace holds the Lease of its node', (s) => s.lease('a', OURS).del('a1'), []],
      ['stays while there is no such Lease', (s) => s.del('a1'), ['G4 a']],
      ['stays while another program holds it', (s) => s.lease('a', OTHER).del('a1'), ['G4 a']],
      ['stays while only the Lease of another node is held', (s) => s.lease('b', OURS).del('a1'), ['G4 a']],
      ['stays while a release of another namespace holds it', (s) => s.lease('a', 'tranche/x/agent/u1').del('a1'), ['G4 a']],
      ['stays once the Lease was given back', (s) => s.lease('a', OURS).lease('a', null).wait(1_000).del('a1'), ['G4 a']],
      [
        'goes where a process froze between the Lease and the deletion',
        (s) =>
          s
            .lease('a', OURS)
            .wait(MINUTE)
            .lease('a', null)
            .del('a1', { sent: s.nowMs - 5_000 }),
        [],
      ],
      ['may be deleted by others', (s) => s.gone('a1'), []],
      [
        'goes without a Lease once the policy no longer asks for it',
        (s) => s.order({ spec: { tranche: { downtime: { nodeLock: 'Ignore' } } } }).del('a1'),
        [],
      ],
    ],
    { begin: under('Take') },
  )
  judgeEach('G4', [['goes without a Lease where the policy says Ignore', (s) => s.del('a1'), []]], { begin: under('Ignore') })
})

describe('the Lease of a node', () => {
  judgeEach('G11', [
    ['that another program holds is not taken by us', (s) => s.lease('a', OTHER).wait(10_000).lease('a', OURS), ['G11 a']],
    [
      'that another program holds is not deleted by us',
      (s) => s.lease('a', OTHER).wait(10_000).lease('a', null, { actor: 'executor-1' }),
      ['G11 a'],
    ],
    ['that another release holds is not taken by us', (s) => s.lease('a', 'tranche/x/y/u2').wait(10_000).lease('a', OURS), ['G11 a']],
    [
      'that has expired may be taken',
      (s) =>
        s
          .lease('a', OTHER)
          .wait(2 * MINUTE)
          .lease('a', OURS),
      [],
    ],
    ['that was given back may be taken', (s) => s.lease('a', OTHER).lease('a', null).lease('a', OURS), []],
    ['may be renewed by its holder', (s) => s.lease('a', OURS).wait(10_000).lease('a', OURS), []],
    ['may be taken by others', (s) => s.lease('a', OURS).lease('a', OTHER), []],
  ])
  judgeEach(
    'G11',
    [['may be taken when the clock of the server was just set', (s) => s.lease('a', OTHER).wait(10_000).lease('a', OURS), []]],
    { query: (s) => ({ clockSteps: [{ atMs: s.nowMs - 20_000, ms: 3_600_000 }] }) },
  )
  judgeEach(
    'G11',
    [
      [
        'may be taken by a process that has had no answer since the clock of the server was set',
        (s) => s.wait(MINUTE).lease('a', OTHER).lease('a', OURS),
        [],
      ],
      [
        'stays with its holder once the process has had answers for a while',
        (s) => s.lease('b', OURS).wait(MINUTE).lease('a', OTHER).lease('a', OURS),
        ['G11 a'],
      ],
    ],
    { query: () => ({ clockSteps: [{ atMs: 0, ms: 1 }] }) },
  )
  judgeEach(
    'G7',
    [
      [
        'is given back in the end',
        (s) =>
          s
            .lease('a', OURS)
            .record({}, '')
            .wait(5 * MINUTE)
            .node('z'),
        ['G7 a'],
      ],
      [
        'is held as long as its node has a permit',
        (s) =>
          s
            .lease('a', OURS)
            .wait(5 * MINUTE)
            .node('z'),
        [],
      ],
      [
        'may be held by others in the end',
        (s) =>
          s
            .lease('a', OTHER)
            .record({}, '')
            .wait(5 * MINUTE)
            .node('z'),
        [],
      ],
    ],
    { query: () => ({ quiescentFromMs: 1_000_000 }) },
  )
})
