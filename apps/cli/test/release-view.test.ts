import { stripVTControlCharacters } from 'node:util'
import type { ReleasePicture } from '@tranche/release-client'
import { describe, expect, it } from 'vitest'
import { createDrawing, type DrawingOptions } from '../src/view/reports/drawing.ts'
import { listView } from '../src/view/reports/list-view.ts'
import { releaseView } from '../src/view/reports/release-view.ts'
import { nodeCountsText } from '../src/view/reports/report-words.ts'
import {
  done,
  emptyStep,
  failing,
  fiveThousand,
  frozen,
  goingBack,
  holding,
  inStepTwo,
  jumpedBack,
  leftBehind,
  noNodes,
  NOW_MS,
  ofConfig,
  ofMissingRight,
  ofUnusablePolicy,
  overBudget,
  paused,
  tooManyDead,
  unseen,
  waitsForApproval,
} from './release-pictures.ts'

const plain: DrawingOptions = { width: 80, colors: false, unicode: true, nowMs: NOW_MS }

const pictures: Record<string, ReleasePicture> = {
  'a release that is over': done,
  'a release in its second batch': inStepTwo,
  'a step that waits for approval': waitsForApproval,
  'a paused release': paused,
  'a release that went back to its first step': jumpedBack,
  'a frozen release': frozen,
  'a release that goes back': goingBack,
  'a release that failed': failing,
  'a release of changed config': ofConfig,
  'a release that holds some nodes': holding,
  'a release whose policy asks for too much': ofUnusablePolicy,
  'a release without a right that its policy asks for': ofMissingRight,
  'a release above its budget': overBudget,
  'a DaemonSet without nodes': noNodes,
  'a Rollout without a status': unseen,
  'five thousand nodes of which hundreds fail': fiveThousand,
  'a release that left nodes with long names': leftBehind,
  'a release that too many dead nodes hold up': tooManyDead,
  'a step that matches no node': emptyStep,
}

describe('tranche get', () => {
  it('names both versions of a release that a stall keeps from starting', () => {
    const { report, ...picture } = waitsForApproval
    const lines = (outcome: 'Blocked' | 'Done') =>
      releaseView({ ...picture, report: { ...report, phase: 'Healthy', outcome } }, createDrawing(plain), false)
    expect(lines('Blocked')[0]).toContain('v1 → v2')
    expect(lines('Done')[0]).not.toContain('→')
    const policyState = { valid: false, usable: false, message: 'there is no such policy' }
    const need = { reason: 'PolicyNotFound', message: `${policyState.message}; revision v2 waits until this is fixed`, actions: [] }
    const blocked = { ...report, outcome: 'Blocked' as const, policyState, need }
    expect(text(releaseView({ ...picture, report: blocked }, createDrawing(plain), false)).match(/no such policy/g)).toHaveLength(1)
  })

  it.each(Object.entries(pictures))('draws %s in 80 columns', async (name, picture) => {
    await expect(text(releaseView(picture, createDrawing(plain), false))).toMatchFileSnapshot(file('get', name, 80))
  })

  it.each(Object.entries(pictures))('draws %s in 200 columns', async (name, picture) => {
    await expect(text(releaseView(picture, createDrawing({ ...plain, width: 200 }), false))).toMatchFileSnapshot(file('get', name, 200))
  })

  it('says that pods read an earlier content of config, or copies that follow no change', () => {
    const message = 'pods read an earlier content of ConfigMap agent, because of a rollback'
    const condition = (reason: string) => ({ type: 'ConfigUnversioned', status: 'False', reason, message })
    const lines = (reason: string) =>
      text(releaseView({ ...ofConfig, report: { ...ofConfig.report, conditions: [condition(reason)] } }, createDrawing(plain), false))
    for (const reason of ['RolledBack', 'PinnedBefore'])
      expect(lines(reason)).toMatch(/^config {2}pods read an earlier content of ConfigMap agent/m)
    expect(lines('ChecksumOnly')).not.toContain('an earlier content')
  })

  it('counts a node as skipped until it is back only while it is away', () => {
    const left = (...causes: ('NotReady' | 'Lost' | 'Due' | 'Blocked' | 'Starting' | 'Failed')[]) => {
      const leftNodes = causes.map((cause) => ({ cause, count: 1, nodes: ['n'], message: '', next: '' }))
      return nodeCountsText({ ...leftBehind.report, budget: undefined, maxUnavailable: undefined, leftNodes }).replace(/^.* dead(, )?/, '')
    }
    expect(left('NotReady', 'Lost')).toBe('2 skipped until they are back')
    expect(left('Due', 'Blocked')).toBe('1 back with the old pod, 1 kept on the old pod by a check')
    expect(left('Starting', 'Failed')).toBe('')
  })

  it('names no pause of a batch where the release ends with its Rollout', () => {
    const lines = (phase: string) =>
      text(releaseView({ ...inStepTwo, report: { ...inStepTwo.report, phase } }, createDrawing(plain), false))
    expect(lines('Progressing')).toContain('pause')
    expect(lines('Terminating')).not.toMatch(/pause|then approval/)
    expect(lines('Disabling')).not.toMatch(/pause|then approval/)
  })

  it('does not repeat a policy that the release waits for', () => {
    const { report } = ofUnusablePolicy
    const message = report.policyState!.message!
    const need = { reason: 'PolicyInvalid', message, actions: [] }
    const lines = releaseView({ ...ofUnusablePolicy, report: { ...report, outcome: 'Blocked', need } }, createDrawing(plain), false)
    expect(lines.filter((line) => line.includes('careful'))).toHaveLength(1)
  })

  it('names every unhealthy node and its pod if all are requested', async () => {
    await expect(text(releaseView(failing, createDrawing({ ...plain, width: 200 }), true))).toMatchFileSnapshot(
      file('get', 'all of it', 200),
    )
  })

  it('works without Unicode', async () => {
    const lines = releaseView(failing, createDrawing({ ...plain, unicode: false }), false)
    await expect(text(lines)).toMatchFileSnapshot(file('get', 'a release without Unicode', 80))
    expect(lines.join('')).toMatch(/^[\u0020-\u007e]*$/)
  })

  it.each<
    [
      string,
      {
        unavailable: number
        exempt?: number
        exemptLimit?: number | undefined
        dead?: number
        skipped?: number
        excluded?: number
        outcome?: 'Running' | 'Failed'
      },
      string,
    ]
  >([
    ['nodes that are down within the budget', { unavailable: 2 }, '2 down (maxUnavailable 3)'],
    ['more nodes than may be down', { unavailable: 4 }, '4 down (maxUnavailable 3: no more nodes are taken down)'],
    ['more nodes than may be down, after a failure', { unavailable: 4, outcome: 'Failed' }, '4 down (maxUnavailable 3)'],
    ['one dead node', { unavailable: 1, exempt: 1 }, '0 down (maxUnavailable 3), 1 dead (at most 2 cost no budget)'],
    ['a dead node among others', { unavailable: 4, exempt: 1 }, '3 down (maxUnavailable 3), 1 dead (at most 2 cost no budget)'],
    [
      'dead nodes, and more than may be down beside them',
      { unavailable: 6, exempt: 2 },
      '4 down (maxUnavailable 3: no more nodes are taken down), 2 dead (at most 2 cost no budget)',
    ],
    [
      'more dead nodes than may be exempt',
      { unavailable: 4, dead: 3 },
      '4 down (maxUnavailable 3: no more nodes are taken down), 3 of them dead (more than 2, so all count)',
    ],
    [
      'dead nodes alone where they count',
      { unavailable: 3, dead: 3 },
      '3 down (maxUnavailable 3), all of them dead (more than 2, so all count)',
    ],
    [
      'dead nodes of an older version, which does not say how many may be exempt',
      { unavailable: 4, exempt: 1, exemptLimit: undefined },
      '3 down (maxUnavailable 3), 1 dead (cost no budget)',
    ],
    ['skipped nodes', { unavailable: 0, skipped: 2 }, '0 down (maxUnavailable 3), 2 skipped until they are back'],
    [
      'skipped and excluded nodes',
      { unavailable: 0, skipped: 3, excluded: 2 },
      '0 down (maxUnavailable 3), 1 skipped until it is back, 2 excluded by the policy',
    ],
  ])('counts %s', (_what, given, want) => {
    const { unavailable, exempt = 0, dead = exempt, skipped = 0, excluded = 0, outcome = 'Running' } = given
    const exemptLimit = 'exemptLimit' in given ? given.exemptLimit : 2
    const nodes = { desired: 30, updated: 9, updatedAvailable: 9, unavailable, failed: 0, leaked: 0, skipped }
    const budget = { limit: 3, ours: 0, others: unavailable - dead, unreachable: dead, dead, exempt, exemptLimit }
    const zones = [{ zone: 'a', states: { excluded } }]
    expect(nodeCountsText({ ...inStepTwo.report, outcome, nodes, budget, zones })).toBe(`9 of 30 updated, ${want}`)
  })

  it('counts nodes that are left by cause, dead and failed ones once', () => {
    const group = { nodes: [], message: '', next: '' }
    const leftNodes = [
      { ...group, cause: 'Dead', count: 2 },
      { ...group, cause: 'Maintenance', count: 1 },
      { ...group, cause: 'NotReady', count: 3 },
      { ...group, cause: 'Failed', count: 4 },
      { ...group, cause: 'Lost', count: 1 },
      { ...group, cause: 'Excluded', count: 5 },
    ] as const
    expect(nodeCountsText({ ...inStepTwo.report, leftNodes })).toMatch(
      /, 4 skipped until they are back, 1 in maintenance, 5 excluded by the policy$/,
    )
  })

  it.each([20, 40, 80, 200])('draws no line wider than %d columns, with colours too', (width) => {
    for (const picture of Object.values(pictures)) {
      const lines = releaseView(picture, createDrawing({ ...plain, width, colors: true }), true)
      expect(Math.max(...lines.map((line) => Array.from(stripVTControlCharacters(line)).length))).toBeLessThanOrEqual(width)
    }
  })

  it('shows that a jump passed over a batch', () => {
    const [first, ...others] = inStepTwo.batches
    const batches = [{ ...first!, updated: 0, available: 0 }, ...others]
    const lines = releaseView({ ...inStepTwo, batches }, createDrawing(plain), false)
    expect(lines.find((line) => line.includes('batch 1'))).toMatch(/batch 1 {2}10% {2}passed over$/)
  })

  it('calls no batch of a disabled Rollout frozen once every node has the template', () => {
    const lines = releaseView({ ...frozen, report: { ...frozen.report, outcome: 'Done' } }, createDrawing(plain), false)
    expect(lines.filter((line) => line.includes('batch '))).toEqual([
      expect.stringContaining('batch 1  10%  done  3 available'),
      expect.stringContaining('batch 2  50%  done  9 of 10 available'),
    ])
  })

  it('shows five thousand nodes on one screen', () => {
    expect(releaseView(fiveThousand, createDrawing(plain), false).length).toBeLessThanOrEqual(60)
  })

  it('cuts a long text of the policy, so that the tree stays in view', () => {
    const message = 'a part of the policy that the installation does not allow, and how to allow it; '.repeat(20)
    const report = { ...inStepTwo.report, policyState: { ...inStepTwo.report.policyState, message } as never }
    const lines = releaseView({ ...inStepTwo, report }, createDrawing(plain), false)
    const first = lines.findIndex((line) => line.startsWith('policy'))
    expect(lines[first + 5]).toContain('tranche explain node-agent -n demo shows all of it')
    expect(lines.slice(first + 6).join()).not.toContain('a part of the policy')
  })

  it('prints no control characters from the cluster', () => {
    const report = { ...failing.report, message: 'evil \u001b[2J\u009b31m\r\nmessage', need: undefined }
    expect(releaseView({ ...failing, report }, createDrawing(plain), false).join('')).not.toMatch(/\p{Cc}/u)
  })
})

describe('tranche list', () => {
  const listed = [done, inStepTwo, waitsForApproval, paused, goingBack, failing, noNodes, unseen, fiveThousand]
  const rollouts = listed.map(({ report }, at) => ({
    ...report,
    name: `agent-${at}`,
    namespace: at < 4 ? 'demo' : 'kube-system',
  }))

  it('shows no counts for a Rollout of another workload', () => {
    const message = 'ignored: it names a Deployment'
    const foreign = { ...inStepTwo.report, reason: 'OtherWorkload', phase: '', step: undefined, images: [], message } as never
    const lines = listView([foreign], { namespaces: false, wide: false }, createDrawing({ ...plain, width: 100 }))
    expect(lines[1]).toMatch(/^node-agent +Not managed {2,}ignored: it names a Deployment$/)
  })

  it.each([60, 80, 200])('lists Rollouts in %d columns', async (width) => {
    const lines = listView(rollouts, { namespaces: true, wide: width === 200 }, createDrawing({ ...plain, width }))
    await expect(text(lines)).toMatchFileSnapshot(file('list', 'of two namespaces', width))
  })

  it('omits the version before the nodes that are down, where these may be what blocks a release', () => {
    const message = 'waiting for updated nodes'
    const need = { reason: 'AcceptedFailed', message, actions: [] }
    const blocked = { ...inStepTwo.report, name: 'agent-of-a-long-name-here', outcome: 'Blocked' as const, need }
    const headingOf = (outcome: 'Blocked' | 'Running') =>
      listView([{ ...blocked, outcome }], { namespaces: false, wide: false }, createDrawing({ ...plain, width: 76 }))[0]
    expect(headingOf('Blocked')).toMatch(/DOWN +WAITS FOR/)
    expect(headingOf('Running')).toMatch(/VERSION +WAITS FOR/)
  })

  it('lists dead nodes in a column of their own, and none of them as down, unless they count', () => {
    const dead = { ...inStepTwo.report, nodes: { ...inStepTwo.report.nodes, unavailable: 5, dead: 3, exempt: 3 } }
    const many = { ...dead, nodes: { ...dead.nodes, exempt: 0 } }
    const drawing = createDrawing({ ...plain, width: 200 })
    const [heading, ...lines] = listView([dead, many], { namespaces: false, wide: false }, drawing)
    expect(heading).toMatch(/ UPDATED +DEAD +DOWN /)
    expect(lines).toEqual([expect.stringMatching(/ 13\/30 +3 +2\/3 /), expect.stringMatching(/ 13\/30 +3 +5\/3 /)])
    expect(listView(rollouts, { namespaces: false, wide: false }, drawing)[0]).not.toContain('DEAD')
  })

  it('shows what a release that is over needs a person for', () => {
    const need = { reason: 'NodesExcluded', message: 'nodes that the policy excludes keep revision bad', actions: [] }
    for (const outcome of ['Done', 'RolledBack'] as const) {
      const over = { ...done.report, outcome, message: 'rolled back', need }
      const drawing = createDrawing({ ...plain, width: 200 })
      expect(listView([over], { namespaces: false, wide: false }, drawing)[1]).toMatch(/ nodes that the policy excludes keep revision bad$/)
      const lines = releaseView({ ...done, report: over }, drawing, false)
      expect(lines).toEqual(
        expect.arrayContaining([expect.stringMatching(/status +rolled back$/), expect.stringMatching(/waits +nodes that the/)]),
      )
      expect(lines).toContainEqual(expect.stringMatching(/needs +a person \(NodesExcluded\)$/))
    }
  })

  it.each([
    ['Accepted', false],
    ['ReleaseFailed', true],
  ])('shows a failure (%s) of a release that was rolled back: %s', (reason, isShown) => {
    const failure = { reason, message: 'the failures on node-001 were accepted', nodes: [], release: 'r1' } as never
    const report = { ...done.report, outcome: 'RolledBack' as const, message: 'rolled back', failure }
    const lines = releaseView({ ...done, report }, createDrawing({ ...plain, width: 200 }), false)
    expect(lines.some((line) => line.includes('were accepted'))).toBe(isShown)
  })

  it('shows no pause that the end of a Rollout overrides', () => {
    const ending = { ...failing.report, paused: true, disabled: true, phase: 'Disabling' as const }
    expect(releaseView({ ...failing, report: ending }, createDrawing(plain), false)[0]).not.toContain('paused')
  })

  it('truncates no reason that requires a decision in 80 columns', () => {
    const lines = listView(rollouts, { namespaces: true, wide: false }, createDrawing({ ...plain, width: 80 }))
    for (const reason of ['StepPaused', 'Paused', 'ReleaseFailed']) expect(lines.some((line) => line.endsWith(` ${reason}`))).toBe(true)
  })

  it('omits a column without any text before one with counts', () => {
    const over = { ...done.report, phase: 'Healthy', outcome: 'RolledBack' as const, nodes: { ...done.report.nodes, dead: 1 } }
    const headingOf = (...listed: (typeof done.report)[]) => listView(listed, { namespaces: true, wide: false }, createDrawing(plain))[0]
    expect(headingOf(over)).toBe('NAMESPACE  NAME        STATE        UPDATED  DEAD  DOWN  VERSION')
    const waits = { ...waitsForApproval.report, nodes: over.nodes }
    expect(headingOf(waits)).toMatch(/ STEP .* WAITS FOR$/)
    expect(headingOf(over, waits)).toMatch(/ STEP .* WAITS FOR$/)
  })

  it('does not repeat the step if space is short', () => {
    const message = 'step 1 of 3 (10%): waiting for new pods on node-1'
    const waitingFor = { reason: 'Upgrading', message: 'waiting for new pods on node-1', nodes: ['node-1'] }
    const [, line] = listView([{ ...inStepTwo.report, message, waitingFor }], { namespaces: false, wide: false }, createDrawing(plain))
    expect(line).toMatch(/ {2}waiting for/)
  })

  it.each(['Done', 'RolledBack'] as const)('lists a release that is %s as one that waits for nothing', (outcome) => {
    const report = { ...inStepTwo.report, outcome, message: 'Rolled back from revision a to b' }
    for (const width of [80, 200]) {
      const [, line] = listView([report], { namespaces: false, wide: false }, createDrawing({ ...plain, width }))
      expect(line).not.toContain('Rolled back from')
    }
  })

  it('shows that a failed release is paused', () => {
    const lines = releaseView({ ...failing, report: { ...failing.report, paused: true } }, createDrawing(plain), false)
    expect(lines[0]).toContain('Failed, paused')
  })

  it('truncates nothing if the width is unlimited', () => {
    const lines = listView(rollouts, { namespaces: false, wide: false }, createDrawing({ ...plain, width: Number.POSITIVE_INFINITY }))
    expect(lines.join('')).not.toContain('…')
  })
})

function text(lines: readonly string[]): string {
  return `${lines.join('\n')}\n`
}

function file(command: string, name: string, columns: number): string {
  return `golden/${command}/${name.replaceAll(' ', '-')}.${columns}.txt`
}
