import { describe, expect, it } from 'vitest'
import type { Node } from '@tranche/kube-types'
import { parseInjectedFaults } from '../src/injected-faults.ts'

const nodes: readonly Node[] = Array.from({ length: 40 }, (_, at) => ({
  metadata: {
    name: `node-${at + 1}`,
    uid: `${at}`,
    resourceVersion: '1',
    labels: { 'topology.kubernetes.io/zone': at < 10 ? 'zone-a' : 'zone-b' },
  },
}))

const read = (text: string): { readonly kind: string; readonly count: number } => {
  const [injectedFault] = parseInjectedFaults([text], nodes)
  return { kind: injectedFault!.kind, count: injectedFault!.nodes.size }
}

describe('faults as users write them', () => {
  it.each([
    ['node-7 fails', 'Fails', 1],
    ['node-7 is NotReady', 'NotReady', 1],
    ['  node-7 crashes ', 'Crashes', 1],
    ['zone-a fails', 'Fails', 10],
    ['zone-a are notready', 'NotReady', 10],
    ['5% crash', 'Crashes', 2],
    ['1% crash', 'Crashes', 1],
    ['3 crash', 'Crashes', 3],
    ['100% fail', 'Fails', 40],
  ])('%s', (text, kind, count) => {
    expect(read(text)).toEqual({ kind, count })
  })

  it('draw the same nodes each time, and not neighbours', () => {
    const [first, again] = parseInjectedFaults(['10% crash', '10% crash'], nodes)
    expect(again).toEqual(first)
    expect([...first!.nodes]).not.toEqual(['node-1', 'node-2', 'node-3', 'node-4'])
  })

  it.each([
    ['node-7 explodes', 'if[0]: "node-7 explodes" is not a fault', 'NODE fails'],
    ['', 'if[0]: "" is not a fault', 'NODE fails'],
    ['node-77 fails', 'if[0]: "node-77" is not a node, a zone, a number from 1 or a percentage', 'zone-a, zone-b'],
    ['0 crash', 'if[0]: "0" is not a node', 'zone-a'],
    ['41 crash', 'if[0]: 41 is more than the 40 nodes of the cluster', 'smaller'],
    ['300% crash', 'if[0]: 300% is more than', 'smaller'],
  ])('refuses %j', (text, message, hint) => {
    const refused = (): unknown => parseInjectedFaults([text], nodes)
    expect(refused).toThrow(message)
    expect(refused).toThrow(expect.objectContaining({ code: 'FORECAST_INVALID', hint: expect.stringContaining(hint) as string }) as Error)
  })
})
