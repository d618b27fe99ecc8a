import { podOnNode, reportNodes } from '@tranche/reports'
import { describe, expect, it } from 'vitest'
import { aReading } from './build-facts.ts'

describe('the pod on a node', () => {
  it('is the one that the report of the node names', () => {
    const facts = aReading({ nodes: 'a:old b:new c:new!' })
    const reports = reportNodes(facts)
    expect(reports.map(({ pod }) => pod)).not.toContain(undefined)
    expect(reports.map(({ name }) => podOnNode(facts, name)?.name)).toEqual(reports.map(({ pod }) => pod))
  })

  it('is the new one while the old one terminates', () => {
    const [old, fresh] = aReading({ nodes: 'a:old b:new' }).fleet!.nodes.map(({ pods }) => pods[0]!)
    const facts = aReading({
      nodes: 'a:old',
      change: {
        a: {
          pods: [
            { ...old!, terminating: true },
            { ...fresh!, name: 'fresh', uid: 'fresh' },
          ],
        },
      },
    })
    expect(podOnNode(facts, 'a')).toMatchObject({ uid: 'fresh' })
  })

  it('is null if the node has none, and undefined if the DaemonSet does not run there', () => {
    const facts = aReading({ nodes: 'a:old', change: { a: { pods: [] } } })
    expect([podOnNode(facts, 'a'), podOnNode(facts, 'z')]).toEqual([null, undefined])
  })
})
