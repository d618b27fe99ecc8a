import { keyOf } from '@tranche/kube-types'
import { answerOf, targetOf, type ActionFacts, type ActionStanding, type WrittenAction } from '@tranche/actions'
import { followRollout } from './follow-rollout.ts'
import type { ReadOptions } from './read-action-facts.ts'
import type { ReleaseClientPorts, ActionOrder } from './action-order.ts'

/** Written action, with the objects at that time. */
export interface Awaited {
  readonly order: Pick<ActionOrder, 'waitMs'>
  readonly written: WrittenAction
  readonly facts: ActionFacts
}

/** Waits until an action is answered or refused, or until `waitMs` or `timeUp` ends the wait. @returns its state at that time */
export async function awaitAnswer(
  ports: ReleaseClientPorts,
  awaited: Awaited,
  options: ReadOptions & { readonly timeUp?: AbortSignal | undefined },
): Promise<ActionStanding> {
  const { order, written, facts } = awaited
  let standing = answerOf(written, facts)
  const { rollout } = facts
  if (standing.kind !== 'waiting' || order.waitMs <= 0 || rollout === undefined) return standing
  const time = new AbortController()
  const timer = ports.clock.setTimer(order.waitMs, () => time.abort(new Error('the time is up')))
  const { timeUp, ...reading } = options
  const signal = AbortSignal.any([time.signal, timeUp, options.signal].filter((one) => one !== undefined))
  try {
    for await (const seen of followRollout(ports, { key: keyOf(rollout), from: rollout }, { ...reading, signal })) {
      const isAnother = seen?.metadata.uid !== rollout.metadata.uid && targetOf(written.record.type) === 'Rollout'
      // A recreated object of the same name does not contain what was written to the previous one.
      standing = answerOf(written, { ...facts, rollout: isAnother ? undefined : seen, nowMs: ports.clock.nowMs() })
      if (standing.kind !== 'waiting') return standing
    }
  } catch (error) {
    if (options.signal?.aborted === true || !(time.signal.aborted || timeUp?.aborted === true)) throw error
  } finally {
    timer.cancel()
  }
  return standing
}
