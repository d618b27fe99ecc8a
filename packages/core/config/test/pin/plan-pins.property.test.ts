import { pinKey, pinnedObjects, pinsOf } from '@tranche/config'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PinWorld } from './pin-world.ts'
import { type Frozen, keys, OPERATIONS, playOperation, quiesce } from './play-pins.ts'

const operations = fc.array(fc.tuple(fc.nat(OPERATIONS - 1), fc.nat(9), fc.nat(1_000)), { minLength: 40, maxLength: 150, size: 'max' })

describe('pinned config, with two processes that see an old cluster and are frozen anywhere', () => {
  it('never loses a copy that a template, a revision or a pod names', () => {
    let deleted = 0
    fc.assert(
      fc.property(operations, (all) => {
        const world = new PinWorld()
        const frozen: Frozen = [null, null]
        for (const operation of all) {
          playOperation(world, frozen, operation)
          expect(world.missing()).toEqual([])
        }
        deleted += world.deleted.length
      }),
      { numRuns: 300 },
    )
    expect(deleted).toBeGreaterThan(100)
  })

  it('comes to rest with every object pinned to a copy that exists, and keeps no other copy than those that are named', () => {
    fc.assert(
      fc.property(operations, (all) => {
        const world = new PinWorld()
        const frozen: Frozen = [null, null]
        for (const operation of all) playOperation(world, frozen, operation)
        for (const key of keys) if (!world.state.sources.has(key)) world.setSource(key, 1)
        quiesce(world, frozen)
        expect(world.missing()).toEqual([])
        const { daemonSet, copies, revisions, pods } = world.state
        const pins = pinsOf(daemonSet.template)
        for (const object of pinnedObjects(daemonSet.template)) {
          const copy = copies.get(`${object.kind}/${pins.get(pinKey(object))}`)
          expect(copy).toMatchObject({ source: object.name, isUnused: false })
        }
        const named = [daemonSet.template, ...revisions, ...pods].flatMap((one) =>
          [...pinsOf(one)].map(([key, copy]) => copyKey(key, copy)),
        )
        const offered = (daemonSet.offered ?? '').split(',').map((entry) => copyKey(entry, entry.split('=')[1]))
        for (const key of copies.keys()) expect([...named, ...offered]).toContain(key)
      }),
      { numRuns: 200 },
    )
  })
})

function copyKey(key: string, copy: string | undefined): string {
  return `${key.split('/')[0]}/${copy}`
}
