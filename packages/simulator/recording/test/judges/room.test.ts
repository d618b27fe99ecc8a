import { describe } from 'vitest'
import { type Fields, fleet, judgeEach, type Script } from '../script.ts'

const MINUTE = 60_000

/** The fleet under a policy that every process has seen for a while; another pod fills node a. */
function beside(room: string | undefined, filler: Fields = {}): () => Script {
  return () =>
    fleet()
      .order({ spec: { tranche: { nodes: { ...(room !== undefined && { room }) } } } })
      .other(filler)
      .seen()
      .wait(MINUTE)
}

const stuck: Fields = { phase: 'Pending', ready: false, bound: false, unschedulable: true }

/** The pod on node a is deleted by us, and its successor finds no room for so long. */
const taken =
  (forMs: number) =>
  (s: Script): Script =>
    s.del('a1').replace('a1', stuck).wait(forMs).node('z')

describe('the room on a node, where the policy asks for it', () => {
  judgeEach(
    'G1',
    [
      ['is there before its pod is deleted', taken(MINUTE), ['G1 a']],
      ['may be found by the scheduler a moment later', taken(20_000), []],
      [
        'is there if the new pod is bound',
        (s) =>
          s
            .del('a1')
            .replace('a1', { ...stuck, bound: true })
            .wait(MINUTE)
            .node('z'),
        [],
      ],
      [
        'is there if the scheduler has not looked yet',
        (s) =>
          s
            .del('a1')
            .replace('a1', { ...stuck, unschedulable: undefined })
            .wait(MINUTE)
            .node('z'),
        [],
      ],
      [
        'may be found late after the node was away',
        (s) => s.del('a1').node('a', { ready: 'Unknown' }).wait(MINUTE).node('a').replace('a1', stuck).wait(MINUTE).node('z'),
        [],
      ],
      [
        'may be gone because of a pod that was created later',
        (s) =>
          s
            .del('a1')
            .pod('a-later', { ownerUid: 'other', hash: undefined, requests: true, bound: true })
            .replace('a1', stuck)
            .wait(MINUTE)
            .node('z'),
        [],
      ],
      [
        'does not matter once the template has changed',
        (s) => s.del('a1').replace('a1', stuck).daemonSet({ template: 't9' }).wait(MINUTE).node('z'),
        [],
      ],
      [
        'does not matter on a node that is NotReady',
        (s) => s.del('a1').replace('a1', stuck).node('a', { ready: 'False' }).wait(MINUTE).node('z'),
        [],
      ],
      [
        'does not matter to what others delete',
        (s) =>
          s
            .gone('a1')
            .pod("a1'", { hash: 'v2', ...stuck })
            .wait(MINUTE)
            .node('z'),
        [],
      ],
    ],
    { begin: beside('Check') },
  )
  judgeEach('G1', [['may be missing because the new pod requests more than the node has', taken(MINUTE), ['G1 a']]], {
    begin: beside('Check', { node: 'b' }),
  })
  judgeEach('G1', [['does not matter if the policy ignores it', taken(MINUTE), []]], { begin: beside('Ignore') })
  judgeEach('G1', [['does not matter without such a rule', taken(MINUTE), []]], { begin: beside(undefined) })
})
