import { BY_STAMPS, FleetIndex, type FleetView, keptPerBlock, type NodeBlock, toFleetNode } from '@tranche/fleet'
import { FLEET_OWNER, aNode } from '@tranche/testing'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

/** Several changes between two looks; a name that comes again is another version of the same node. */
const rounds = fc.array(fc.array(fc.record({ at: fc.nat(400), gone: fc.boolean() }), { maxLength: 150 }), { maxLength: 8 })

describe('the blocks of a view, after any sequence of changes', () => {
  it('are the nodes of the view in order, none of them empty or large', () => {
    fc.assert(
      fc.property(rounds, (all) => {
        for (const view of viewsAfter(all)) {
          expect(view.blocks.flat()).toEqual(view.nodes)
          expect(view.nodes.map(({ name }) => name)).toEqual(view.nodes.map(({ name }) => name).toSorted())
          expect(view.blocks.filter((block) => block.length === 0 || block.length >= 32)).toEqual([])
        }
      }),
      { numRuns: 60 },
    )
  })

  it('stay the same arrays without changes', () => {
    fc.assert(
      fc.property(fc.nat(399), (at) => {
        const index = indexOf(400)
        const before = index.view(FLEET_OWNER)
        index.nodeChanged(nodeAt(at, 0), nodeAt(at, 1))
        const after = index.view(FLEET_OWNER)
        expect(after.blocks.filter((block) => !before.blocks.includes(block))).toHaveLength(1)
        expect(after.nodes.length).toBe(400)
      }),
      { numRuns: 40 },
    )
  })
})

describe('keptPerBlock', () => {
  it('recounts only changed blocks and changed questions', () => {
    const counted: NodeBlock[] = []
    const names = keptPerBlock<string, number>({
      count: (block, suffix) => {
        counted.push(block)
        return block.filter(({ name }) => name.endsWith(suffix)).length
      },
      holds: (known, asked) => known === asked,
    })
    const index = indexOf(400)
    const sum = (suffix: string): number => names(index.view(FLEET_OWNER), suffix).reduce((a, b) => a + b, 0)

    expect(sum('7')).toBe(40)
    const blocks = counted.splice(0).length
    expect(sum('7')).toBe(40)
    expect(counted).toHaveLength(0)

    index.nodeChanged(nodeAt(17, 0), undefined)
    expect(sum('7')).toBe(39)
    expect(counted.splice(0)).toHaveLength(1)

    expect(sum('17')).toBe(3)
    expect(counted).toHaveLength(blocks)
  })
})

function viewsAfter(all: readonly (readonly { readonly at: number; readonly gone: boolean }[])[]): readonly FleetView[] {
  const index = new FleetIndex()
  return all.map((changes, version) => {
    for (const { at, gone } of changes) index.nodeChanged(nodeAt(at, version), gone ? undefined : nodeAt(at, version))
    return index.view(FLEET_OWNER)
  })
}

function indexOf(count: number): FleetIndex {
  const index = new FleetIndex()
  for (let at = 0; at < count; at++) index.nodeChanged(undefined, nodeAt(at, 0))
  index.view(FLEET_OWNER)
  return index
}

function nodeAt(at: number, version: number): ReturnType<typeof toFleetNode> {
  return toFleetNode(aNode(`node-${at}`, { labels: { version: String(version) } }), undefined, BY_STAMPS)
}
