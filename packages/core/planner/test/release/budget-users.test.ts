import { type FleetPod, type NodeView, toFleetView } from '@tranche/fleet'
import { budgetUsers, budgetUsersText } from '@tranche/planner'
import { describe, expect, it } from 'vitest'
import { nodes, permitFor } from '../../../../../test/fakes/build-view.ts'

describe('the nodes that use the budget', () => {
  it.each<
    [
      string,
      string,
      {
        change?: Partial<NodeView>
        dead?: readonly string[]
        excluded?: readonly string[]
        isPermitted?: true
        isDeleted?: true
        trouble?: true
      },
      string,
    ]
  >([
    ['are being updated while their pods are replaced', 'a:old~', { isPermitted: true }, '1 being updated (a)'],
    ['are updated, and the new pod does not run', 'a:new!', { isDeleted: true, trouble: true }, '1 whose new pod is not available (a)'],
    ['are being updated while the new pod starts', 'a:new!', { isDeleted: true }, '1 being updated (a)'],
    ['went away while their pods were replaced', 'a:old~?', { isPermitted: true }, '1 NotReady or in maintenance (a)'],
    ['are not being updated before their pods are deleted', 'a:old!', { isPermitted: true }, '1 whose old pod is not available (a)'],
    ['have a new pod that is not available', 'a:new!', {}, '1 whose new pod is not available (a)'],
    ['have an old pod that is not available', 'a:old!', {}, '1 whose old pod is not available (a)'],
    [
      'are excluded by the policy, whatever an earlier release did',
      'a:old!',
      { isPermitted: true, excluded: ['a'] },
      '1 excluded by the policy (a)',
    ],
    ['are excluded by the policy while their pods are replaced', 'a:old~', { isPermitted: true, excluded: ['a'] }, '1 being updated (a)'],
    ['are NotReady', 'a:old!¿', {}, '1 NotReady or in maintenance (a)'],
    ['are in maintenance', 'a:new!', { change: { maintenance: 'Drained' } }, '1 NotReady or in maintenance (a)'],
    ['are gone', 'b:new', {}, '1 NotReady or in maintenance (a)'],
    ['are dead, if more are than the policy exempts', 'a:old!?', { dead: ['a'] }, '1 dead (a)'],
  ])('%s', (_name, is, { change = {}, dead = [], excluded = [], isPermitted = false, isDeleted = false, trouble = false }, text) => {
    const fleet = toFleetView(nodes(is).nodes.map((node) => ({ ...node, ...change, pods: trouble ? node.pods.map(failing) : node.pods })))
    const permits = isDeleted ? [{ ...permitFor('a'), podUid: 'deleted' }] : isPermitted ? [permitFor('a')] : []
    const progress = { exemption: exemptionOf(dead), excluded }
    expect(budgetUsersText(budgetUsers(['a'], { fleet, progress, revision: 'new', permits }))).toBe(text)
  })

  it('are counted by use, listed up to ten, and named up to three', () => {
    const names = Array.from({ length: 12 }, (_, at) => `n${String(at).padStart(2, '0')}`)
    const fleet = nodes(['d:old!?', ...names.map((name) => `${name}:old!`)].join(' '))
    const users = budgetUsers(['d', ...names], {
      fleet,
      progress: { exemption: exemptionOf(['d']), excluded: [] },
      revision: 'new',
      permits: [],
    })
    expect(users).toEqual([
      { use: 'Old', count: 12, nodes: names.slice(0, 10) },
      { use: 'Dead', count: 1, nodes: ['d'] },
    ])
    expect(budgetUsersText(users)).toBe('12 whose old pod is not available (n00, n01, n02 and 9 more), 1 dead (d)')
  })
})

function failing(pod: FleetPod): FleetPod {
  return { ...pod, trouble: { reason: 'ErrImagePull' } }
}

function exemptionOf(dead: readonly string[]) {
  return { dead, most: 0, names: new Set<string>(), suspect: [], nextAtMs: null }
}
