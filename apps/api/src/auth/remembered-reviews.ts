import { createHash } from 'node:crypto'
import type { Clock } from '@tranche/clock'
import { AppError, isAppError } from '@tranche/errors'
import { LRUCache } from 'lru-cache'
import { type ClientGroup, clientGroupOf } from '../limits/client-group.ts'
import { lifetime } from '../limits/lifetime.ts'
import { type Caller, callerKey } from './caller.ts'
import type { Question, Reviews } from './reviews.ts'

/** Lifetime and number of cached answers. */
export interface ReviewMemory {
  /** Lifetime of a cached answer, in milliseconds. @default 10000 */
  readonly rememberMs?: number
  /** Maximum number of cached tokens. @default 4096 */
  readonly tokens?: number
  /** Maximum number of cached pairs of caller and question. @default 16384 */
  readonly decisions?: number
  /** Time for which a token that was valid once is not treated as new, in milliseconds; it is still reviewed again. @default 3600000 */
  readonly acquaintedMs?: number
}

/** Cached knowledge about a token. */
export type TokenStanding =
  /** It was valid within `acquaintedMs`, for a client of this {@link clientGroupOf}. */
  | { readonly kind: 'good'; readonly sender: ClientGroup }
  /** The API server rejected it. */
  | { readonly kind: 'bad' }
  /** It has not been reviewed. */
  | { readonly kind: 'new' }

/** Reviews with a cache of positive and negative answers. */
export interface RememberedReviews extends Reviews {
  /** @returns the cached state of a token, without a request to the API server */
  standingOf(token: string): TokenStanding
}

/** Called for each review sent to the API server. */
export type OnReview = (kind: 'token' | 'access', result: 'yes' | 'no' | 'failed') => void

/** Fraction of the lifetime, at its end, in which a cached answer is refreshed in the background. */
const LAST_PART = 0.2

/** Maximum length of a token, in characters; the header limit of the server is lower. */
const TOKEN_MAX = 16_384

/**
 * Caches reviews. Concurrent requests for the same key share one review. An answer that is about to expire is refreshed in the
 * background, so that frequent callers never wait. Failed reviews are not cached.
 *
 * Tokens are kept as hashes: a memory dump reveals no token.
 *
 * @throws {AppError} REVIEW_UNAVAILABLE if the API server does not answer, or denies us the review
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
  const common = { clock, rememberMs }
  // Rejected tokens are not refreshed in the background: repeated guesses would bypass the queue of unauthenticated clients.
  const callers = new AnswerCache<{ readonly caller: Caller | null }>({
    ...common,
    max: tokens,
    isRenewed: ({ caller }) => caller !== null,
  })
  const allowed = new AnswerCache<{ readonly allowed: boolean }>({ ...common, max: decisions, isRenewed: () => true })
  const acquainted = new LRUCache<string, ClientGroup>({ ...lifetime(clock, acquaintedMs), max: tokens })
  return {
    standingOf(token) {
      if (token.length > TOKEN_MAX) return { kind: 'bad' }
      const hash = hashOf(token)
      if (callers.get(hash)?.caller === null) return { kind: 'bad' }
      const sender = acquainted.get(hash)
      return sender === undefined ? { kind: 'new' } : { kind: 'good', sender }
    },
    async authenticate(token) {
      if (token.length > TOKEN_MAX) return null
      const hash = hashOf(token)
      const answer = await callers.recall(hash, async () => {
        const caller = await answered('token', () => reviews.authenticate(token), onReview)
        if (caller === null) acquainted.delete(hash)
        else acquainted.set(hash, clientGroupOf(caller.username))
        return { caller }
      })
      return answer.caller
    },
    async isAllowed(caller, question) {
      const answer = await allowed.recall(`${callerKey(caller)} ${questionKey(question)}`, async () => ({
        allowed: await answered('access', () => reviews.isAllowed(caller, question), onReview),
      }))
      return answer.allowed
    },
    rightFor: (question) => reviews.rightFor(question),
  }
}

interface AnswerCacheOptions<T> {
  readonly clock: Clock
  /** Lifetime of an answer, in milliseconds. */
  readonly rememberMs: number
  /** Maximum number of answers. */
  readonly max: number
  /** Whether the answer is refreshed in the last part of its lifetime. */
  readonly isRenewed: (answer: T) => boolean
}

/** Answers of one kind of review, by key. */
class AnswerCache<T extends object> {
  readonly #options: AnswerCacheOptions<T>
  readonly #answers: LRUCache<string, T>
  /** Reviews in progress. */
  readonly #asked = new Map<string, Promise<T>>()

  constructor(options: AnswerCacheOptions<T>) {
    this.#options = options
    this.#answers = new LRUCache({ ...lifetime(options.clock, options.rememberMs), max: options.max })
  }

  /** @returns the cached answer */
  get(key: string): T | undefined {
    return this.#answers.get(key)
  }

  /** @returns the cached answer; without one, the answer of a new review */
  async recall(key: string, ask: () => Promise<T>): Promise<T> {
    const { rememberMs, isRenewed } = this.#options
    const known = this.#answers.get(key)
    if (known === undefined) return this.#review(key, ask)
    if (isRenewed(known) && this.#answers.getRemainingTTL(key) < LAST_PART * rememberMs) this.#review(key, ask).catch(() => {})
    return known
  }

  /** Runs one review at a time per key. The signal of one request does not cancel a review that others wait for. */
  #review(key: string, ask: () => Promise<T>): Promise<T> {
    const under = this.#asked.get(key)
    if (under !== undefined) return under
    const asking = this.#ask(key, ask).finally(() => this.#asked.delete(key))
    this.#asked.set(key, asking)
    return asking
  }

  async #ask(key: string, ask: () => Promise<T>): Promise<T> {
    const answer = await ask()
    this.#answers.set(key, answer)
    return answer
  }
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
    throw new AppError('REVIEW_UNAVAILABLE', `the API server did not answer the review of the token or of the access: ${error.message}`, {
      hint: "Try again. If it persists, grant the API's service account create on tokenreviews and subjectaccessreviews.",
      cause: error,
    })
  }
}
