import { type PassView, planPass } from '@tranche/fence'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { NOW_MS, planText } from './pass-notation.ts'
import { type RestingPass, restingPasses } from './resting-pass.ts'

it('a pass that waits names the first time at which the clock alone changes its plan (G6)', () => {
  fc.assert(
    fc.property(restingPasses(), fc.array(fc.nat(400_000), { minLength: 8, maxLength: 8 }), ({ view, plan }, later) => {
      for (const laterMs of [...TIMES_MS, ...later]) {
        const monotonicMs = NOW_MS + laterMs
        if (plan.wakeAtMs !== null && monotonicMs >= plan.wakeAtMs) continue
        const then = planPass(laterView(view, monotonicMs))
        expect(planText(then), `after ${laterMs} ms`).toBe(planText(plan))
      }
    }),
    { numRuns: 2_000 },
  )
})

it('covers waits for the clock and for watches, with checks and preparations', () => {
  const waits = fc.sample(restingPasses(), { numRuns: 1_000, seed: 1 })
  const share = (met: (one: RestingPass) => boolean): number => waits.filter(met).length / waits.length
  const shares = {
    watch: share(({ plan }) => plan.wakeAtMs === null),
    clock: share(({ plan }) => plan.wakeAtMs !== null),
    budget: share(({ plan }) => plan.for === 'budget'),
    availability: share(({ plan }) => plan.for === 'availability'),
    batch: share(({ plan }) => plan.for === 'batch'),
    blocked: share(({ view }) => [...view.checks.values()].some(({ check }) => check.kind === 'blocked')),
    pending: share(({ view }) => [...view.checks.values()].some(({ check }) => check.kind === 'pending')),
    prepared: share(({ view }) => [...(view.prepared ?? [])].some(([, done]) => done.length > 0)),
    spread: share(({ view }) => view.nodes?.spread !== undefined),
  }
  for (const [what, part] of Object.entries(shares)) expect(part, what).toBeGreaterThan(0.1)
})

/** The view at a later time at which nothing has happened: a node that was ready, and is asked again where that is needed, is still ready. */
function laterView(view: PassView, monotonicMs: number): PassView {
  const checks = [...view.checks].map(([node, known]) => {
    const readAtMs = known.check.kind === 'ready' ? known.readAtMs + monotonicMs - view.monotonicMs : known.readAtMs
    return [node, { ...known, readAtMs }] as const
  })
  return { ...view, monotonicMs, checks: new Map(checks) }
}

/** Around every time span that the views contain, and far beyond. */
const TIMES_MS = [1, 2_000, 5_000, 9_000, 15_000, 60_000, 120_000, 300_000, 3_600_000, 1e9].flatMap((ms) => [ms - 1, ms, ms + 1])
