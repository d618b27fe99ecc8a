import { describe, expect, it } from 'vitest'
import { walkFence, type WalkReport } from './fence-world.ts'

const WALKS = 1_500

describe('the fence, in random runs with slow, frozen and duplicate executors', () => {
  it('keeps budget, batch, aim and stop in every walk, and the release ends (G1 to G4, G6 to G9, F2, F6, F7, F8)', () => {
    const reports = Array.from({ length: WALKS }, (_, seed) => walkFence(seed))
    expect(reports.reduce((sum, { deletions }) => sum + deletions, 0)).toBeGreaterThan(WALKS)
    expect(reports.reduce((sum, { stops }) => sum + stops, 0)).toBeGreaterThan(WALKS)
    expect(reports.reduce((sum, { spread }) => sum + spread, 0)).toBeGreaterThan(WALKS)
    expect(reports.reduce((sum, { spreadExhausted }) => sum + spreadExhausted, 0)).toBeGreaterThan(WALKS)
    // Views that were stale while pods broke and recovered: only the live read showed it.
    expect(reports.reduce((sum, { confirmed }) => sum + confirmed, 0)).toBeGreaterThan(WALKS)
    expect(reports.reduce((sum, { contradicted }) => sum + contradicted, 0)).toBeGreaterThan(WALKS / 2)
    // Nodes that had left, and nodes that had joined while a view lacked them.
    expect(reports.reduce((sum, { left }) => sum + left, 0)).toBeGreaterThan(WALKS)
    expect(reports.reduce((sum, { stayed }) => sum + stayed, 0)).toBeGreaterThan(WALKS / 10)
    expect(reports.reduce((sum, { inheritances }) => sum + inheritances, 0)).toBeGreaterThan(WALKS / 5)

    const share = (met: (report: WalkReport) => boolean): number => reports.filter(met).length / WALKS
    expect(share((report) => report.budgetExhausted)).toBeGreaterThan(0.2)
    expect(share((report) => report.terminating)).toBeGreaterThan(0.2)
    expect(share((report) => report.podless)).toBeGreaterThan(0.2)
    expect(share((report) => report.misScheduled)).toBeGreaterThan(0.2)
  })
})
