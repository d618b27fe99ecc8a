import { describe } from 'vitest'
import { type Fields, fleet, judgeEach, type Script } from '../script.ts'

const MINUTE = 60_000
const consumers = [
  { selector: { matchLabels: { uses: 'agent' } } },
  { extendedResource: 'example.com/gpu' },
  { csiDriver: 'disk.example.com' },
]

/** The fleet under a policy with `drain` that every process has seen for a while; another pod is on node a. */
function beside(pod: Fields = { labels: { uses: 'agent' } }, drain: Fields = {}): () => Script {
  return () =>
    fleet()
      .order({ spec: { tranche: { drain: { consumers, ...drain } } } })
      .other(pod)
      .seen()
      .wait(MINUTE)
      .seen('executor-1', ['pods', 'nodes', 'daemonsets', 'batchreleases'])
}

const evicted = { actor: 'executor-1', verb: 'delete', resource: 'pods/eviction' }

describe('an old pod, where the policy drains nodes', () => {
  judgeEach(
    'G4',
    [
      ['stays while a consumer is on its node', (s) => s.del('a1'), ['G4 a']],
      ['goes where the consumer is on another node', (s) => s.other({ node: 'b' }).wait(MINUTE).del('a1'), []],
      ['goes once the consumer has finished', (s) => s.other({ phase: 'Succeeded' }).del('a1'), []],
      [
        'goes where the consumer has come too late',
        (s) =>
          s
            .other({ labels: {} })
            .other({ labels: { uses: 'agent' } })
            .del('a1'),
        [],
      ],
      ['may be deleted by others', (s) => s.gone('a1'), []],
    ],
    { begin: beside() },
  )
  judgeEach('G4', [['stays for a pod that requests its resource', (s) => s.del('a1'), ['G4 a']]], {
    begin: beside({ labels: {}, extended: ['example.com/gpu'] }),
  })
  judgeEach('G4', [['stays for a pod with a volume of its driver', (s) => s.del('a1'), ['G4 a']]], {
    begin: beside({ labels: {}, drivers: ['disk.example.com'] }),
  })
  judgeEach('G4', [['goes beside a pod that does not use it', (s) => s.del('a1'), []]], { begin: beside({ labels: {} }) })
  judgeEach('G4', [['goes beside a pod of a DaemonSet', (s) => s.del('a1'), []]], { begin: beside({}) })
  judgeEach('G4', [['goes if the policy says to continue', (s) => s.del('a1'), []]], {
    begin: beside(undefined, { onTimeout: 'Continue' }),
  })
})

describe('an eviction', () => {
  judgeEach(
    'G4',
    [
      ['of a consumer on a node with a permit is asked for', (s) => s.other({ deleting: true }, evicted), []],
      ['of another pod is not', (s) => s.other({ labels: {} }).other({ deleting: true }, evicted), ['G4 a']],
      ['of a pod of a DaemonSet is not', (s) => s.other({ labels: undefined }).other({ deleting: true }, evicted), ['G4']],
      [
        'on a node without a permit is not, once that is known',
        (s) => s.record({}, 'b1 c1 d1').seen('executor-1', ['batchreleases']).wait(MINUTE).other({ deleting: true }, evicted),
        ['G4 a'],
      ],
      ['on a node whose permit has just gone may be', (s) => s.record({}, 'b1 c1 d1').other({ deleting: true }, evicted), []],
      ['by others is no matter', (s) => s.other({ labels: {} }).other({ deleting: true }, { ...evicted, actor: 'user' }), []],
    ],
    { begin: beside() },
  )
})

const ours = { actor: 'executor-1', verb: 'patch' }
const user = { actor: 'user', verb: 'patch' }

describe('a cordon', () => {
  judgeEach(
    'G11',
    [
      ['of a node with a permit is asked for, and so is its end', (s) => s.node('a', on, ours).node('a', off, ours), []],
      ['of a user is not ended by us', (s) => s.node('a', on, user).node('a', off, ours), ['G11 a']],
      ['of an executor may be ended by a user', (s) => s.node('a', on, ours).node('a', off, user), []],
      [
        'of a user that replaced that of an executor is not ended by us',
        (s) => s.node('a', on, ours).node('a', off, user).node('a', on, user).node('a', off, ours),
        ['G11 a'],
      ],
      [
        'of a node without a permit is not asked for',
        (s) => s.record({}, 'b1 c1 d1').seen('executor-1', ['batchreleases']).wait(MINUTE).node('a', on, ours),
        ['G11 a'],
      ],
    ],
    { begin: beside() },
  )
  judgeEach('G11', [['is not asked for without cordon', (s) => s.node('a', on, ours), ['G11 a']]], {
    begin: beside(undefined, { cordon: false }),
  })
  judgeEach(
    'G7',
    [
      [
        'of an executor ends with its permit',
        (s) =>
          s
            .node('a', on, ours)
            .record({}, '')
            .wait(5 * MINUTE)
            .node('z'),
        ['G7 a'],
      ],
      [
        'of an executor may last as long as its permit',
        (s) =>
          s
            .node('a', on, ours)
            .wait(5 * MINUTE)
            .node('z'),
        [],
      ],
      [
        'of a user may last',
        (s) =>
          s
            .node('a', on, user)
            .record({}, '')
            .wait(5 * MINUTE)
            .node('z'),
        [],
      ],
      [
        'of an executor leaves no mark',
        (s) =>
          s
            .node('a', { ...off, cordonMark: '{}' }, ours)
            .record({}, '')
            .wait(5 * MINUTE)
            .node('z'),
        ['G7 a'],
      ],
    ],
    { begin: beside(), query: () => ({ quiescentFromMs: 1_000_000 }) },
  )
})

const on = { unschedulable: true }
const off = { unschedulable: false }
