import { expect, it } from 'vitest'
import { freePort, portsFor } from '../../scripts/free-port.ts'

it.each([
  ['Linux by default', 32_768, { lowest: 20_768, end: 32_768 }],
  ['a machine that gives clients more ports than Linux does by default', 16_000, { lowest: 4_000, end: 16_000 }],
  ['a machine that gives clients fewer', 49_152, { lowest: 20_768, end: 32_768 }],
  ['a machine that gives clients nearly every port', 1_025, { lowest: 20_768, end: 32_768 }],
])('chooses ports that clients are not given: %s', (_, clients, ports) => {
  expect(portsFor(clients)).toEqual(ports)
})

it('never returns a port twice, although no server has started yet', async () => {
  const lowest = await freePort()
  const ports: number[] = []
  for (let count = 0; count < 20; count++) ports.push(await freePort({ lowest, end: lowest + 60 }))
  expect(new Set([lowest, ...ports]).size).toBe(21)
})
