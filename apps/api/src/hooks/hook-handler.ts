import { randomBytes } from 'node:crypto'
import type { ActionType } from '@tranche/api-schema'
import type { Clock } from '@tranche/clock'
import { AppError, isAppError } from '@tranche/errors'
import { isForbidden, isNotFound, type KubeClient, resourcePaths } from '@tranche/kube-client'
import type { Logger } from '@tranche/log'
import { createFairQueue, type FairQueueClient } from '../http/fair-queue.ts'
import { createLineLimit } from '../http/line-limit.ts'
import { type Hook, type HookSecret, readHook } from './hook.ts'
import { isSignedWith, parseSignature } from './signature.ts'

/** A message as it came. */
export interface HookMessage {
  readonly namespace: string
  readonly hook: string
  /** Value of `x-tranche-signature`, of whatever shape. */
  readonly signature: unknown
  readonly body: Uint8Array
  readonly sender: FairQueueClient
}

/** A message whose sender has the key of the hook. */
export interface AdmittedMessage {
  readonly hook: Hook
  /** Since when the same message could have been carried out before, in epoch milliseconds. */
  readonly repeatableSinceMs: number
}

/** Tells messages of hooks from others. */
export interface HookHandler {
  /** @throws {AppError} HOOK_REFUSED; RATE_LIMITED where too many of its address wait; REVIEW_UNAVAILABLE where the API server does not answer */
  admit(message: HookMessage): Promise<AdmittedMessage>
  /** @throws {AppError} HOOK_REFUSED where the hook does not allow the action */
  allow(hook: Hook, action: ActionType): void
}

/** A signature counts for so long, and its clock may be wrong by as much, in seconds. */
export const REPLAY_WINDOW_SECONDS = 300
/** Secrets read at a time: whoever guesses names must not take all connections to the API server. */
const SIDE_BY_SIDE = 8
/** Messages of one address that wait for a read: more do not come in the time of a read that takes long. */
const SLOTS_PER_ADDRESS = 50
/** A Secret is waited for no longer, in milliseconds. */
const READ_DEADLINE_MS = 5_000
/** Names that a Secret can have; others are not even asked for. */
const namePattern = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/

/**
 * Makes a door over the Secrets of the cluster. Each message costs one read of one Secret; none is remembered, so that a hook ends with
 * its Secret.
 *
 * Whatever is wrong, senders are told the same: who guesses learns neither which hooks there are, nor what they allow. The log has why.
 */
export function createHookHandler({
  client,
  clock,
  log,
}: {
  readonly client: KubeClient
  readonly clock: Clock
  readonly log: Logger
}): HookHandler {
  const lines = createLineLimit(clock)
  /** Existing hooks have their own limit, so that messages to other names cannot hide what is tried on them. */
  const linesOfHooks = createLineLimit(clock)
  const readers = createFairQueue({ clock, atOnce: SIDE_BY_SIDE, slotsPerAddress: SLOTS_PER_ADDRESS })

  function refuse({ namespace, hook }: Pick<HookMessage, 'namespace' | 'hook'>, why: string, limit = lines): never {
    const leftOut = limit.take(`${namespace}/${hook}: ${why}`)
    if (leftOut !== null) log.warn({ namespace, hook, why, leftOut }, 'a message to a hook is refused')
    throw new AppError('HOOK_REFUSED', 'the hook does not take this message', {
      hint: 'Look at its name, key, time and action. The log of the API has the reason.',
    })
  }

  async function read({ namespace, hook: name, sender }: HookMessage): Promise<Hook | string> {
    const get = (): Promise<HookSecret> => client.get(resourcePaths.secrets, { namespace, name }, { deadlineMs: READ_DEADLINE_MS })
    try {
      return readHook(await readers.run(sender, get))
    } catch (error) {
      if (isNotFound(error)) return 'there is no Secret of that name'
      if (isForbidden(error)) return `the API may not read the Secret: ${error.message}`
      if (!isAppError(error) || error.code === 'RATE_LIMITED' || error === sender.signal.reason) throw error
      throw new AppError('REVIEW_UNAVAILABLE', 'the API server did not say what the hook is', { hint: 'Try again.', cause: error })
    }
  }

  return {
    async admit(message) {
      const signature = parseSignature(message.signature)
      if (signature === null) refuse(message, 'x-tranche-signature is not t=SECONDS,v1=HEX')
      const awayMs = Math.abs(clock.nowMs() - signature.seconds * 1000)
      if (awayMs > REPLAY_WINDOW_SECONDS * 1000) refuse(message, `it was signed ${Math.round(awayMs / 1000)} s away from our time`)
      if (!namePattern.test(message.namespace) || !namePattern.test(message.hook)) refuse(message, 'no Secret can have that name')
      const hook = await read(message)
      const key = typeof hook === 'string' ? randomBytes(32) : hook.key
      const isSigned = isSignedWith(key, message.body, signature)
      if (typeof hook === 'string') refuse(message, hook)
      if (!isSigned) refuse(message, 'it is signed with another key, or was changed', linesOfHooks)
      return { hook, repeatableSinceMs: (signature.seconds - REPLAY_WINDOW_SECONDS) * 1000 }
    },
    allow(hook, action) {
      const { namespace, name, actions } = hook
      if (!actions.has(action)) refuse({ namespace, hook: name }, `the hook does not allow ${action}`, linesOfHooks)
    },
  }
}
