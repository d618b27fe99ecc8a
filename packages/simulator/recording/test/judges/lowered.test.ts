import { describe } from 'vitest'
import { fleet, judgeEach, type Script } from '../script.ts'

/** The record allows two nodes; the user has allowed one for as long as this. */
function lowered(script: Script, ms: number): Script {
  return script.daemonSet({ strategy: { type: 'OnDelete', rollingUpdate: { maxUnavailable: 1 } }, generation: 2 }).wait(ms)
}

const named = { metadata: { annotations: { 'tranche.dev/release-policy': 'careful' } } }

describe('a maxUnavailable that was lowered', () => {
  judgeEach(
    'G2',
    [
      ['is in force two minutes later, whatever the record says', (s) => lowered(s, 121_000).del('a1').del('b1'), ['G2 b']],
      ['may be unknown before', (s) => lowered(s, 60_000).del('a1').del('b1'), []],
      ['allows one node after the other', (s) => lowered(s, 121_000).del('a1').replace('a1').del('b1'), []],
      [
        'allows another deletion on a node in flight',
        (s) => lowered(s, 121_000).del('a1').replace('a1', { ready: false, hash: 'v1' }).del("a1'"),
        [],
      ],
      ['counts from the last change of the cluster’s nodes', (s) => lowered(s, 121_000).node('e').del('a1').del('b1'), []],
      [
        'has no effect if the policy overrides it with a larger one',
        (s) => lowered(s.rollout(named).policy('careful', 2), 121_000).del('a1').del('b1'),
        [],
      ],
      ['may be that of the policy', (s) => s.rollout(named).policy('careful', 1).wait(121_000).del('a1').del('b1'), ['G2 b']],
      ['is not that of a policy that the Rollout does not name', (s) => s.policy('careful', 1).wait(121_000).del('a1').del('b1'), []],
    ],
    { begin: () => fleet().rollout({}).wait(1), query: () => ({ quiescentFromMs: 0 }) },
  )
  judgeEach('G2', [['is checked only after the last fault', (s) => lowered(s, 121_000).del('a1').del('b1'), []]], {
    begin: () => fleet().rollout({}).wait(1),
  })
})
