import { failedDueNodes } from '@tranche/fence'
import { describe, expect, it } from 'vitest'
import { NOW_MS, passView } from './pass-notation.ts'

describe('NotReady nodes that are due count as failed, if the policy says Fail', () => {
  it.each([
    ['the one that the batch would take next', 'a¿:old b:old', 1, ['a']],
    ['none that a later batch would take', 'a:old b¿:old', 1, []],
    ['none where the batch has its nodes', 'a:new b¿:old', 1, []],
    ['the next one, because a dead node whose pod another client deleted takes no place', 'a?:oldx b¿:old c:old', 1, ['b']],
  ])('%s', (_sentence, nodes, size, want) => {
    const rules = { notReady: { action: 'Fail' } } as const
    const { record, fleet } = passView({ nodes, rules, record: { size } })
    const metadata = { creationTimestamp: '2026-02-01T00:00:00Z' }
    const release = {
      metadata,
      spec: { releasePlan: {}, tranche: { nodes: rules, stableRevision: 'old' } },
      status: { flight: record },
    } as never
    expect(failedDueNodes({ release, fleet, minReadyMs: 0, monotonicMs: NOW_MS })).toEqual(want)
  })

  it('none with another action', () => {
    const { record, fleet } = passView({ nodes: 'a¿:old b:old', record: { size: 1 } })
    const metadata = { creationTimestamp: '2026-02-01T00:00:00Z' }
    const release = { metadata, spec: { releasePlan: {}, tranche: { stableRevision: 'old' } }, status: { flight: record } } as never
    expect(failedDueNodes({ release, fleet, minReadyMs: 0, monotonicMs: NOW_MS })).toEqual([])
  })
})
