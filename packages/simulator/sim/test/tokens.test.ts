import { VirtualClock } from '@tranche/clock'
import { createSimulator } from '@tranche/sim'
import { expect, it } from 'vitest'

it('gives each actor a separate token, which does not reveal the token of another', () => {
  const adminToken = 'made-by-chance'
  const simulator = createSimulator({ clock: new VirtualClock(), nodes: 0, adminToken })
  expect(simulator.tokenFor('admin')).toBe(adminToken)
  expect(simulator.tokenFor('dev')).toBe(simulator.tokenFor('dev'))
  expect(simulator.tokenFor('dev')).not.toBe(simulator.tokenFor('tranche-controller'))
  expect(simulator.tokenFor('dev')).not.toContain(adminToken)
})
