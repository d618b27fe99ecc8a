import type { AnalysisRun, Failure } from '@tranche/api-schema'
import { analysisDigest } from '@tranche/analysis'
import { describe, expect, it } from 'vitest'
import { at, type CaseSays, failedIn, judge, type NodeSays, waiting } from './verdict-notation.ts'

const bad = { a: waiting('CrashLoopBackOff'), b: {} }
const well = { a: {}, b: {} }

describe('a release whose new version is bad', () => {
  it('is stopped, with start, release and retry', () => {
    const { failure, stops } = judge({ nodes: bad, tranche: { retry: 'x' } })
    expect(stops).toEqual({ reason: 'ReleaseFailed', message: '1 of 2 nodes failed (tolerated: 0): a: CrashLoopBackOff (container agent)' })
    expect(failure).toMatchObject({
      reason: 'ReleaseFailed',
      at: at(10),
      action: 'Pause',
      stops: true,
      release: 'r1',
      retry: 'x',
      nodes: ['a'],
      count: 1,
    })
  })

  it('stays stopped when its pods heal', () => {
    expect(judge({ nodes: well, status: { failure: found() }, at: 9_000 }).stops?.reason).toBe('ReleaseFailed')
  })

  it('continues with the policy Continue, and reports the failures', () => {
    const judgement = judge({ nodes: bad, rules: { action: 'Continue' } })
    expect(judgement.stops).toBeNull()
    expect(judgement.failure).toMatchObject({ stops: false, count: 1, action: 'Continue' })
    expect(judgement.excused).toEqual(['a'])
  })

  it('uses the present action of the policy', () => {
    expect(judge({ nodes: well, status: { failure: found() }, rules: { action: 'Rollback' } }).failure).toMatchObject({
      stops: true,
      action: 'Rollback',
    })
  })

  it('continues after another retry, which accepts the failures until then', () => {
    const { stops, failure, excused } = judge({ nodes: bad, status: { failure: found() }, tranche: { retry: 'again' } })
    expect(stops).toBeNull()
    expect(failure).toMatchObject({ reason: 'Accepted', count: 0, stops: false, accepted: ['a'] })
    expect(excused).toEqual(['a'])
  })

  it('is stopped again by a node that fails after the retry', () => {
    const status = { failure: { ...found(), stops: false, retry: 'again', accepted: ['a'] } }
    const nodes = { ...bad, c: waiting('CrashLoopBackOff') }
    expect(judge({ nodes, status, tranche: { retry: 'again' } }).failure).toMatchObject({ stops: true, nodes: ['c'], accepted: ['a'] })
  })

  it('accepts at most a thousand nodes, and names the fix beyond them', () => {
    const names = Array.from({ length: 1_002 }, (_, index) => `n${1000 + index}`)
    const nodes = Object.fromEntries(names.map((name) => [name, waiting('CrashLoopBackOff')]))
    const { failure, excused } = judge({ nodes, status: { failure: found({ nodes: ['n1500'] }) }, tranche: { retry: 'again' } })
    expect(failure).toMatchObject({ stops: true, retry: 'again', count: 2, nodes: ['n2000', 'n2001'] })
    expect(failure?.message).toContain(
      '1000 other nodes were accepted, and a retry cannot accept more: raise failure.maxFailedNodes, or abort',
    )
    expect([failure?.accepted?.length, failure?.accepted?.[0], excused.length]).toEqual([1_000, 'n1500', 1_000])
  })

  it('is independent of the release before it', () => {
    expect(judge({ nodes: well, status: { failure: found({ release: 'r0' }) } }).failure).toBeNull()
  })

  it('names more nodes as more fail', () => {
    const nodes = { ...bad, b: waiting('CrashLoopBackOff') }
    expect(judge({ nodes, status: { failure: found() }, at: 60 }).failure).toMatchObject({ nodes: ['a', 'b'], count: 2, at: at(10) })
  })

  it('is not stopped during a rollback: failures are only reported', () => {
    const { stops, failure } = judge({ nodes: bad, tranche: { stableRevision: 'new' } })
    expect(stops).toBeNull()
    expect(failure).toMatchObject({ stops: false, count: 1 })
  })
})

describe('a node whose loss after its update the timestamps deny, though it was seen then', () => {
  const silent = { isNodeReady: false, answers: false, ready: false, notReadySince: at(0), createdAt: at(60), seenNotReadyAt: 20 }
  const a = (says: Partial<NodeSays> = {}, rest: Omit<CaseSays, 'nodes'> = {}): CaseSays => ({
    nodes: { a: { ...silent, ...says }, b: {} },
    at: 70,
    ...rest,
  })
  const crashing: CaseSays = { ...a({}, { rules: { maxFailedNodes: 1 } }), nodes: { a: silent, b: waiting('CrashLoopBackOff') } }

  it.each<[string, CaseSays, boolean]>([
    ['puts the release in doubt: a clock may have been set back', a(), true],
    ['does so, too, while its pod seems available', a({ ready: true }), true],
    ['does not where its kubelet answers, because both times are by its clock', a({ answers: true }), false],
    ['does not where the release is bad anyway', { ...a(), nodes: { a: silent, b: waiting('CrashLoopBackOff') } }, false],
    ['does not once it is Ready', a({ isNodeReady: true }), false],
    ['does not where it was seen before its pod was acknowledged', a({ seenNotReadyAt: -1 }), false],
    ['does not where this process did not see it become NotReady', a({ seenNotReadyAt: undefined }), false],
    ['does not where both are hardly apart', a({ createdAt: at(1), seenNotReadyAt: 8.9 }, { at: 60 }), false],
    ['does where they are ten seconds apart', a({ createdAt: at(1), seenNotReadyAt: 9 }, { at: 60 }), true],
    ['does not while its kubelet has not seen the pod', a({ acknowledged: false }), false],
    ['does not where its failure is tolerated', a({}, { rules: { maxFailedNodes: 1 } }), false],
    ['does where its failure is one too many of its batch', a({}, { rules: { maxFailedNodes: 1, maxFailedNodesPerBatch: 0 } }), true],
    ['does together with a failure that is tolerated', crashing, true],
    ['does not where NotReady nodes do not fail', a({}, { rules: { ignoreReasons: ['NodeNotReady'] } }), false],
    ['does not under the action Continue', a({}, { rules: { action: 'Continue' } }), false],
    ['does not during a rollback', a({}, { tranche: { stableRevision: 'new' } }), false],
    ['does not where its failure was accepted', a({}, { status: { failure: { ...found(), stops: false, accepted: ['a'] } } }), false],
  ])('%s', (_name, says, isInDoubt) => {
    const judgement = judge(says)
    expect(judgement.isInDoubt).toBe(isInDoubt)
    expect(failedIn(judgement)).not.toContain('a: NodeNotReady')
  })

  it('fails after a minute', () => {
    expect(failedIn(judge({ ...a(), at: 79 }))).toEqual([])
    const failed = judge({ ...a(), at: 80 })
    expect(failedIn(failed)).toEqual(['a: NodeNotReady'])
    expect([failed.stops?.reason, failed.verdict.inDoubt]).toEqual(['ReleaseFailed', []])
  })

  it('is named, and time alone ends the doubt', () => {
    const { verdict, nextChangeMs } = judge(a())
    expect([verdict.inDoubt, nextChangeMs]).toEqual([['a'], 80_000])
  })
})

describe('autoResume', () => {
  const rules = { autoResume: '60s' }

  it('counts from the time at which the failures are within the limit', () => {
    const { failure, nextChangeMs } = judge({ nodes: well, status: { failure: found() }, rules, at: 100 })
    expect(failure).toMatchObject({ stops: true, recoveredSince: at(100) })
    expect(nextChangeMs).toBe(160_000)
  })

  it.each([
    ['not yet', 159, { nodes: well }, true],
    ['after the time', 160, { nodes: well }, false],
    ['never while nodes are bad', 9_000, { nodes: bad }, true],
    ['never without it', 9_000, { nodes: well, rules: {} }, true],
  ] as const)('%s', (_name, seconds, says: CaseSays, isStopped) => {
    const status = { failure: found({ recoveredSince: at(100) }) }
    expect(judge({ rules, status, at: seconds, ...says }).stops !== null).toBe(isStopped)
  })

  it('keeps the time that the previous version wrote', () => {
    const status = { failure: found({ calmSince: at(100) }) }
    expect(judge({ nodes: well, status, rules, at: 159 }).failure).toMatchObject({ recoveredSince: at(100) })
    expect(judge({ nodes: well, status, rules, at: 159 }).failure).not.toHaveProperty('calmSince')
    expect(judge({ nodes: well, status, rules, at: 160 }).stops).toBeNull()
  })

  it('restarts when nodes fail again', () => {
    expect(judge({ nodes: bad, status: { failure: found({ recoveredSince: at(100) }) }, rules, at: 120 }).failure).not.toHaveProperty(
      'recoveredSince',
    )
  })
})

describe('the verdict of analyses', () => {
  const analysis = [{ name: 'errors', interval: '30s', http: { url: 'http://x/' }, successCondition: 'true' }] as const
  const runOf = (phase: AnalysisRun['phase']): AnalysisRun => ({
    ...{ name: 'errors', release: 'r1', phase, startedAt: at(0), message: 'too many' },
    spec: analysisDigest(analysis[0]),
  })
  const says = (phase: AnalysisRun['phase'], rest: Partial<CaseSays> = {}): CaseSays => ({
    nodes: well,
    ...rest,
    tranche: { analysis, ...rest.tranche },
    status: { analysis: [runOf(phase)], ...rest.status },
  })

  it.each([
    ['a failed one is a bad verdict', says('Failed'), 'AnalysisFailed'],
    ['a failed one stops nothing with the policy Continue', says('Failed', { rules: { action: 'Continue' } }), undefined],
    ['an inconclusive one stops with any action', says('Inconclusive', { rules: { action: 'Continue' } }), 'AnalysisInconclusive'],
    ['one that could not be measured is inconclusive', says('Error'), 'AnalysisInconclusive'],
    ['a running one does not count', says('Running'), undefined],
    ['failed nodes take precedence', says('Inconclusive', { nodes: bad }), 'ReleaseFailed'],
    ['nothing stops a rollback', says('Failed', { tranche: { stableRevision: 'new' } }), undefined],
  ] as const)('%s', (_name, given, want) => {
    expect(judge(given).stops?.reason).toBe(want)
  })

  it('only pauses when it is inconclusive', () => {
    expect(judge(says('Inconclusive', { rules: { action: 'Rollback' } })).failure).toMatchObject({ action: 'Pause', stops: true })
  })

  it('ends when its analysis no longer decides', () => {
    const failure = found({ reason: 'AnalysisInconclusive', nodes: [] })
    expect(judge({ nodes: well, status: { failure } }).stops).toBeNull()
  })
})

describe('a release that has ended with nodes left', () => {
  const left = (nodes: readonly string[] | undefined, says: Partial<CaseSays> = {}): CaseSays => ({
    nodes: bad,
    stopped: { release: 'r1/left' },
    ...says,
    tranche: { left: nodes === undefined ? {} : { nodes: [...nodes] }, ...says.tranche },
  })
  it.each<[string, CaseSays, string | undefined]>([
    ['is stopped by a failure on a node that it left', left(['a']), 'ReleaseFailed'],
    ['is not stopped by a failure on a node that it had updated', left(['b']), undefined],
    ['is stopped by a failure on any node if it left too many to list', left(undefined), 'ReleaseFailed'],
    ['is not stopped by a failure from before its end', left(['a'], { nodes: well, status: { failure: found() } }), undefined],
    [
      'stays stopped by a failure since its end',
      left(['a'], { nodes: { ...well, c: { pod: 'old' } }, status: { failure: found({ release: 'r1/left' }) } }),
      'ReleaseFailed',
    ],
    [
      'is stopped if its revision is the stable one, of which nodes are left',
      left(['a'], { tranche: { stableRevision: 'new' } }),
      'ReleaseFailed',
    ],
    [
      'continues once its only failure has healed and no node is left',
      left(['a'], { nodes: well, status: { failure: found({ release: 'r1/left' }) } }),
      undefined,
    ],
  ])('%s', (_name, given, want) => {
    expect(judge(given).stops?.reason).toBe(want)
  })

  it.each<[string, readonly string[] | undefined]>([
    ['a node that it left', ['a']],
    ['any node if it left too many to list', undefined],
  ])('keeps what a retry accepted before its end: %s', (_which, nodes) => {
    const { failure, stops } = judge(left(nodes, { status: { failure: found({ stops: false, accepted: ['a'] }) } }))
    expect([stops, failure?.accepted, failure?.release]).toEqual([null, ['a'], 'r1/left'])
  })

  it('excuses nodes that the release had updated, so that the DaemonSet is given back beside them', () => {
    expect(judge(left(['b'])).excused).toEqual(['a'])
  })

  it('is not failed by a node that was NotReady when it was due', () => {
    const nodes = { a: { pod: 'old' as const, isNodeReady: false }, b: {} }
    expect(judge({ ...left(['a'], { nodes }), notReadyDue: ['a'] }).stops).toBeNull()
    expect(judge({ nodes, notReadyDue: ['a'] }).stops?.reason).toBe('ReleaseFailed')
  })
})

function found(fields: Partial<Failure> = {}): Failure {
  return {
    reason: 'ReleaseFailed',
    message: 'seen',
    nodes: ['a'],
    count: 1,
    limit: 0,
    at: at(10),
    action: 'Pause',
    stops: true,
    release: 'r1',
    ...fields,
  }
}
