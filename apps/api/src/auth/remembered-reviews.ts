import { createHash } from 'node:crypto'
import type { Clock } from '@tranche/clock'
import { AppError, isAppError } from '@tranche/errors'
import { LRUCache } from 'lru-cache'
import { type Caller, callerKey } from './caller.ts'
import type { Question, Reviews } from './reviews.ts'

/** How long an answer counts, and how many are kept. */
export interface ReviewMemory {
  /** Milliseconds. @default 10000 */
  readonly rememberMs?: number
  /** Tokens. @default 4096 */
  readonly tokens?: number
  /** Pairs of caller and question. @default 16384 */
  readonly decisions?: number
  /** How long it is remembered that a token was good once, in milliseconds: it is asked about again, and is nobody new. @default 3600000 */
  readonly acquaintedMs?: number
}

/** What is known of a token at this moment. */
export type TokenStanding =
  /** Somebody was known by it within the hour. `sender` is the same for the same token, and tells nothing of it. */
  | { readonly kind: 'good'; readonly sender: string }
  /** Nobody is known by it. */
  | { readonly kind: 'bad' }
  /** The API server has to be asked. */
  | { readonly kind: 'new' }

/** Reviews that remember their answers, yes and no alike, and count how often they had to ask. */
export interface RememberedReviews extends Reviews {
  /** Tells what is known of a token, and asks nobody. */
  standingOf(token: string): TokenStanding
}

/** Told of each review that was asked of the API server. */
export type OnReview = (kind: 'token' | 'access', result: 'yes' | 'no' | 'failed') => void

/** An answer is asked anew in the last part of the time for which it counts. */
const LAST_PART = 0.2

/** No token is longer: a request line and its headers end sooner. */
const TOKEN_MAX = 16_384

/**
 * Remembers answers for a short while. Whoever asks for what is being asked waits for the same answer. What is about to be forgotten is
 * asked anew when it is told, and nobody waits for that: callers who come again and again never wait. What the API server did not
 * answer is remembered by nobody.
 *
 * Tokens are kept as hashes: a dump of this memory lets nobody in.
 *
 * @throws {AppError} REVIEW_UNAVAILABLE where the API server does not answer, or not to us
 */
export function rememberReviews(
  reviews: Reviews,
  clock: Clock,
  {
    rememberMs = 10_000,
    tokens = 4_096,
    decisions = 16_384,
    acquaintedMs = 3_600_000,
    onReview = () => {},
  }: ReviewMemory & { readonly onReview?: OnReview } = {},
): RememberedReviews {
  const common = { ttl: rememberMs, ttlResolution: 0, perf: { now: () => clock.monotonicMs() + 1 } }
  const callers = new LRUCache<string, { readonly caller: Caller | null }>({ ...common, max: tokens })
  const allowed = new LRUCache<string, { readonly allowed: boolean }>({ ...common, max: decisions })
  const acquainted = new LRUCache<string, true>({ ...common, ttl: acquaintedMs, max: tokens })
  const asked = new Map<string, Promise<unknown>>()

  /** One question at a time for each key. Nobody's signal ends a question that others wait for. */
  function once<T>(key: string, ask: () => Promise<T>): Promise<T> {
    const under = asked.get(key) as Promise<T> | undefined
    if (under !== undefined) return under
    const asking = ask().finally(() => asked.delete(key))
    asked.set(key, asking)
    return asking
  }

  /** What is remembered, or else the answer. */
  async function recalled<T extends object>(memory: LRUCache<string, T>, key: string, { ask, isRenewed }: Recall<T>): Promise<T> {
    const asking = (): Promise<T> =>
      once(key, async () => {
        const answer = await ask()
        memory.set(key, answer)
        return answer
      })
    const known = memory.get(key)
    if (known === undefined) return asking()
    if (isRenewed(known) && memory.getRemainingTTL(key) < LAST_PART * rememberMs) asking().catch(() => {})
    return known
  }

  return {
    standingOf(token) {
      if (token.length > TOKEN_MAX) return { kind: 'bad' }
      const hash = hashOf(token)
      if (callers.get(hash)?.caller === null) return { kind: 'bad' }
      return acquainted.has(hash) ? { kind: 'good', sender: `token ${hash}` } : { kind: 'new' }
    },
    async authenticate(token) {
      if (token.length > TOKEN_MAX) return null
      const hash = hashOf(token)
      const ask = async () => {
        const caller = await answered('token', () => reviews.authenticate(token), onReview)
        if (caller === null) acquainted.delete(hash)
        else acquainted.set(hash, true)
        return { caller }
      }
      // Who sends the same guess again and again must not have it looked at behind the back of those who wait.
      return (await recalled(callers, hash, { ask, isRenewed: ({ caller }) => caller !== null })).caller
    },
    async isAllowed(caller, question) {
      const ask = async () => ({ allowed: await answered('access', () => reviews.isAllowed(caller, question), onReview) })
      const key = `${callerKey(caller)} ${questionKey(question)}`
      return (await recalled(allowed, key, { ask, isRenewed: () => true })).allowed
    },
  }
}

interface Recall<T> {
  readonly ask: () => Promise<T>
  /** Whether it is asked anew in the last part of its time. */
  readonly isRenewed: (known: T) => boolean
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url')
}

function questionKey(question: Question): string {
  if (question.kind === 'path') return JSON.stringify([question.verb, question.path])
  const { verb, group, resource, namespace, name } = question
  return JSON.stringify([verb, group, resource, namespace, name])
}

async function answered<T>(kind: Parameters<OnReview>[0], ask: () => Promise<T>, onReview: OnReview): Promise<T> {
  try {
    const answer = await ask()
    onReview(kind, answer ? 'yes' : 'no')
    return answer
  } catch (error) {
    onReview(kind, 'failed')
    if (!isAppError(error)) throw error
    throw new AppError('REVIEW_UNAVAILABLE', `the API server did not say who sends the request, or what they may do: ${error.message}`, {
      hint: 'Try again. If it stays so, grant the account of the API create on tokenreviews and subjectaccessreviews.',
      cause: error,
    })
  }
}
