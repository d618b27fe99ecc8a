import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nodeWhy } from '../src/format/node-why.ts'
import { groupUnwell } from '../src/pages/rollout/nodes/group-unwell.ts'
import { layOut, nodeAt, ZONE_TITLE } from '../src/pages/rollout/nodes/map-layout.ts'
import { filterNodes, nodeFilterOf, nodeQueryOf } from '../src/pages/rollout/nodes/node-filter.ts'
import { node } from './builders.ts'

describe('nodes that are not well', () => {
  const failure = {
    reason: 'CrashLoopBackOff',
    message: 'two nodes crash',
    nodes: ['n1', 'n2', 'n9'],
    failedNodes: [{ node: 'n1', reason: 'CrashLoopBackOff', container: 'agent', exitCode: 7, message: 'no config' }],
  }

  it('are grouped by reason with the details of one, failures first', () => {
    const nodes = [
      node('n1', { state: 'failing' }),
      node('n2', { state: 'failing' }),
      node('n3', { state: 'notReady' }),
      node('n4', { state: 'down' }),
      node('n5'),
    ]
    const groups = groupUnwell(failure, nodes).map(({ title, nodes: members, example }) => [
      title,
      members.map(({ name }) => name),
      example?.exitCode,
    ])
    expect(groups).toEqual([
      ['CrashLoopBackOff', ['n1', 'n2', 'n9'], 7],
      ['Node is NotReady', ['n3'], undefined],
      ['Old pod is not available', ['n4'], undefined],
    ])
  })

  it('are named by the failure before the list of nodes has arrived', () => {
    expect(groupUnwell(failure, []).flatMap(({ nodes }) => nodes.map(({ name }) => name))).toEqual(['n1', 'n2', 'n9'])
  })

  it('are absent after the rollback of the version that failed, which the status still names', () => {
    const back = [
      node('n1', { role: 'stable' }),
      node('n2', { role: 'stable', state: 'old' }),
      node('n9', { role: 'stable', state: 'down' }),
    ]
    expect(groupUnwell(failure, back).map(({ title, nodes }) => [title, nodes.map(({ name }) => name)])).toEqual([
      ['Old pod is not available', ['n9']],
    ])
  })

  it('are those whose pod is not available once the release is over, and not those that it updates', () => {
    const nodes = [node('n1', { state: 'updating' }), node('n2')]
    const groups = (isOver: boolean): unknown =>
      groupUnwell(undefined, nodes, isOver).map(({ title, nodes: members }) => [title, members.length])
    expect([groups(true), groups(false)]).toEqual([[['Pod is not available', 1]], []])
  })

  it('are absent if all nodes are well', () => {
    expect(groupUnwell(undefined, [node('n1'), node('n2', { state: 'old' })])).toEqual([])
  })
})

describe('the filter of nodes', () => {
  const nodes = [node('node-10'), node('node-9', { state: 'failing' }), node('node-2', { zone: 'b' })]
  const shown = (query: Record<string, string>): readonly string[] => filterNodes(nodes, nodeFilterOf(query)).map(({ name }) => name)

  it('sorts by the worst state first, then by number', () => {
    expect(shown({})).toEqual(['node-9', 'node-2', 'node-10'])
  })

  it.each([
    [{ state: 'updated' }, ['node-2', 'node-10']],
    [{ node: 'NODE-1' }, ['node-10']],
    [{ node: 'b' }, ['node-2']],
    [{ sort: 'name', order: 'desc' }, ['node-10', 'node-9', 'node-2']],
    [{ sort: 'nonsense', state: 'nonsense' }, ['node-9', 'node-2', 'node-10']],
  ])('reads %o from the URL', (query, want) => {
    expect(shown(query as Record<string, string>)).toEqual(want)
  })

  it('is unchanged after encoding in the URL', () => {
    const filter = { state: 'failing', text: 'x', sort: 'zone', isDescending: true, isTable: true } as const
    expect(nodeFilterOf(nodeQueryOf(filter))).toEqual(filter)
  })
})

describe('the map of nodes', () => {
  const zones = fc.constantFrom('', 'a', 'b', 'a zone with a long name')
  const fleet = fc.array(zones, { maxLength: 400 }).map((list) => list.map((zone, at) => node(`n${at}`, { zone })))

  it('shows each node in one cell within its width, and finds it there', () => {
    fc.assert(
      fc.property(fleet, fc.integer({ min: 200, max: 3_840 }), (nodes, width) => {
        const layout = layOut(nodes, width)
        const found = layout.zones.flatMap(({ x, y, perRow, nodes: members }) =>
          members.map((member, at) => {
            const [cellX, cellY] = [x + (at % perRow) * layout.cell, y + ZONE_TITLE + Math.floor(at / perRow) * layout.cell]
            expect(cellX + layout.cell).toBeLessThanOrEqual(width + 1)
            expect(cellY + layout.cell).toBeLessThanOrEqual(layout.height + 1)
            return nodeAt(layout, cellX + layout.cell / 2, cellY + layout.cell / 2)?.name === member.name
          }),
        )
        expect(found).toHaveLength(nodes.length)
        expect(found.every(Boolean)).toBe(true)
      }),
    )
  })

  it('keeps 5,000 nodes in cells of eight pixels or more', () => {
    const nodes = Array.from({ length: 5_000 }, (_, at) => node(`n${at}`, { zone: `z${at % 3}` }))
    expect(layOut(nodes, 800).cell).toBeGreaterThanOrEqual(8)
    expect(layOut(nodes, 300).cell).toBe(8)
  })

  it('finds nothing between the zones and beyond the last node', () => {
    const layout = layOut([node('a')], 400)
    expect([nodeAt(layout, 5, 5), nodeAt(layout, 399, ZONE_TITLE + 5), nodeAt(layout, -1, 30)]).toEqual([undefined, undefined, undefined])
  })
})

describe('why a node is in its state', () => {
  const budget = { counts: false, reason: 'Exempt', message: 'costs no budget: few are dead' } as const
  it.each([
    [
      'is said with whether it costs budget',
      { why: 'the node is NotReady', budget },
      'the node is NotReady; costs no budget: few are dead',
    ],
    ['is said alone for a node that the budget is not about', { why: 'the pod is starting' }, 'the pod is starting'],
    ['is absent for a healthy node', {}, undefined],
  ])('%s', (_title, changes, want) => {
    expect(nodeWhy(node('a', changes))).toBe(want)
  })
})
