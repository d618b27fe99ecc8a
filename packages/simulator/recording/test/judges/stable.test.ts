import { describe } from 'vitest'
import { type Fields, fleet, judgeEach, type Script } from '../script.ts'

const healthy = (stableRevision: string): Fields => ({ status: { phase: 'Healthy', stableRevision } })

/** A release of v2 is in progress; no node runs it yet. */
function begun(): Script {
  return fleet()
    .rollout({})
    .rollout({ status: { phase: 'Progressing', stableRevision: 'v1' } }, 'controller-1')
}

function withoutNodes(script: Script): Script {
  for (const node of 'abcd') script.gone(`${node}1`).removeNode(node)
  return script
}

const UNREACHABLE = 'node.kubernetes.io/unreachable'

function tainted(script: Script, ready: string, keys: readonly string[] = [UNREACHABLE]): Script {
  for (const node of 'abcd') script.node(node, { ready, taints: keys.map((key) => ({ key, effect: 'NoSchedule' })) })
  return script
}

function withoutPods(script: Script): Script {
  for (const node of 'abcd') script.gone(`${node}1`)
  return script
}

describe('a revision that becomes stable', () => {
  judgeEach(
    'G3',
    [
      ['has run on no node', (s) => s.rollout(healthy('v2'), 'controller-1'), ['G3']],
      ['has never been Ready', (s) => s.gone('a1').pod('a2', { hash: 'v2', ready: false }).rollout(healthy('v2'), 'controller-1'), ['G3']],
      [
        'was Ready only on an undesired node',
        (s) =>
          s
            .node('e', { taints: [{ key: 'gpu', effect: 'NoSchedule' }] })
            .pod('e1', { hash: 'v2' })
            .rollout(healthy('v2'), 'controller-1'),
        ['G3'],
      ],
      ['runs on a node', (s) => s.gone('a1').pod('a2', { hash: 'v2' }).rollout(healthy('v2'), 'controller-1'), []],
      [
        'ran on a node that is gone',
        (s) => s.gone('a1').pod('a2', { hash: 'v2' }).gone('a2').removeNode('a').rollout(healthy('v2'), 'controller-1'),
        [],
      ],
      [
        'ran under another name',
        (s) => s.gone('a1').pod('a2', { hash: 'v2' }).revision('v9', 'template-2').rollout(healthy('v9'), 'controller-1'),
        [],
      ],
      [
        'was Ready before its node was desired',
        (s) =>
          s
            .node('e', { taints: [{ key: 'gpu', effect: 'NoSchedule' }] })
            .pod('e1', { hash: 'v2' })
            .node('e')
            .rollout(healthy('v2'), 'controller-1'),
        [],
      ],
      ['needs no node where none is desired', (s) => withoutNodes(s).rollout(healthy('v2'), 'controller-1'), []],
      [
        'needs a node where dead ones are left, which a taint keeps from being desired',
        (s) => tainted(s, 'Unknown').seen('controller-1').rollout(healthy('v2'), 'controller-1'),
        ['G3'],
      ],
      [
        'needs a node where dead ones are left whose pods are gone',
        (s) => withoutPods(tainted(s, 'Unknown')).seen('controller-1').rollout(healthy('v2'), 'controller-1'),
        ['G3'],
      ],
      [
        'needs a node where dead ones are left that are out of service',
        (s) =>
          withoutPods(tainted(s, 'Unknown', ['node.kubernetes.io/out-of-service']))
            .seen('controller-1')
            .rollout(healthy('v2'), 'controller-1'),
        ['G3'],
      ],
      [
        'needs a node where Ready ones are left, which still have the taint for their failure',
        (s) => tainted(s, 'True').seen('controller-1').rollout(healthy('v2'), 'controller-1'),
        ['G3'],
      ],
      [
        'needs no node where dead ones are left that a user has tainted, too',
        (s) =>
          withoutPods(tainted(s, 'Unknown', [UNREACHABLE, 'gpu']))
            .seen('controller-1')
            .rollout(healthy('v2'), 'controller-1'),
        [],
      ],
      [
        'needs no node where dead ones are left that the selector of the DaemonSet excludes',
        (s) =>
          tainted(s, 'Unknown')
            .daemonSet({ placement: { nodeSelector: { pool: 'gpu' } } })
            .seen('controller-1')
            .rollout(healthy('v2'), 'controller-1'),
        [],
      ],
      [
        'needs no node where dead ones are left that the policy excludes',
        (s) =>
          tainted(s, 'Unknown')
            .order({ spec: { tranche: { nodes: { exclude: [{}] } } } })
            .seen('controller-1')
            .rollout(healthy('v2'), 'controller-1'),
        [],
      ],
      ['may not know yet that nodes are dead', (s) => tainted(s, 'Unknown').rollout(healthy('v2'), 'controller-1'), []],
      ['may not know of the first node yet', (s) => withoutNodes(s).node('e').rollout(healthy('v2'), 'controller-1'), []],
      [
        'knows of the first node later',
        (s) => withoutNodes(s).node('e').seen('controller-1').rollout(healthy('v2'), 'controller-1'),
        ['G3'],
      ],
      ['is the one that was stable before', (s) => s.rollout(healthy('v1'), 'controller-1'), []],
      ['is reported while the release runs', (s) => s.rollout({ status: { stableRevision: 'v2' } }, 'controller-1'), []],
      ['is written by a user', (s) => s.rollout(healthy('v2')), []],
    ],
    { begin: begun },
  )
  judgeEach('G3', [['is the first that a status reports', (s) => s.rollout({}).rollout(healthy('v2'), 'controller-1'), []]])
})
