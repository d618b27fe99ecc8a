import type { BatchReport, HistoryReport, RevisionReport, RolloutReport } from '@tranche/api-schema'
import { describe, expect, it } from 'vitest'
import { groupUnwell } from '../src/pages/rollout/nodes/group-unwell.ts'
import { type BudgetPeak, observePeak } from '../src/pages/rollout/release-report/budget-peak.ts'
import { cutText } from '../src/pages/rollout/release-report/cut-text.ts'
import { PRINTED_NODES_MAX, printedNodes } from '../src/pages/rollout/release-report/failed-nodes.ts'
import { decisionsOf, printedRelease, stepTimes } from '../src/pages/rollout/release-report/printed-release.ts'
import { node, report } from './builders.ts'

const START_MS = Date.parse('2026-11-26T00:00:00Z')
const at = (second: number): string => new Date(START_MS + second * 1000).toISOString()

function revision(number: number, changes: Partial<RevisionReport> = {}): RevisionReport {
  return { revision: `r${number}`, number, createdAt: at(0), role: 'none', held: false, nodes: 0, images: [`agent:v${number}`], ...changes }
}

function history(changes: Partial<HistoryReport> = {}): HistoryReport {
  return { revisions: [], heldRevisions: [], actions: [], observedChanges: [], ...changes }
}

describe('the facts of the printed release', () => {
  const running = { revision: 'r2', number: 2, images: ['agent:v2'], startedAt: at(0), result: 'Waiting' as const }
  const revisions = [revision(2, { role: 'canary', changeCause: 'JIRA-1' }), revision(1, { role: 'stable' })]

  it('are those of the release that runs, with its duration up to now', () => {
    const facts = printedRelease(history({ revisions, releases: [running] }), START_MS + 65_000)
    expect(facts).toMatchObject({
      name: 'v2 (revision 2)',
      look: { word: 'Waiting' },
      endedAt: undefined,
      durationMs: 65_000,
      from: { number: 1 },
      to: { number: 2, changeCause: 'JIRA-1' },
    })
  })

  it('are those of the last release once it has ended', () => {
    const ended = { ...running, endedAt: at(30), result: 'Failed' as const, failure: 'node n1 crashes' }
    const facts = printedRelease(history({ revisions, releases: [ended, { ...running, startedAt: at(-500) }] }), START_MS + 65_000)
    expect(facts).toMatchObject({ endedAt: at(30), durationMs: 30_000, failure: 'node n1 crashes', look: { word: 'Failed' } })
  })

  it('leave open what it replaced, if the compared revisions are others', () => {
    const facts = printedRelease(history({ revisions: [revision(3), revision(2)], releases: [running] }), START_MS)
    expect(facts).toMatchObject({ from: undefined, to: { number: 2 } })
  })

  it('are none without a release', () => {
    expect(printedRelease(history(), START_MS)).toBeUndefined()
    expect(printedRelease(history({ releases: [] }), START_MS)).toBeUndefined()
  })
})

describe('who did what in the printed release', () => {
  const action = (id: string, second: number): HistoryReport['actions'][number] => ({
    id,
    type: 'approve',
    by: 'alice',
    at: at(second),
    via: 'rest',
  })

  it('is oldest first, without other releases, and with the change that began it', () => {
    const entries = decisionsOf(
      history({
        actions: [action('after', 61), action('second', 60), action('first', 20), action('before', -60)],
        observedChanges: [{ id: 'template', type: 'template', at: at(-1) }],
        releases: [{ revision: 'r2', images: [], startedAt: at(0), result: 'Completed' }],
        heldRevisions: [{ digest: 'd', at: at(30) }],
      }),
      { startedAt: at(0), endedAt: at(60) },
    )
    expect(entries.map(({ id }) => id)).toEqual(['template', 'first', 'second'])
  })

  it('reaches up to now while the release runs', () => {
    expect(decisionsOf(history({ actions: [action('late', 9_999)] }), { startedAt: at(0), endedAt: undefined })).toHaveLength(1)
  })
})

describe('the steps of the printed release', () => {
  it('have the times of their batches', () => {
    const batches: BatchReport[] = [{ index: 1, nodes: 1, updated: 1, available: 1, state: 'done', startedAt: at(0), readyAt: at(9) }]
    expect(stepTimes(report(), batches, { revision: 'canary' })).toMatchObject([
      { index: 1, size: '10%', pause: 'approval', state: 'current', startedAt: at(0), readyAt: at(9) },
      { index: 2, pause: 'pause of 10m 00s', startedAt: undefined, readyAt: undefined },
      { index: 3, pause: 'no pause' },
    ])
  })

  it('have no times of another release: after a rollback the batches are those of the restored version', () => {
    const batches: BatchReport[] = [{ index: 1, nodes: 1, updated: 1, available: 1, state: 'done', startedAt: at(0), readyAt: at(9) }]
    const [first] = stepTimes(report(), batches, { revision: 'rolled-back' })
    expect(first).toMatchObject({ size: '10%', state: undefined, startedAt: undefined, readyAt: undefined })
  })
})

describe('the nodes on a printed report', () => {
  const failedNodes = [{ node: 'n1', reason: 'CrashLoopBackOff', container: 'agent', exitCode: 7, restarts: 3, message: 'no config' }]
  const failure = { reason: 'CrashLoopBackOff', message: 'crashes', nodes: ['n1', 'n2'], failedNodes }
  const details = new Map(failedNodes.map((one) => [one.node, one]))

  it('have their reason, and what is known of the container', () => {
    const groups = groupUnwell(failure, [
      node('n1', { state: 'failing' }),
      node('n2', { state: 'failing' }),
      node('n3', { state: 'notReady' }),
    ])
    expect(printedNodes(groups, details)).toEqual({
      nodes: [
        { node: 'n1', reason: 'CrashLoopBackOff', details: 'container agent, exit code 7, 3 restarts, no config' },
        { node: 'n2', reason: 'CrashLoopBackOff', details: '' },
        { node: 'n3', reason: 'Node is NotReady', details: '' },
      ],
      more: 0,
    })
  })

  it('fit on a page, and the others are counted', () => {
    const nodes = Array.from({ length: PRINTED_NODES_MAX + 7 }, (_, index) => node(`n${index}`, { state: 'down' }))
    const printed = printedNodes(groupUnwell(undefined, nodes), new Map())
    expect([printed.nodes.length, printed.more]).toEqual([PRINTED_NODES_MAX, 7])
  })
})

describe('the peak of unavailable nodes', () => {
  const seen = (ours: number, changes: Partial<RolloutReport> = {}): RolloutReport =>
    report({ releaseStartedAt: at(0), budget: { limit: 4, ours, others: 1, unreachable: 2, dead: 1, exempt: 1 }, ...changes })
  const after = (...reports: readonly RolloutReport[]): BudgetPeak | undefined =>
    reports.reduce<BudgetPeak | undefined>((peak, one, index) => observePeak(peak, one, START_MS + index), undefined)

  it('is the highest number that the page has seen, without exempt nodes', () => {
    expect(after(seen(0), seen(3), seen(1))).toMatchObject({ nodes: 5, sinceMs: START_MS })
  })

  it('is the same object while it does not rise', () => {
    const peak = after(seen(3))
    expect(observePeak(peak, seen(2), START_MS)).toBe(peak)
  })

  it('begins again with another release, or a restart of the same version', () => {
    expect(after(seen(3), seen(0, { canaryRevision: 'other' }))).toMatchObject({ nodes: 2, sinceMs: START_MS + 1 })
    expect(after(seen(3), seen(0, { releaseStartedAt: at(9) }))).toMatchObject({ nodes: 2 })
  })

  it('stays on paper after the release has ended', () => {
    const ended = report({ budget: { limit: 4, ours: 0, others: 0, unreachable: 0, dead: 0, exempt: 0 } })
    expect(after(seen(3), ended)).toMatchObject({ nodes: 5 })
  })

  it('is unknown without a release, and without a budget', () => {
    expect(after(report())).toBeUndefined()
    expect(after(report({ releaseStartedAt: at(0) }))).toBeUndefined()
  })
})

describe('a text on paper', () => {
  it.each([
    ['short', 5, 'short'],
    ['longer', 5, 'long…'],
    ['🚀🚀🚀', 2, '🚀…'],
  ])('%s within %d characters is %s', (text, most, cut) => {
    expect(cutText(text, most)).toBe(cut)
  })
})
