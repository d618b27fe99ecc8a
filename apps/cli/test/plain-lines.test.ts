import { type NodeSnapshot, type NodeState, plainLines, type ReleaseSnapshot } from '@tranche/cli'
import { describe, expect, it } from 'vitest'

describe('plainLines', () => {
  it('tells where the release stands at the beginning', () => {
    expect(plainLines(null, calm)).toEqual([
      'demo/agent 10s: Progressing, version v2, step 1 of 3, StepUpgrade',
      'demo/agent 10s: 0 of 40 nodes updated, 0 down',
    ])
  })

  it('says nothing when nothing has changed but the time', () => {
    expect(plainLines(calm, { ...calm, nowMs: calm.nowMs + 60_000 })).toEqual([])
  })

  it('tells a new step state once', () => {
    const paused = { ...calm, step: { index: 1, count: 3, state: 'StepPaused' } }
    expect(plainLines(calm, paused)).toEqual(['demo/agent 10s: Progressing, version v2, step 1 of 3, StepPaused'])
    expect(plainLines(paused, paused)).toEqual([])
  })

  it.each([
    { updated: 1, told: false, why: 'keeps small progress to itself' },
    { updated: 2, told: true, why: 'tells progress by a twentieth of the nodes' },
    { updated: 40, told: true, why: 'tells the last node' },
  ])('$why', ({ updated, told }) => {
    expect(plainLines(calm, { ...calm, nodes: nodes(updated) })).toHaveLength(told ? 1 : 0)
  })

  it('names a node that begins to fail, with the reason, once', () => {
    const failing = { ...calm, nodes: [...nodes(0).slice(1), node('node-0', 'failing')] }
    expect(plainLines(calm, failing)).toEqual(['demo/agent 10s: failing on node-0: ImagePullBackOff'])
    expect(plainLines(failing, failing)).toEqual([])
  })

  it('tells what a pause waits for', () => {
    const step = { index: 1, count: 3, state: 'StepPaused' }
    const lines = plainLines({ ...calm, step }, { ...calm, step, waiting: { message: 'waits for approval', sinceMs: null } })
    expect(lines).toEqual(['demo/agent 10s: waiting: waits for approval'])
  })

  it('lets nothing from the cluster steer the terminal', () => {
    expect(plainLines(null, { ...calm, toVersion: 'v2\u001b[2J\nmore' }).join('')).not.toMatch(/\p{Cc}/u)
  })
})

const calm: ReleaseSnapshot = {
  daemonSet: 'demo/agent',
  rollout: 'agent',
  nowMs: 1_700_000_010_000,
  startedAtMs: 1_700_000_000_000,
  endedAtMs: 1_700_000_010_000,
  fromVersion: 'v1',
  toVersion: 'v2',
  phase: 'Progressing',
  step: { index: 1, count: 3, state: 'StepUpgrade' },
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
