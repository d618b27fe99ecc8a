import { type NodeSelector, type ReleaseNodeRules, specLimits } from '@tranche/api-schema'
import { batchScope, isInScope, isInSteps, scopeTextOf } from '@tranche/fence'
import { describe, expect, it } from 'vitest'

const node = { labels: { zone: 'a' } }
const here: NodeSelector = { matchLabels: { zone: 'a' } }

function repeated<T>(count: number, value: T): readonly T[] {
  return Array.from({ length: count }, () => value)
}

/** A selector of the node, with `count` requirements. */
function requirements(count: number): NodeSelector {
  return { matchExpressions: repeated(count, { key: 'zone', operator: 'Exists' as const }) }
}

describe('rules that are larger than a BatchRelease may have', () => {
  const tooLarge: readonly ReleaseNodeRules[] = [
    { steps: repeated(51, here) },
    { order: repeated(21, { selector: here }) },
    { spread: repeated(11, { topologyKey: 'zone', maxUnavailable: 1 }) },
    { exclude: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: repeated(1_001, 'b') }] }] },
    { steps: repeated(21, requirements(50)) },
  ]

  it.each(tooLarge)('take no node, in any batch and in the last: %#', (rules) => {
    for (const batch of [0, 49, null]) expect(isInScope(batchScope(rules, batch), node)).toBe(false)
    expect(isInSteps(batchScope(rules, 0), node)).toBe(false)
  })

  it('are compared with no node', () => {
    let reads = 0
    const labels = new Proxy({}, { get: () => (reads++, undefined), has: () => (reads++, false) })
    for (const rules of tooLarge) isInScope(batchScope(rules, 0), { labels })
    expect(reads).toBe(0)
  })

  it('let no record be valid that was written under other rules, or under none', () => {
    const [text, ...others] = tooLarge.map((rules) => scopeTextOf(batchScope(rules, null)))
    expect(new Set(others)).toEqual(new Set([text]))
    expect(text).not.toBe(scopeTextOf(batchScope(undefined, null)))
    expect(text).not.toBe(scopeTextOf(batchScope({ steps: [here] }, null)))
  })
})

it('rules at the limit take their nodes', () => {
  const steps = [...repeated(specLimits.BatchRelease.requirements / 50 - 1, requirements(50)), requirements(49), here]
  expect(isInScope(batchScope({ steps }, 0), node)).toBe(true)
})
