import { stripVTControlCharacters } from 'node:util'
import { describe, expect, it } from 'vitest'
import type { NodeSnapshot, NodeState, ReleaseSnapshot } from '../src/screen/release-snapshot.ts'
import { renderReleaseView, type ViewOptions } from '../src/screen/render-release-view.ts'

const NOW_MS = 1_700_000_000_000
const plain: ViewOptions = { width: 80, height: 40, colors: false, unicode: true }

describe('renderReleaseView', () => {
  const cases: Record<string, { snapshot: Partial<ReleaseSnapshot>; options?: Partial<ViewOptions> }> = {
    'an empty cluster': { snapshot: { nodes: [], steps: [], phase: null, step: null } },
    'a DaemonSet without a Rollout': { snapshot: { rollout: null, phase: null, step: null, steps: [], nodes: zones('####....') } },
    'a release in its second step': { snapshot: inStepTwo() },
    'a release in 60 columns': { snapshot: inStepTwo(), options: { width: 60 } },
    'a release in 140 columns': { snapshot: inStepTwo(), options: { width: 140 } },
    'a release without Unicode': { snapshot: inStepTwo(), options: { unicode: false } },
    'a release with colours': { snapshot: inStepTwo(), options: { colors: true } },
    'a release in 14 rows': { snapshot: inStepTwo(), options: { height: 14 } },
    'a pause that waits for a person': {
      snapshot: {
        step: { index: 1, count: 3, state: 'StepPaused' },
        nodes: zones('##........', '#.........', '..........'),
        waiting: { message: 'step 1 of 3 is done and waits for approval', subject: '', sinceMs: NOW_MS - 65_000 },
      },
    },
    'nodes that fail': { snapshot: failing() },
    'failing nodes in a terminal with 14 rows': { snapshot: failing(), options: { height: 14 } },
    'a release held in mid-batch': { snapshot: { ...inStepTwo(), paused: true } },
    'a finished release': {
      snapshot: {
        phase: 'Healthy',
        step: null,
        endedAtMs: NOW_MS - 60_000,
        nodes: zones('##########', '##########', '##########'),
        waiting: null,
      },
    },
    'five thousand nodes': {
      snapshot: {
        nodes: ['a', 'b', 'c'].flatMap((zone, index) => manyNodes(zone, 1667 - (index === 2 ? 1 : 0))),
        steps: [
          { label: '10%', nodes: 500 },
          { label: '50%', nodes: 2500 },
          { label: '100%', nodes: 5000 },
        ],
        maxUnavailable: 500,
      },
    },
    'twelve zones': { snapshot: { nodes: 'abcdefghijkl'.split('').flatMap((zone) => nodes(zone, zone === 'k' ? '#X..' : '##..')) } },
  }

  it.each(Object.entries(cases))('draws %s', async (name, { snapshot, options }) => {
    const lines = renderReleaseView({ ...base, ...snapshot }, { ...plain, ...options })
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(`golden/${name.replaceAll(' ', '-')}.txt`)
  })

  it.each([20, 40, 60, 80, 140])('never draws wider than %d columns or higher than the terminal', (width) => {
    for (const height of [5, 14, 40]) {
      const lines = renderReleaseView({ ...base, ...inStepTwo() }, { width, height, colors: true, unicode: true })
      expect(lines.length).toBeLessThanOrEqual(height)
      expect(Math.max(...lines.map((line) => Array.from(stripVTControlCharacters(line)).length))).toBeLessThanOrEqual(width)
    }
  })

  it('prints no control characters from the cluster', () => {
    const waiting = { message: 'evil \u001b[2J\u009b31m\r\nmessage', subject: '', sinceMs: null }
    expect(renderReleaseView({ ...base, waiting }, plain).join('')).not.toMatch(/\p{Cc}/u)
  })

  it('shows a failing node among five thousand', () => {
    const many = manyNodes('a', 5000)
    many[4321] = { ...many[4321]!, state: 'failing' }
    const map = renderReleaseView({ ...base, nodes: many }, plain).find((line) => line.startsWith('  a'))
    expect(map).toContain('✗')
  })
})

const base: ReleaseSnapshot = {
  daemonSet: 'demo/node-agent',
  rollout: 'node-agent',
  nowMs: NOW_MS,
  startedAtMs: NOW_MS - 83_000,
  endedAtMs: null,
  fromVersion: 'v1',
  toVersion: 'v2',
  phase: 'Progressing',
  step: { index: 2, count: 3, state: 'StepUpgrade' },
  paused: false,
  isObserved: true,
  steps: [
    { label: '10%', nodes: 3 },
    { label: '50%', nodes: 15 },
    { label: '100%', nodes: 30 },
  ],
  nodes: zones('..........', '..........', '..........'),
  maxUnavailable: 3,
  waiting: null,
  events: [],
}

function failing(): Partial<ReleaseSnapshot> {
  return {
    nodes: zones('XX#.......', 'X?v.......', '..........'),
    waiting: { message: 'waiting for 3 nodes to become available: node-a-0, node-a-1, node-b-0', subject: '', sinceMs: NOW_MS - 600_000 },
  }
}

function inStepTwo(): Partial<ReleaseSnapshot> {
  return {
    nodes: zones('###o......', '##oo......', '###.......'),
    waiting: { message: 'waiting for 3 nodes to become available: node-a-3, node-b-2, node-b-3', subject: '', sinceMs: NOW_MS - 4_000 },
    events: [
      {
        atMs: NOW_MS - 2_000,
        warning: false,
        reason: 'PodDeleted',
        object: 'BatchRelease/node-agent',
        namespace: 'demo',
        message: 'deleted the old pod on node-b-3',
      },
      {
        atMs: NOW_MS - 30_000,
        warning: false,
        reason: 'StepApproved',
        object: 'Rollout/node-agent',
        namespace: 'demo',
        message: 'approved',
      },
      {
        atMs: NOW_MS - 70_000,
        warning: true,
        reason: 'Unhealthy',
        object: 'Pod/node-agent-x7k2p',
        namespace: 'demo',
        message: 'readiness probe failed',
      },
    ],
  }
}

function zones(...texts: string[]): NodeSnapshot[] {
  return texts.flatMap((text, index) => nodes('abcdefgh'[index]!, text))
}

/** One sign per node: `#` updated, `o` updating, `.` old, `v` old and down, `X` failing, `?` NotReady. */
function nodes(zone: string, text: string): NodeSnapshot[] {
  const states: Record<string, NodeState> = { '#': 'updated', o: 'updating', '.': 'old', v: 'down', X: 'failing', '?': 'notReady' }
  return Array.from(text).map((sign, index) => {
    const state = states[sign]!
    const failing = state === 'failing' && { reason: 'ImagePullBackOff', sinceMs: NOW_MS - 32_000 - index * 1_000 }
    return { name: `node-${zone}-${index}`, zone, state, onCanary: '#X'.includes(sign), ...failing }
  })
}

/** The first 40 % are updated, ten nodes are on their way, one in the middle fails in zone b. */
function manyNodes(zone: string, count: number): NodeSnapshot[] {
  const done = Math.floor(count * 0.4)
  const text = '#'.repeat(done) + 'o'.repeat(10) + '.'.repeat(count - done - 10)
  return nodes(zone, zone === 'b' ? `${text.slice(0, 1200)}X${text.slice(1201)}` : text)
}
