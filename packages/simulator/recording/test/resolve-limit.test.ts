import { expect, it } from 'vitest'
import { resolveLimit } from '../src/world/resolve-limit.ts'

it.each<[string, object | undefined, number, number]>([
  ['one without a number', undefined, 10, 1],
  ['a number as it is', { maxUnavailable: 3 }, 10, 3],
  ['a percentage rounded up', { maxUnavailable: '11%' }, 10, 2],
  ['one where a percentage comes to none', { maxUnavailable: '5%' }, 0, 1],
  ['none beside a surge', { maxUnavailable: 0, maxSurge: 1 }, 10, 0],
])('a DaemonSet lets be down %s', (_title, rollingUpdate, wanted, limit) => {
  expect(resolveLimit({ type: 'RollingUpdate', ...(rollingUpdate && { rollingUpdate }) }, wanted)).toBe(limit)
})
