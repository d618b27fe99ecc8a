import { describe } from 'vitest'
import { type Fields, fleet, judgeEach, type Script } from '../script.ts'

const wait = { replicas: 1, pause: {} }
const half = { replicas: '50%', pause: {} }

/** A Rollout with these steps, and a template that nobody has had before; the record lets every node be taken. */
function released(steps: readonly Fields[]): Script {
  return fleet()
    .rollout({ spec: { strategy: { canary: { steps } } } })
    .revision('v3', 'template-3')
    .daemonSet({ template: 'template-3' })
    .record({ revision: 'v3', partition: 0, limit: 4 })
    .seen()
    .wait(1)
}

function approve(id: string, members: Fields = {}): Fields {
  return { metadata: { annotations: { 'tranche.dev/action': JSON.stringify({ id, type: 'approve', ...members }) } } }
}

function deletes(script: Script, ...uids: readonly string[]): Script {
  for (const uid of uids) script.del(uid).replace(uid, { hash: 'v3' })
  return script
}

const ready = { status: { canaryStatus: { currentStepState: 'StepReady' } } }

describe('what people and pauses have opened', () => {
  judgeEach(
    'G3',
    [
      ['is the first step, whatever the record says', (s) => deletes(s, 'a1', 'b1'), ['G3 b']],
      ['is the next with an approval by action', (s) => deletes(s.rollout(approve('w1')), 'a1', 'b1', 'c1'), ['G3 c']],
      ['is the next with an approval by status', (s) => deletes(s.rollout(ready), 'a1', 'b1', 'c1'), ['G3 c']],
      ['is not the next because our status says so', (s) => deletes(s.rollout(ready, 'controller-1'), 'a1', 'b1'), ['G3 b']],
      [
        'counts an action that is written twice once',
        (s) => deletes(s.rollout(approve('w1')).rollout(approve('w1')), 'a1', 'b1', 'c1'),
        ['G3 c'],
      ],
      [
        'is the step that somebody jumps to',
        (s) => deletes(s.rollout(approve('w1', { type: 'jump', step: 2 })), 'a1', 'b1', 'c1'),
        ['G3 c'],
      ],
      ['is everything with promote', (s) => deletes(s.rollout(approve('w1', { type: 'promote' })), 'a1', 'b1', 'c1', 'd1'), []],
      ['is everything after the last step', (s) => deletes(s.rollout(approve('w1')).rollout(approve('w2')), 'a1', 'b1', 'c1', 'd1'), []],
      ['costs nothing where it leaked', (s) => deletes(s.gone('d1').pod('d2', { hash: 'v3' }).seen().wait(1), 'a1'), []],
      [
        'does not grow by nodes that come back with old pods',
        (s) => deletes(s.node('e').node('f').pod('e1').pod('f1').record({}, 'a1 b1 e1').seen().wait(1), 'a1', 'e1'),
        ['G3 e'],
      ],
      [
        'knows no steps where the template was there before',
        (s) => deletes(s.daemonSet({ template: 'template-2' }).record({ revision: 'v2' }), 'a1', 'b1', 'c1'),
        [],
      ],
      [
        'is as much in a plan that replaces the first',
        (s) => deletes(s.rollout({ spec: { strategy: { canary: { steps: [wait, wait, half] } } } }), 'a1', 'b1'),
        ['G3 b'],
      ],
    ],
    { begin: () => released([wait, half]) },
  )
  judgeEach(
    'G3',
    [
      ['is the next when its time has passed', (s) => deletes(s.wait(60_000), 'a1', 'b1', 'c1'), ['G3 c']],
      ['is not the next before', (s) => deletes(s.wait(57_000), 'a1', 'b1'), ['G3 b']],
    ],
    { begin: () => released([{ replicas: 1, pause: { duration: 60 } }, half]) },
  )
  judgeEach(
    'G3',
    [
      ['may be the next early by as much as the server’s clock was set', (s) => deletes(s.wait(31_000), 'a1', 'b1'), []],
      ['may not be the next earlier than that', (s) => deletes(s.wait(27_000), 'a1', 'b1'), ['G3 b']],
    ],
    { begin: () => released([{ replicas: 1, pause: { duration: 60 } }, half]), query: () => ({ clockSteps: [{ atMs: 0, ms: -30_000 }] }) },
  )
})
