import { expect, it } from 'vitest'
import { resolvePolicyLimit } from '../src/world/resolve-limit.ts'

it.each([
  ['2', 2, 0, 2],
  ['35%', '35%', 11, 4],
  ['35% while no node is wanted', '35%', 0, 1],
])('a policy with maxUnavailable %s', (_text, maxUnavailable, wanted, limit) => {
  expect(resolvePolicyLimit(maxUnavailable, wanted)).toBe(limit)
})
