import { describe, expect, it } from 'vitest'
import { plainLines } from '../src/screen/plain-lines.ts'
import type { NodeSnapshot, NodeState, ReleaseSnapshot, WaitingLine } from '../src/screen/release-snapshot.ts'
import { waitingLine, type WaitSeen } from '../src/screen/waiting-line.ts'

const START_MS = 1_700_000_000_000

describe('plainLines', () => {
  it('prints the state of the release at the start', () => {
    expect(plainLines(null, base)).toEqual([
      'demo/agent 10s: Progressing, version v2, step 1 of 3, StepUpgrade',
      'demo/agent 10s: 0 of 40 nodes updated, 0 down',
    ])
  })

  it('prints nothing if only the time has changed', () => {
    expect(plainLines(base, { ...base, nowMs: base.nowMs + 60_000 })).toEqual([])
  })

  it('prints a new step state once', () => {
    const paused = { ...base, step: { index: 1, count: 3, state: 'StepPaused' } }
    expect(plainLines(base, paused)).toEqual(['demo/agent 10s: Progressing, version v2, step 1 of 3, StepPaused'])
    expect(plainLines(paused, paused)).toEqual([])
  })

  it.each([
    { updated: 1, reported: false, why: 'keeps small progress to itself' },
    { updated: 2, reported: true, why: 'prints progress of a twentieth of the nodes' },
    { updated: 40, reported: true, why: 'prints the last node' },
  ])('$why', ({ updated, reported }) => {
    expect(plainLines(base, { ...base, nodes: nodes(updated) })).toHaveLength(reported ? 1 : 0)
  })

  it('names a node that begins to fail, with the reason, once', () => {
    const failing = { ...base, nodes: [...nodes(0).slice(1), node('node-0', 'failing')] }
    expect(plainLines(base, failing)).toEqual(['demo/agent 10s: failing on node-0: ImagePullBackOff'])
    expect(plainLines(failing, failing)).toEqual([])
  })

  it('prints a pause of the Rollout, and its end', () => {
    const held = { ...base, paused: true }
    expect(plainLines(base, held)).toEqual(['demo/agent 10s: Progressing, version v2, step 1 of 3, StepUpgrade, paused'])
    expect(plainLines(held, base)).toEqual(['demo/agent 10s: Progressing, version v2, step 1 of 3, StepUpgrade'])
  })

  it('counts available nodes, whatever their revision, while no release runs', () => {
    const starting = [...nodes(2).slice(0, 2), ...nodes(0).slice(2, 10), ...nodes(0).slice(10).map(asDown)]
    const idle: ReleaseSnapshot = { ...base, phase: 'Healthy', step: null, toVersion: 'v1', startedAtMs: null, nodes: starting }
    expect(plainLines(null, idle)).toEqual(['demo/agent: coming up, version v1', 'demo/agent: 10 of 40 nodes available'])
    const up: ReleaseSnapshot = { ...idle, nodes: nodes(40) }
    expect(plainLines(idle, up)).toEqual(['demo/agent: Healthy, version v1', 'demo/agent: 40 of 40 nodes available'])
  })

  it('restarts the count when a release starts', () => {
    const idle: ReleaseSnapshot = { ...base, phase: 'Healthy', step: null, nodes: nodes(0).map(asDown) }
    expect(plainLines(idle, base)).toContain('demo/agent 10s: 0 of 40 nodes updated, 0 down')
  })

  it('prints no state of the previous template with the version of the new one', () => {
    const before: ReleaseSnapshot = { ...base, phase: 'Healthy', step: null, toVersion: 'v1' }
    const applied: ReleaseSnapshot = { ...before, toVersion: 'v2', isObserved: false }
    expect(plainLines(before, applied)).toEqual([])
    expect(plainLines(before, { ...applied, isObserved: true })).toEqual(['demo/agent 10s: Healthy, version v2'])
  })

  it('prints no control characters from the cluster', () => {
    expect(plainLines(null, { ...base, toVersion: 'v2\u001b[2J\nmore' }).join('')).not.toMatch(/\p{Cc}/u)
  })
})

describe('waitingLine', () => {
  const unready: WaitingLine = { message: 'waiting for updated nodes to become available: node-1', subject: 'a', sinceMs: START_MS }

  it('prints nothing about short waits, which every pod causes', () => {
    expect(
      watch([
        [0, unready],
        [1, { ...unready, subject: 'b' }],
        [2, null],
      ]),
    ).toEqual([])
  })

  it('prints a wait once it lasts, and only once', () => {
    const lines = watch([
      [0, unready],
      [2, unready],
      [3, { ...unready, message: 'the same in other words' }],
    ])
    expect(lines).toEqual(['demo/agent 2s: waiting for updated nodes to become available: node-1'])
  })

  it('prints the wait that replaces another', () => {
    const other = { ...unready, message: 'waiting for new pods on node-2', subject: 'b' }
    expect(
      watch([
        [0, unready],
        [2, unready],
        [3, other],
        [5, other],
      ]),
    ).toEqual(['demo/agent 2s: waiting for updated nodes to become available: node-1', 'demo/agent 5s: waiting for new pods on node-2'])
  })

  it('prints every thirty seconds that it still waits, and for how long', () => {
    expect(watch(Array.from({ length: 70 }, (_, second) => [second, unready] as const))).toEqual([
      'demo/agent 2s: waiting for updated nodes to become available: node-1',
      'demo/agent 32s: unchanged for 32s: waiting for updated nodes to become available: node-1',
      'demo/agent 1m02s: unchanged for 1m02s: waiting for updated nodes to become available: node-1',
    ])
  })

  it.each([
    { where: 'at a step', with: { step: { index: 1, count: 3, state: 'StepPaused' } } },
    { where: 'in mid-batch', with: { paused: true } },
    { where: 'before a release', with: { phase: 'Initial', step: null } },
  ])('prints at once what a person has to decide $where', ({ with: fields }) => {
    const waiting = { message: 'step 1 waits for approval', subject: 's', sinceMs: null }
    expect(watch([[0, waiting]], fields)).toEqual(['demo/agent 0s: step 1 waits for approval'])
  })

  function watch(
    waits: readonly (readonly [second: number, waiting: WaitingLine | null])[],
    fields: Partial<ReleaseSnapshot> = {},
  ): string[] {
    let seen: WaitSeen | null = null
    return waits.flatMap(([second, waiting]) => {
      const nowMs = START_MS + second * 1000
      const next = waitingLine(seen, { ...base, endedAtMs: null, ...fields, nowMs, waiting })
      seen = next.seen
      return next.line === null ? [] : [next.line]
    })
  }
})

const base: ReleaseSnapshot = {
  daemonSet: 'demo/agent',
  rollout: 'agent',
  nowMs: 1_700_000_010_000,
  startedAtMs: 1_700_000_000_000,
  endedAtMs: 1_700_000_010_000,
  fromVersion: 'v1',
  toVersion: 'v2',
  phase: 'Progressing',
  isObserved: true,
  step: { index: 1, count: 3, state: 'StepUpgrade' },
  paused: false,
  steps: [],
  nodes: nodes(0),
  maxUnavailable: 4,
  waiting: null,
  events: [],
}

function nodes(updated: number): NodeSnapshot[] {
  return Array.from({ length: 40 }, (_, index) => node(`node-${index}`, index < updated ? 'updated' : 'old'))
}

function node(name: string, state: NodeState): NodeSnapshot {
  return { name, zone: '', state, onCanary: state === 'updated', ...(state === 'failing' && { reason: 'ImagePullBackOff' }) }
}

function asDown(snapshot: NodeSnapshot): NodeSnapshot {
  return { ...snapshot, state: 'updating' }
}
