import type { DoctorFinding, Explanation, HistoryReport } from '@tranche/api-schema'
import { describe, expect, it } from 'vitest'
import { actionPreview } from '../src/view/reports/action-preview.ts'
import { doctorView } from '../src/view/reports/doctor-view.ts'
import { createDrawing, type Drawing } from '../src/view/reports/drawing.ts'
import { explanationView } from '../src/view/reports/explanation-view.ts'
import { historyView } from '../src/view/reports/history-view.ts'
import { isNews, progressLine } from '../src/view/reports/progress-line.ts'
import { releaseView } from '../src/view/reports/release-view.ts'
import { stateWord } from '../src/view/reports/report-words.ts'
import { templateDiff } from '../src/view/reports/template-diff.ts'
import { ago, failing, goingBack, inStepTwo, NOW_MS, ofConfig, waitsForApproval } from './release-pictures.ts'

const ofConfigReleases: HistoryReport['releases'] = [
  {
    revision: '6b7f9c4d85',
    number: 2,
    images: ['registry.example/node-agent:v1'],
    changedConfig: ['ConfigMap agent'],
    startedAt: ago(300),
    endedAt: ago(100),
    result: 'RolledBack',
  },
]

const history: HistoryReport = {
  revisions: [
    {
      revision: '7d9f4c6b8a',
      number: 3,
      createdAt: ago(60),
      role: 'none',
      held: true,
      nodes: 0,
      images: ['registry.example/node-agent:v3'],
    },
    {
      revision: '6b7f9c4d85',
      number: 2,
      createdAt: ago(3_700),
      role: 'stable',
      held: false,
      nodes: 30,
      images: ['registry.example/node-agent:v2'],
      changeCause: 'kubectl set image',
    },
  ],
  heldRevisions: [{ digest: 'abc', revision: '7d9f4c6b8a', reason: 'Aborted', at: ago(30) }],
  releases: [
    {
      revision: '7d9f4c6b8a',
      number: 3,
      images: ['registry.example/node-agent:v3'],
      startedAt: ago(60),
      endedAt: ago(25),
      result: 'RolledBack',
      failure: '3 of 30 nodes failed (tolerated: 0): node-011, node-014, node-018: CrashLoopBackOff',
    },
    {
      revision: '6b7f9c4d85',
      number: 2,
      images: ['registry.example/node-agent:v2'],
      startedAt: ago(3_700),
      endedAt: ago(3_100),
      result: 'Completed',
    },
    { revision: '58c4d7b9f6', images: [], startedAt: ago(90_000), endedAt: ago(89_000), result: 'Superseded' },
  ],
  actions: [
    { id: '2', type: 'abort', by: 'jane@example.com', reason: 'errors in the log', at: ago(31), via: 'cli', result: 'Accepted' },
    { id: '1', type: 'approve', by: 'hook:deploy', at: ago(50), via: 'hook', from: '10.0.0.7', expectedStep: 1, result: 'Accepted' },
    {
      id: '0',
      type: 'jump',
      by: 'joe@example.com',
      at: ago(55),
      via: 'rest',
      step: 9,
      result: 'Refused',
      refusal: 'there is no step 9: the steps are 1 to 3',
    },
    { id: '00', type: 'pause', by: 'joe@example.com', at: ago(58), via: 'cli', result: 'Written' },
  ],
  observedChanges: [
    { id: 'seen-9-approve', type: 'approve', manager: 'kubectl-kruise', at: ago(40), step: 2 },
    { id: 'seen-9-abort', type: 'abort', manager: 'kubectl-annotate', at: ago(42), reason: 'INC-4711' },
    { id: 'seen-8-resume', type: 'resume', at: ago(45) },
    { id: 'seen-7-template', type: 'template', manager: 'kubectl-edit', at: ago(60) },
  ],
}

const explanation: Explanation = {
  subject: 'node-7',
  answer: 'the pod on node-7 is not replaced yet: 12 nodes come before it in this batch, and 3 of at most 3 nodes are down',
  rule: 'Order',
  facts: [
    { name: 'pod', value: 'node-agent-x7k2p, revision 58c4d7b9f6, available' },
    { name: 'batch', value: '2 of 3: up to 15 nodes, 10 of them updated' },
  ],
  next: 'a node that is down becomes available',
}

const findings: readonly DoctorFinding[] = [
  { check: 'server', state: 'ok', message: 'https://10.0.0.1:6443 (context production) runs Kubernetes v1.34.2' },
  {
    check: 'controller',
    state: 'problem',
    message: 'no controller runs: the Lease kube-system/tranche-controller has no holder',
    fix: 'Start one: tranche controller, or tranche all-in-one. After an uninstall, delete the Lease:',
    command: 'kubectl delete lease tranche-controller -n kube-system',
  },
  {
    check: 'versions',
    state: 'note',
    message: 'controller is 0.1.0, and this command is 0.2.0',
    fix: 'Use one version; docs/operations/upgrade.md says which may run together.',
  },
  { check: 'openkruise', state: 'unknown', message: 'you may not list leases.coordination.k8s.io 71ddec2c.kruise.io' },
]

const revision = (number: number, image: string) => ({
  revision: `hash${number}`,
  number,
  createdAt: ago(60),
  role: 'none' as const,
  held: false,
  nodes: 0,
  images: [image],
  template: { spec: { containers: [{ name: 'agent', image, env: [{ name: 'A', value: '1' }] }], hostNetwork: true } },
})

const views: Record<string, (drawing: Drawing) => readonly string[]> = {
  'findings of each level': (drawing) => doctorView(findings, drawing),
  'history of two revisions': (drawing) => historyView(history, drawing),
  'explanation of a node': (drawing) => explanationView(explanation, drawing),
  'diff of two revisions': (drawing) => templateDiff(revision(1, 'agent:v1'), revision(2, 'agent:v2'), drawing)!,
  'status of a release that failed': (drawing) => [progressLine(failing.report, drawing)],
  'status of a release that goes back': (drawing) => [progressLine(goingBack.report, drawing)],
  'preview of a promote': (drawing) => actionPreview({ type: 'promote', body: {} }, inStepTwo.report, drawing),
  'preview of an abort': (drawing) =>
    actionPreview({ type: 'abort', body: {}, revisions: waitsForApproval.revisions }, waitsForApproval.report, drawing),
  'preview of an abort of changed config': (drawing) =>
    actionPreview({ type: 'abort', body: {}, revisions: ofConfig.revisions }, ofConfig.report, drawing),
  'preview of an abort to a version that failed': (drawing) => {
    const failedStable = { revision: waitsForApproval.report.stableRevision, at: '2026-11-26T00:00:00Z' }
    return actionPreview({ type: 'abort', body: {} }, { ...waitsForApproval.report, failedStable }, drawing)
  },
  'history of changed config': (drawing) => historyView({ ...history, revisions: ofConfig.revisions, releases: ofConfigReleases }, drawing),
  'preview of an abort without revisions': (drawing) => actionPreview({ type: 'abort', body: {} }, inStepTwo.report, drawing),
  'preview of an undo': (drawing) =>
    actionPreview(
      { type: 'undo', body: { toRevision: '58c4d7b9f6', revision: '6b7f9c4d85' }, revisions: waitsForApproval.revisions },
      waitsForApproval.report,
      drawing,
    ),
  'preview of an undo to nothing': (drawing) => actionPreview({ type: 'undo', body: {} }, waitsForApproval.report, drawing),
}

describe('what the commands print', () => {
  for (const width of [80, 200]) {
    it.each(Object.entries(views))(`draws the %s in ${width} columns`, async (name, draw) => {
      const lines = draw(createDrawing({ width, colors: false, unicode: true, nowMs: NOW_MS }))
      await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(`golden/other/${name.replaceAll(' ', '-')}.${width}.txt`)
      expect(Math.max(...lines.map((line) => Array.from(line).length))).toBeLessThanOrEqual(width)
    })
  }
})

it('a diff gives up on templates that are too long and too different', () => {
  const env = (start: string) => Array.from({ length: 4_000 }, (_, at) => ({ name: `${start}${at}`, value: `${start}${at}` }))
  const longRevision = (number: number, start: string) => ({
    ...revision(number, 'agent:v1'),
    template: { spec: { containers: [{ name: 'agent', image: 'agent:v1', env: env(start) }] } },
  })
  const drawing = createDrawing({ width: 80, colors: false, unicode: true, nowMs: NOW_MS })
  expect(templateDiff(longRevision(1, 'A'), longRevision(2, 'B'), drawing)).toBeUndefined()
  expect(templateDiff(longRevision(1, 'A'), longRevision(2, 'A'), drawing)).toEqual([])
})

describe('the preview of a promote', () => {
  const drawing = createDrawing({ width: 200, colors: false, unicode: true, nowMs: NOW_MS })
  const { steps, nodes, ...report } = inStepTwo.report
  const pausing = steps.map((step) => ({ ...step, pause: 'person' }))

  it.each([
    [pausing, 2, false, 'skips the pauses of steps 2 and 3: 2 more nodes get node-agent:v2'],
    [steps.map(({ pause: _none, ...step }) => step), 1, false, 'skips no pause, because none is left: 1 more node gets node-agent:v2'],
    [pausing.slice(0, 2), 2, true, 'skips the pause of step 2, and every soak and analysis: 2 more nodes get node-agent:v2'],
  ])('names what it skips (%#)', (left, more, full, text) => {
    const lines = actionPreview(
      { type: 'promote', body: { full } },
      { ...report, steps: left, nodes: { ...nodes, updated: nodes.desired - more } },
      drawing,
    )
    expect(lines.at(-1)).toContain(`promote ${text},`)
  })
})

describe('a Rollout of another workload', () => {
  const message = 'ignored: it names a Deployment of apps/v1, and Tranche releases only DaemonSets of apps/v1'
  const report = { ...inStepTwo.report, reason: 'OtherWorkload', outcome: 'Running', message } as const

  it('is not shown as a release of Tranche', () => {
    const drawing = createDrawing({ width: 200, colors: false, unicode: true, nowMs: NOW_MS })
    expect(progressLine(report, drawing)).toBe(`demo/node-agent  Not managed  ${message}`)
    expect(releaseView({ ...inStepTwo, report }, drawing, false)).toEqual(['demo/node-agent   Not managed', `status  ${message}`])
  })
})

describe('the progress lines of status', () => {
  const reported = { report: inStepTwo.report, atMs: 0 }

  it('report every state change at once', () => {
    expect(isNews(reported, waitsForApproval.report, 1)).toBe(true)
    expect(isNews(null, inStepTwo.report, 1)).toBe(true)
  })

  it('report changed counts periodically, and never unchanged ones', () => {
    const moved = { ...inStepTwo.report, nodes: { ...inStepTwo.report.nodes, updatedAvailable: 11 } }
    expect(isNews(reported, moved, 1_000)).toBe(false)
    expect(isNews(reported, moved, 5_000)).toBe(true)
    expect(isNews(reported, inStepTwo.report, 60_000)).toBe(false)
  })
})

it('count the same nodes as updated as every other view, and state how many are available', () => {
  const nodes = { ...inStepTwo.report.nodes, desired: 30, updated: 3, updatedAvailable: 0, unavailable: 3 }
  const drawing = createDrawing({ width: 200, colors: false, unicode: true, nowMs: NOW_MS })
  expect(progressLine({ ...inStepTwo.report, nodes }, drawing)).toContain('  3/30 updated (0 available), 3 down')
})

it.each([
  ['that cost no budget', { dead: 2, exempt: 2 }, '1 down, 2 dead'],
  ['that count', { dead: 2, exempt: 0 }, '3 down, 2 of them dead'],
])('status counts dead nodes %s apart', (_which, dead, text) => {
  const nodes = { ...inStepTwo.report.nodes, unavailable: 3, ...dead }
  expect(
    progressLine({ ...inStepTwo.report, nodes }, createDrawing({ width: 200, colors: false, unicode: true, nowMs: NOW_MS })),
  ).toContain(`, ${text}`)
})

it('a Rollout is Disabling until it has ended its release, and Disabled then', () => {
  const words = ['Disabling', 'Disabled'].map((phase) => stateWord({ ...inStepTwo.report, disabled: true, phase }))
  expect(words).toEqual(['Disabling', 'Disabled'])
  expect(stateWord({ ...inStepTwo.report, disabled: true, phase: 'Disabling', outcome: 'Failed' })).toBe('Failed')
})

it('a deleted Rollout is Terminating until it has ended its release', () => {
  const wordOf = (fields: Partial<typeof inStepTwo.report>): string => stateWord({ ...inStepTwo.report, phase: 'Terminating', ...fields })
  expect([wordOf({}), wordOf({ disabled: true }), wordOf({ rollbackFrom: '6b7f9c4d85' })]).toEqual(Array(3).fill('Terminating'))
  expect([wordOf({ outcome: 'Failed' }), wordOf({ outcome: 'Failed', disabled: true })]).toEqual(['Failed', 'Failed'])
})

it('history says how to see texts that the terminal cuts', () => {
  const hintIn = (width: number): boolean =>
    historyView(history, createDrawing({ width, colors: false, unicode: true, nowMs: NOW_MS })).includes('-o wide shows all texts')
  expect([hintIn(80), hintIn(200), hintIn(Number.POSITIVE_INFINITY)]).toEqual([true, false, false])
})

it('history has no column for the change cause where no revision has one', () => {
  const headings = (view: HistoryReport): string | undefined =>
    historyView(view, createDrawing({ width: 200, colors: false, unicode: true, nowMs: NOW_MS })).find((line) =>
      line.startsWith('REVISION'),
    )
  const without = history.revisions.map(({ changeCause: _dropped, ...revision }) => revision)
  expect(headings(history)).toContain('CHANGE CAUSE')
  expect(headings({ ...history, revisions: without })).not.toContain('CHANGE CAUSE')
})
