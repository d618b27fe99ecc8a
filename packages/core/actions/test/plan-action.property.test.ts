import { RECORDED_ACTIONS_MAX, actionTypes } from '@tranche/api-schema'
import { RECORDED_ACTIONS_ANNOTATION } from '@tranche/kube-types'
import { planAction, RECORDED_ACTIONS_MAX_BYTES, recordedActionsOf, type Action, type ActionFacts } from '@tranche/actions'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { anAction, after, factsIn, states } from './facts.ts'

const state = fc.constantFrom(...states)
const reason = fc.option(fc.string({ unit: 'grapheme', maxLength: 1_024 }), { nil: undefined })
const action = (id: string): fc.Arbitrary<Action> =>
  fc
    .record({ type: fc.constantFrom(...actionTypes), reason, by: fc.string({ maxLength: 400 }), step: fc.integer({ min: 1, max: 4 }) })
    .map(({ type, reason: why, by, step }) => {
      const { body } = anAction(type)
      const guarded = body.expectedStep === undefined ? body : { ...body, expectedStep: step }
      return { ...anAction(type, { id, by }), body: { ...guarded, ...(why !== undefined && { reason: why }) } }
    })

it('writes one of two actions that were checked against the same state, never both (G10)', () => {
  let both = 0
  fc.assert(
    fc.property(state, action('rest-a'), action('rest-b'), (at, one, other) => {
      const facts = factsIn(at)
      const [first, second] = [planAction(one, facts), planAction(other, facts)]
      if (first.kind !== 'write' || second.kind !== 'write' || first.target !== second.target) return
      both += 1
      expect(after(after(facts, first)!, second)).toBeNull()
    }),
    { numRuns: 600 },
  )
  expect(both).toBeGreaterThan(50)
})

it('lets only one of two users advance a step, in any order (G10)', () => {
  const leaving = fc.constantFrom('approve', 'jump', 'promote').chain((type) => fc.constant(anAction(type as Action['type'])))
  fc.assert(
    fc.property(leaving, leaving, (one, other) => {
      const facts = factsIn('stepPaused')
      const first = planAction({ ...one, id: 'rest-a' }, facts)
      if (first.kind !== 'write') throw new Error('the first is refused')
      expect(planAction({ ...other, id: 'rest-b' }, after(facts, first)!)).toMatchObject({ kind: 'refused', code: 'ACTION_PENDING' })
    }),
  )
})

it('writes no action twice under one id, and refuses the id for another action', () => {
  fc.assert(
    fc.property(state, action('rest-a'), action('rest-a'), (at, one, other) => {
      const facts = factsIn(at)
      const first = planAction(one, facts)
      if (first.kind !== 'write') return
      const then = after(facts, first)!
      expect(planAction({ ...one, by: 'another user', from: '192.0.2.1' }, then)).toMatchObject({
        kind: 'repeated',
        record: { id: 'rest-a', type: one.type },
      })
      const isSame = one.type === other.type && JSON.stringify(one.body) === JSON.stringify(other.body)
      const again = planAction(other, then)
      expect(isSame || again.kind === 'refused').toBe(true)
      if (!isSame) expect(['IDEMPOTENCY_KEY_REUSED', 'ACTION_INVALID']).toContain(again.kind === 'refused' && again.code)
    }),
    { numRuns: 400 },
  )
})

it('keeps the record bounded and newest last, even with foreign text in it', () => {
  fc.assert(
    fc.property(fc.array(action('?'), { minLength: 1, maxLength: 40 }), fc.option(fc.string()), (actions, spoilt) => {
      let facts = spoiltBy(factsIn('paused'), spoilt)
      for (const [at, one] of actions.entries()) {
        const id = `rest-${at}`
        const plan = planAction(
          { ...one, id, type: 'pause', body: { ...(one.body.reason !== undefined && { reason: one.body.reason }) } },
          facts,
        )
        if (plan.kind !== 'write') throw new Error('a pause is refused')
        facts = after(facts, plan)!
        const records = recordedActionsOf(facts.rollout)
        expect(records.at(-1)?.id).toBe(id)
        expect(records.length).toBeLessThanOrEqual(RECORDED_ACTIONS_MAX)
        expect(Buffer.byteLength(facts.rollout!.metadata.annotations![RECORDED_ACTIONS_ANNOTATION]!)).toBeLessThanOrEqual(
          RECORDED_ACTIONS_MAX_BYTES,
        )
      }
    }),
    { numRuns: 60 },
  )
})

it('counts bytes, not characters', () => {
  let facts = factsIn('paused')
  for (let at = 0; at < 20; at += 1) {
    const plan = planAction(anAction('pause', { id: `rest-${at}`, body: { reason: '漢'.repeat(1_024) } }), facts)
    if (plan.kind !== 'write') throw new Error('a pause is refused')
    facts = after(facts, plan)!
  }
  // Each is a little more than 3 KiB.
  expect(recordedActionsOf(facts.rollout).map(({ id }) => id)).toEqual(['rest-15', 'rest-16', 'rest-17', 'rest-18', 'rest-19'])
})

it('changes only our keys, spec.strategy.paused and the template (G11)', () => {
  fc.assert(
    fc.property(state, action('rest-a'), (at, one) => {
      const facts = factsIn(at)
      const plan = planAction(one, facts)
      if (plan.kind !== 'write') return
      const then = after(facts, plan)!
      expect(users(then, one)).toEqual(users(facts, one))
      if (plan.target === 'Rollout') expect(then.daemonSet).toBe(facts.daemonSet)
      else expect(then.rollout).toBe(facts.rollout)
    }),
    { numRuns: 400 },
  )
})

function spoiltBy(facts: ActionFacts, text: string | null): ActionFacts {
  if (text === null) return facts
  const { rollout } = facts
  return { ...facts, rollout: { ...rollout!, metadata: { ...rollout!.metadata, annotations: { [RECORDED_ACTIONS_ANNOTATION]: text } } } }
}

/** Part of the objects that belongs only to their users. */
function users({ rollout, daemonSet }: ActionFacts, { type }: Action): unknown {
  const copy = structuredClone({ rollout, daemonSet }) as unknown as Record<'rollout' | 'daemonSet', { metadata: Loose; spec: Loose }>
  for (const { metadata } of Object.values(copy)) {
    const {
      [RECORDED_ACTIONS_ANNOTATION]: _record,
      'tranche.dev/action': _action,
      ...annotations
    } = (metadata['annotations'] ?? {}) as Loose
    Object.assign(metadata, { annotations, resourceVersion: '', generation: 0 })
  }
  if (type === 'pause' || type === 'resume') delete (copy.rollout.spec['strategy'] as Loose)['paused']
  if (type === 'undo' || type === 'restart') delete copy.daemonSet.spec['template']
  return copy
}

type Loose = Record<string, unknown>

it('writes no signed message twice while its signature is valid, even with a full record', () => {
  const WINDOW_MS = 300_000
  let repetitions = 0
  let crowded = 0
  const step = fc.record({
    kind: fc.constantFrom('new', 'again', 'again', 'crowd'),
    which: fc.nat(40),
    awayMs: fc.integer({ min: -WINDOW_MS, max: WINDOW_MS }),
    passMs: fc.constantFrom(0, 1_000, 5_000, 20_000, 150_000),
    reason: fc.constantFrom('', 'x'.repeat(1_024), 'ß'.repeat(1_024)),
  })
  fc.assert(
    fc.property(fc.array(step, { minLength: 20, maxLength: 80 }), (steps) => {
      let facts = factsIn('updating')
      const sent: { readonly action: Action; readonly signedMs: number; writes: number }[] = []
      for (const [at, { kind, which, awayMs, passMs, reason: why }] of steps.entries()) {
        facts = { ...facts, nowMs: facts.nowMs + passMs }
        const pause = { ...anAction('pause', { id: `hook-${at}` }), body: why === '' ? {} : { reason: why } }
        if (kind === 'crowd') {
          const plan = planAction({ ...pause, id: `rest-${at}` }, facts)
          facts = plan.kind === 'write' ? after(facts, plan)! : facts
          continue
        }
        const signedMs = facts.nowMs + awayMs
        if (kind === 'new') sent.push({ action: { ...pause, repeatableSinceMs: signedMs - WINDOW_MS }, signedMs, writes: 0 })
        const message = kind === 'new' ? sent.at(-1) : sent[which % Math.max(1, sent.length)]
        if (message === undefined || Math.abs(facts.nowMs - message.signedMs) > WINDOW_MS) continue
        const plan = planAction(message.action, facts)
        if (plan.kind === 'repeated') repetitions += 1
        if (plan.kind === 'refused') crowded += 1
        if (plan.kind !== 'write') continue
        message.writes += 1
        expect(message.writes).toBe(1)
        facts = after(facts, plan)!
      }
    }),
    { numRuns: 80 },
  )
  expect(repetitions).toBeGreaterThan(10)
  expect(crowded).toBeGreaterThan(10)
})
