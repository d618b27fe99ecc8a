import type { ControllerRevision, DaemonSet } from '@tranche/kube-types'
import { planAction, type Action, type ActionFacts, type ActionPlan } from '@tranche/actions'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { aDaemonSet, aRevision, anAction, after, factsIn } from './facts.ts'

// Several clients request an undo at once, each like carryOut: look, plan, write, and look again if another client was faster.

interface Asker {
  action: Action
  /** State that its first read found. */
  first: { readonly from: string; readonly to: string } | null
  plan: ActionPlan | null
}

const ASKERS = 3
const step = fc.oneof(
  fc.record({ kind: fc.constant('look' as const), askerIndex: fc.nat(ASKERS - 1) }),
  fc.record({ kind: fc.constant('write' as const), askerIndex: fc.nat(ASKERS - 1) }),
  fc.record({ kind: fc.constantFrom('apply' as const, 'status' as const, 'status' as const), askerIndex: fc.constant(0) }),
)

it('replaces only the template that its first attempt found, with the revision chosen then (G10)', () => {
  const seen = { writes: 0, movedOn: 0, retried: 0 }
  fc.assert(
    fc.property(fc.array(step, { minLength: 4, maxLength: 30 }), (steps) => {
      let facts = factsIn('healthy')
      const askers: Asker[] = Array.from({ length: ASKERS }, (_, at) => ({
        action: anAction('undo', { id: `rest-${at}`, by: `user-${at}` }),
        first: null,
        plan: null,
      }))
      for (const { kind, askerIndex } of steps) {
        if (kind === 'apply') facts = observed(applied(facts))
        if (kind === 'status') facts = touched(facts)
        const asker = askers[askerIndex]!
        if (kind === 'look') {
          if (asker.plan?.kind === 'refused' || asker.plan?.kind === 'repeated') continue
          asker.plan = planAction(asker.action, facts)
          if (asker.plan.kind === 'refused') {
            expect(asker.plan.code).toBe('MOVED_ON')
            seen.movedOn += 1
          }
          if (asker.plan.kind !== 'write') continue
          if (asker.first !== null) seen.retried += 1
          asker.first ??= { from: imageOf(facts.daemonSet!), to: imageOf(after(facts, asker.plan)!.daemonSet!) }
          asker.action = { ...asker.action, look: asker.plan.look }
        }
        if (kind === 'write' && asker.plan?.kind === 'write') {
          const from = imageOf(facts.daemonSet!)
          const then = after(facts, asker.plan)
          if (then === null) continue
          expect({ from, to: imageOf(then.daemonSet!) }).toEqual(asker.first)
          asker.plan = { kind: 'repeated', target: 'DaemonSet', record: asker.plan.record }
          seen.writes += 1
          facts = observed(then)
        }
      }
    }),
    { numRuns: 400 },
  )
  expect(Math.min(seen.writes, seen.movedOn, seen.retried)).toBeGreaterThan(20)
})

function imageOf({ spec }: DaemonSet): string {
  return spec.template.spec?.containers?.[0]?.image ?? ''
}

/** A user applies a new version. */
function applied(facts: ActionFacts): ActionFacts {
  const image = `agent:${facts.revisions.length + 1}`
  const { template } = aDaemonSet(image).spec
  return touched({ ...facts, daemonSet: { ...facts.daemonSet!, spec: { ...facts.daemonSet!.spec, template } } })
}

function touched(facts: ActionFacts): ActionFacts {
  const { metadata } = facts.daemonSet!
  const resourceVersion = `${Number(metadata.resourceVersion) + 1}`
  return { ...facts, daemonSet: { ...facts.daemonSet!, metadata: { ...metadata, resourceVersion } } }
}

/** As the DaemonSet controller does: a template that comes back has the highest number. */
function observed(facts: ActionFacts): ActionFacts {
  const number = Number(imageOf(facts.daemonSet!).split(':')[1])
  const highest = Math.max(...facts.revisions.map(({ revision }) => revision))
  const others = facts.revisions.filter(({ metadata }) => metadata.name !== `agent-h${number}`)
  const known = facts.revisions.find(({ metadata }) => metadata.name === `agent-h${number}`)
  if (known?.revision === highest) return facts
  const present: ControllerRevision = { ...aRevision(number), revision: highest + 1 }
  return { ...facts, revisions: [...others, present] }
}
