import { planBatchRelease, planRollout, type ReleaseView, type RolloutView } from '@tranche/planner'
import { expect } from 'vitest'
import type { FakeCluster } from '../../../../../test/fakes/fake-cluster.ts'

/**
 * Expects both planners to decide the same where every message that they read is `x`.
 *
 * A status that differs from the stored one only in messages, and in when these were written, is no decision.
 */
export function expectSameWithoutMessages(fake: FakeCluster): void {
  const rollout = fake.rolloutView()
  if (rollout !== null) expect(rolloutDecision(withoutMessages(rollout))).toEqual(rolloutDecision(rollout))
  const release = fake.releaseView()
  if (release !== null) expect(releaseDecision(withoutMessages(release))).toEqual(releaseDecision(release))
}

function rolloutDecision(view: RolloutView): unknown {
  const plan = planRollout(view)
  if (plan.kind !== 'writeStatus') return decisionIn(plan)
  const before = decisionIn(view.rollout.status)
  if (plan.warning !== null || JSON.stringify(decisionIn(plan.status)) !== JSON.stringify(before)) return decisionIn(plan)
  // The messages are correct by then.
  const { status } = plan
  return decisionIn(planRollout({ ...view, rollout: { ...view.rollout, status } }))
}

function releaseDecision(view: ReleaseView): unknown {
  const plan = planBatchRelease(view)
  if (plan.kind !== 'writeStatus') return decisionIn(plan)
  const status = Object.fromEntries(Object.entries({ ...view.release.status, ...plan.status }).filter(([, value]) => value !== null))
  if (JSON.stringify(decisionIn(status)) !== JSON.stringify(decisionIn(view.release.status))) return decisionIn(plan)
  return decisionIn(planBatchRelease({ ...view, release: { ...view.release, status } }))
}

/** Only statuses carry messages that the planners read. */
function withoutMessages<View extends RolloutView | ReleaseView>(view: View): View {
  const { release } = view
  const inRelease = release === undefined ? {} : { release: { ...release, status: blurred(release.status) } }
  if (!('rollout' in view)) return { ...view, ...inRelease }
  return { ...view, ...inRelease, rollout: { ...view.rollout, status: blurred(view.rollout.status) } }
}

function blurred<Value>(value: Value): Value {
  if (value === undefined) return value
  return JSON.parse(JSON.stringify(value), (key, member: unknown) =>
    key === 'message' && typeof member === 'string' ? 'x' : member,
  ) as Value
}

/** Content of a plan or status: keys in order, without texts, and without the time at which a condition was last worded. */
function decisionIn(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(decisionIn)
  if (typeof value !== 'object' || value === null) return value
  const isText = (key: string, member: unknown): boolean => texts.has(key) || (key === 'failure' && typeof member === 'string')
  const members = Object.entries(value).filter(([key, member]) => !isText(key, member) && member !== undefined)
  return Object.fromEntries(members.map(([key, member]) => [key, decisionIn(member)] as const).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** `for` describes in words what a plan waits for, as `failure` of a finished release describes why it failed. */
const texts: ReadonlySet<string> = new Set(['message', 'lastUpdateTime', 'for'])
