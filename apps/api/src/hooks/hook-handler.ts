import { randomBytes } from 'node:crypto'
import type { ActionType } from '@tranche/api-schema'
import type { Clock } from '@tranche/clock'
import { AppError, isAppError } from '@tranche/errors'
import { isForbidden, isNotFound, type KubeClient, resourcePaths } from '@tranche/kube-client'
import type { Logger } from '@tranche/telemetry'
import { createFairQueue, type FairQueueClient } from '../limits/fair-queue.ts'
import { createLineLimit } from '../limits/line-limit.ts'
import { type Hook, type HookSecret, readHook } from './hook.ts'
import { isSignedWith, parseSignature } from './signature.ts'

/** A received message, not verified. */
export interface HookMessage {
  readonly namespace: string
  readonly hook: string
  /** Raw value of `x-tranche-signature`. */
  readonly signature: unknown
  readonly body: Uint8Array
  readonly sender: FairQueueClient
}

/** A message with a valid signature. */
export interface AdmittedMessage {
  readonly hook: Hook
  /** Earliest time at which the same message could already have been executed, in epoch milliseconds. */
  readonly repeatableSinceMs: number
}

/** Verifies messages to hooks. */
export interface HookHandler {
  /** @throws {AppError} HOOK_REFUSED; RATE_LIMITED if too many of its address wait; REVIEW_UNAVAILABLE if the API server does not answer */
  admit(message: HookMessage): Promise<AdmittedMessage>
  /** @throws {AppError} HOOK_REFUSED if the hook does not allow the action */
  allow(hook: Hook, action: ActionType): void
}

/** Lifetime of a signature and maximum clock skew of its sender, in seconds. */
export const REPLAY_WINDOW_SECONDS = 300
/** Maximum number of concurrent Secret reads: guessed names must not use all connections to the API server. */
const SIDE_BY_SIDE = 8
/** Maximum number of messages per address that wait for a read; the rate limit lets no more in during one slow read. */
const SLOTS_PER_ADDRESS = 50
/** Deadline of a Secret read, in milliseconds. */
const READ_DEADLINE_MS = 5_000
/** Valid names of a Secret; others are refused without a read. */
const namePattern = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/

/**
 * Verifies messages against the Secrets of the cluster. Reads the Secret for every message, without a cache, so that deleting the
 * Secret ends the hook.
 *
 * Every refusal has the same text, so that guessing reveals neither the existing hooks nor their actions. The log has the reason.
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
  /** Existing hooks have their own line limit, so that messages to unknown names cannot hide attempts on them. */
  const linesOfHooks = createLineLimit(clock)
  const readers = createFairQueue({ clock, atOnce: SIDE_BY_SIDE, slotsPerAddress: SLOTS_PER_ADDRESS })

  function refuse({ namespace, hook }: Pick<HookMessage, 'namespace' | 'hook'>, why: string, limit = lines): never {
    const leftOut = limit.take(`${namespace}/${hook}: ${why}`)
    if (leftOut !== null) log.warn({ namespace, hook, why, leftOut }, 'refused message to hook')
    throw new AppError('HOOK_REFUSED', 'the hook refused the message', {
      hint: 'Check the hook name, key, timestamp and action. The API log has the reason.',
    })
  }

  async function read({ namespace, hook: name, sender }: HookMessage): Promise<Hook | string> {
    const get = (): Promise<HookSecret> => client.get(resourcePaths.secrets, { namespace, name }, { deadlineMs: READ_DEADLINE_MS })
    try {
      return readHook(await readers.run(sender, get))
    } catch (error) {
      if (isNotFound(error)) return 'there is no Secret with that name'
      if (isForbidden(error)) return `the API may not read the Secret: ${error.message}`
      if (!isAppError(error) || error.code === 'RATE_LIMITED' || error === sender.signal.reason) throw error
      throw new AppError('REVIEW_UNAVAILABLE', "the API server did not return the hook's Secret", { hint: 'Try again.', cause: error })
    }
  }

  return {
    async admit(message) {
      const signature = parseSignature(message.signature)
      if (signature === null) refuse(message, 'x-tranche-signature is not t=SECONDS,v1=HEX')
      const awayMs = Math.abs(clock.nowMs() - signature.seconds * 1000)
      if (awayMs > REPLAY_WINDOW_SECONDS * 1000)
        refuse(message, `its timestamp is ${Math.round(awayMs / 1000)} s away from the clock of the API`)
      if (!namePattern.test(message.namespace) || !namePattern.test(message.hook)) refuse(message, 'the name is not a valid Secret name')
      const hook = await read(message)
      const key = typeof hook === 'string' ? randomBytes(32) : hook.key
      const isSigned = isSignedWith(key, message.body, signature)
      if (typeof hook === 'string') refuse(message, hook)
      if (!isSigned) refuse(message, 'the signature does not match: another key, or a changed body', linesOfHooks)
      return { hook, repeatableSinceMs: (signature.seconds - REPLAY_WINDOW_SECONDS) * 1000 }
    },
    allow(hook, action) {
      const { namespace, name, actions } = hook
      if (!actions.has(action)) refuse({ namespace, hook: name }, `the hook does not allow ${action}`, linesOfHooks)
    },
  }
}
