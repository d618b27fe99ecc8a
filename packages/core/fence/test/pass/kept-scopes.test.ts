import { expect, it } from 'vitest'
import { toNodeScope } from '../../src/nodes/node-scope.ts'

it('rules of nodes are parsed once, but those of several megabytes are not kept', () => {
  const rules = { exclude: [{ matchLabels: { kept: 'small' } }] }
  const large = (at: number) => ({ exclude: [{ matchLabels: { [`large-${at}`]: 'x'.repeat(1_000_000) } }] })
  const small = toNodeScope(rules)
  expect(toNodeScope(structuredClone(rules))).toBe(small)
  for (let at = 0; at < 3; at++) toNodeScope(large(at))
  expect(toNodeScope(rules)).not.toBe(small)
  expect(toNodeScope(rules)).toBe(toNodeScope(rules))
})
