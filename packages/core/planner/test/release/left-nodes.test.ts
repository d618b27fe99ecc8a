import type { BlockedNode, Failure, LeftCause } from '@tranche/api-schema'
import { type NodeView, toFleetView } from '@tranche/fleet'
import { leftNodes } from '@tranche/planner'
import { describe, expect, it } from 'vitest'
import { nodes } from '../../../../../test/fakes/build-view.ts'

const since = '2023-11-14T22:00:00Z'

interface Case {
  /** Word of node a, as in {@link nodes}. */
  readonly is: string
  readonly change?: Partial<NodeView>
  readonly excluded?: readonly string[]
  readonly dead?: readonly string[]
  readonly blocked?: readonly BlockedNode[]
  readonly failure?: Partial<Failure>
  readonly cause: LeftCause
  readonly message: string
}

const room = [{ node: 'a', reason: 'NoRoom', message: 'lacks 1 CPU' }]

describe('the cause for which a node is left', () => {
  const cases: Record<string, Case> = {
    'is that it is dead, since its kubelet stopped responding': {
      is: 'a:old!?',
      change: { silentSince: since },
      dead: ['a'],
      cause: 'Dead',
      message: `1 dead (a since ${since})`,
    },
    'is that it is dead, since its kubelet reported it NotReady': {
      is: 'a:old!¿',
      change: { notReadySince: since },
      dead: ['a'],
      cause: 'Dead',
      message: `1 dead (a since ${since})`,
    },
    'is that it is dead, by a condition without an available pod': {
      is: 'a:old!',
      change: { maintenance: 'Drained', maintenanceSince: since },
      dead: ['a'],
      cause: 'Dead',
      message: `1 dead (a: Drained since ${since})`,
    },
    'is that it is dead, even if another client deleted its pod': { is: 'a:old~?', dead: ['a'], cause: 'Dead', message: '1 dead (a)' },
    'has no start if the condition has no readable one': {
      is: 'a:old?',
      change: { silentSince: 'yesterday' },
      cause: 'NotReady',
      message: '1 NotReady (a)',
    },
    'is maintenance, while its pod is available': {
      is: 'a:old',
      change: { maintenance: 'MaintenanceInProgress', maintenanceSince: since },
      cause: 'Maintenance',
      message: `1 in maintenance (a: MaintenanceInProgress since ${since})`,
    },
    'is that it is NotReady, and not dead yet': {
      is: 'a:old¿',
      change: { notReadySince: since },
      cause: 'NotReady',
      message: `1 NotReady (a since ${since})`,
    },
    'is that it is NotReady where a taint for that keeps the DaemonSet off it': {
      is: 'a:old?',
      change: { desired: false, desiredOnReturn: true },
      cause: 'NotReady',
      message: '1 NotReady (a)',
    },
    'is the policy, whatever else applies': {
      is: 'a:old!?',
      excluded: ['a'],
      dead: ['a'],
      blocked: room,
      cause: 'Excluded',
      message: '1 excluded by nodes.exclude of the policy (a)',
    },
    'is the policy, with what is wrong with the pod that stays': {
      is: 'a:old!',
      excluded: ['a'],
      cause: 'Excluded',
      message: '1 excluded by nodes.exclude of the policy (a: not ready on revision old)',
    },
    'is a check, with its message, once the node is back': {
      is: 'a:old',
      blocked: room,
      cause: 'Blocked',
      message: '1 kept on the old pod by a check (a: NoRoom: lacks 1 CPU)',
    },
    'is not the check of an earlier time while it is NotReady': {
      is: 'a:old?',
      blocked: room,
      cause: 'NotReady',
      message: '1 NotReady (a)',
    },
    'is nothing but that it is back': { is: 'a:old', cause: 'Due', message: '1 back with the old pod (a)' },
    'is a failure that is tolerated, with its reason': {
      is: 'a:new!',
      failure: { nodes: ['a'], failedNodes: [{ node: 'a', reason: 'CrashLoopBackOff' }] },
      cause: 'Failed',
      message: '1 failed, which is tolerated (a: CrashLoopBackOff)',
    },
    'is a failure that was accepted': {
      is: 'a:new!',
      failure: { nodes: [], accepted: ['a'] },
      cause: 'Failed',
      message: '1 failed, which a retry accepted (a)',
    },
    'is a new failure after an accepted one': {
      is: 'a:new!',
      failure: { nodes: ['a'], accepted: ['a'] },
      cause: 'Failed',
      message: '1 failed, which is tolerated (a)',
    },
    'is that it was lost after its update': {
      is: 'a:new!?',
      change: { silentSince: since },
      cause: 'Lost',
      message: `1 lost during the update or after it (a since ${since})`,
    },
    'is that it was lost during its update': {
      is: 'a:-',
      change: { ready: false },
      cause: 'Lost',
      message: '1 lost during the update or after it (a)',
    },
    'is that it was lost, also once its Node is gone': { is: 'b:new', cause: 'Lost', message: '1 lost during the update or after it (a)' },
    'is that its new pod is not available': {
      is: 'a:new!',
      cause: 'Starting',
      message: '1 updated and not available (a)',
    },
  }

  it.each(Object.entries(cases))('%s', (_name, { is, change = {}, excluded = [], dead = [], blocked = [], failure, cause, message }) => {
    const fleet = toFleetView(nodes(is).nodes.map((node) => ({ ...node, ...change })))
    const progress = { excluded, exemption: exemptionOf(dead) }
    const groups = leftNodes(['a'], { fleet, progress, revision: 'new', blocked, failure: failure && { nodes: [], ...failure } })
    expect(groups).toMatchObject([{ cause, count: 1, nodes: ['a'], message }])
    expect(groups[0]?.next).toMatch(/^(updated|done) /)
  })
})

it.each([
  [false, '2 failed, which is tolerated or was accepted by a retry (a, b)'],
  [true, '2 failed (a, b)'],
])('tolerated and accepted failures are one group; stopped: %s', (stops, message) => {
  const progress = { excluded: [], exemption: exemptionOf([]) }
  const failure = { nodes: ['a'], accepted: ['b'], stops }
  expect(leftNodes(['a', 'b'], { fleet: nodes('a:new! b:new!'), progress, revision: 'new', blocked: [], failure })).toMatchObject([
    { message },
  ])
})

describe('groups of left nodes', () => {
  const asked = { progress: { excluded: ['x1'], exemption: exemptionOf(['d1', 'd2']) }, revision: 'new', blocked: [], failure: undefined }
  const fleet = nodes('d1:old!? d2:old!? n1:old? x1:old')

  it('have each node once, dead ones first and excluded ones last', () => {
    const groups = leftNodes(['x1', 'n1', 'd1', 'd2', 'd1'], { ...asked, fleet })
    expect(groups.map(({ cause, nodes: named }) => [cause, named])).toEqual([
      ['Dead', ['d1', 'd2']],
      ['NotReady', ['n1']],
      ['Excluded', ['x1']],
    ])
  })

  it('count all nodes, list ten, and name three', () => {
    const names = Array.from({ length: 12 }, (_, at) => `e${at}`)
    const [group] = leftNodes(names, { ...asked, fleet, progress: { ...asked.progress, excluded: names } })
    expect(group).toMatchObject({ count: 12, nodes: names.slice(0, 10), message: expect.stringContaining('(e0, e1, e2 and 9 more)') })
  })

  it('are none without nodes', () => {
    expect(leftNodes([], { ...asked, fleet })).toEqual([])
  })
})

function exemptionOf(dead: readonly string[]) {
  return { dead, most: 1, names: new Set<string>(), suspect: [], nextAtMs: null }
}
