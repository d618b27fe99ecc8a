import type { RecordedWrite } from '@tranche/recording'
import { describe, expect, it } from 'vitest'
import { findUnreported } from './judge-unreported.ts'

/** One write after the other, a second apart. */
function writesOf(...parts: readonly Partial<RecordedWrite>[]): readonly RecordedWrite[] {
  return parts.map((part, at) => ({ t: 100_000 + at * 1_000, type: 'MODIFIED', kind: 'Rollout', rv: at + 1, uid: 'r', o: {}, ...part }))
}

interface At {
  readonly paused?: boolean
  readonly disabled?: boolean
  readonly state?: string
  readonly next?: number
  readonly action?: string
  readonly seen?: readonly string[]
}

function rollout(actor: string, { paused, disabled, state = 'StepPaused', next = 2, action, seen = [] }: At = {}): Partial<RecordedWrite> {
  const annotations = {
    'tranche.dev/observed-changes': JSON.stringify(seen.map((id) => ({ id }))),
    ...(action !== undefined && { 'tranche.dev/action': JSON.stringify({ id: 'x', type: action }) }),
  }
  const status = { canaryStatus: { currentStepState: state, nextStepIndex: next } }
  return { actor, o: { metadata: { name: 'agent', annotations }, spec: { disabled, strategy: { paused } }, status } }
}

function daemonSet(actor: string, template: string): Partial<RecordedWrite> {
  return { kind: 'DaemonSet', uid: 'd', actor, o: { name: 'agent', annotations: { 'tranche.dev/rollout': 'agent' }, template } }
}

const begin = rollout('controller-1')
const facts = { quiescentFromMs: 0, endMs: 1_000_000 }
const found = (...parts: readonly Partial<RecordedWrite>[]): readonly string[] =>
  findUnreported(writesOf(begin, ...parts), facts).map(({ guarantee, text }) => `${guarantee} ${text}`)
const never = (type: string, rv = 2): readonly string[] => [`G7 the ${type} that people wrote on agent at version ${rv} was never reported`]

describe('a change outside Tranche', () => {
  it.each<[string, At, string]>([
    ['a pause', { paused: true }, 'pause'],
    ['an end of control', { disabled: true }, 'disable'],
    ['an approval in the status', { state: 'StepReady' }, 'approve'],
    ['a jump in the status', { next: 4 }, 'jump'],
    ['an action', { action: 'abort' }, 'abort'],
  ])('is on the record: %s', (_title, operation, type) => {
    expect(found(rollout('people', operation))).toEqual(never(type))
    expect(found(rollout('people', operation), rollout('controller-1', { ...operation, seen: [`seen-2-${type}`] }))).toEqual([])
  })

  it('is on the record if it is another template', () => {
    expect(found(daemonSet('controller-1', 'old'), daemonSet('people', 'new'))).toEqual(never('template', 3))
    const seen = rollout('controller-1', { seen: ['seen-3-template'] })
    expect(found(daemonSet('controller-1', 'old'), daemonSet('people', 'new'), seen)).toEqual([])
  })

  it('need not be on the record if the Rollout is gone, if it came over REST, or if it came before all faults ended', () => {
    expect(found(rollout('people', { paused: true }), { ...rollout('people'), type: 'DELETED' })).toEqual([])
    expect(found(rollout('api-1', { paused: true }))).toEqual([])
    const writes = writesOf(begin, rollout('people', { paused: true }))
    expect(findUnreported(writes, { quiescentFromMs: 90_000, endMs: 1_000_000 })).toEqual([])
    expect(findUnreported(writes, { quiescentFromMs: 0, endMs: 150_000 })).toEqual([])
  })
})

it('a change that no user made is on no record', () => {
  const invented = ['G7 controller-1 reports seen-2-pause, which no user did']
  expect(found(rollout('controller-1', { seen: ['seen-2-pause'] }))).toEqual(invented)
  expect(found(rollout('people', { paused: true }), rollout('controller-1', { paused: true, seen: ['seen-2-pause'] }))).toEqual([])
  // Observed at a later version, because the watch was stalled in between.
  const late = rollout('controller-1', { paused: true, seen: ['seen-3-pause', 'seen-2-pause'] })
  expect(found(rollout('people', { paused: true }), rollout('controller-1', { paused: true }), late)).toEqual([])
})
