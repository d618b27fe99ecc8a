import type { ApiClient } from '@tranche/api-client'
import type { RecordedAction, WishAnswer, WishBody } from '@tranche/api-schema'
import { AppError, isAppError } from '@tranche/errors'
import type { ObjectKey } from '@tranche/kube-types'
import { keyedWishId } from '@tranche/wishes'
import type { AskOptions, DeskWish } from './release-desk.ts'

/** The longest that the REST API waits for an answer to one request, in milliseconds. */
const LONGEST_WAIT_MS = 60_000

/**
 * Asks the REST API for a wish, and again with the same key for as long as `waitMs` says while the controller has not acted on it: it is
 * carried out once.
 *
 * A wish with a key some members of which were seen, and not said (`seen`), is the same wish whatever its repetition sees: it then says
 * what stands on the record.
 */
export async function wishOverRest(client: ApiClient, { key, wish }: Wanted, options: AskOptions = {}): Promise<WishAnswer> {
  const { idempotencyKey = crypto.randomUUID(), waitMs, seen = [] } = wish
  const ask = (body: WishBody, leftMs: number): Promise<WishAnswer> => {
    const call = { ...options, waitMs: Math.min(leftMs, LONGEST_WAIT_MS), idempotencyKey }
    return askOnce(client, { key, wish: { ...wish, body } }, call)
  }
  let body = wish.body
  const first = await ask(body, waitMs).catch(async (error: unknown) => {
    const recorded = isKeyOfAnother(error) && seen.length > 0 ? await recordedWish(client, { key, wish }, options) : undefined
    if (recorded === undefined) throw error
    body = { ...body, ...Object.fromEntries(seen.map((member) => [member, recorded[member]])) }
    return ask(body, waitMs)
  })
  let answer = first
  for (let leftMs = waitMs - LONGEST_WAIT_MS; leftMs > 0 && answer.state === 'accepted'; leftMs -= LONGEST_WAIT_MS)
    answer = await ask(body, leftMs)
  return { ...answer, repeated: first.repeated }
}

/** What is wished of what. */
export interface Wanted {
  readonly key: ObjectKey
  readonly wish: DeskWish
}

type WishCall = NonNullable<Parameters<ApiClient['wish']>[3]>

async function askOnce(client: ApiClient, { key, wish }: Wanted, call: WishCall): Promise<WishAnswer> {
  const { on = 'Rollout', type, body, dryRun = false } = wish
  if (on === 'Rollout' && !dryRun) return client.wish(key, type, body, call)
  if (on === 'Rollout' || type !== 'undo') throw notOffered({ on, type, dryRun })
  const { reason, toRevision, revision } = body
  const said = {
    ...(reason !== undefined && { reason }),
    ...(toRevision !== undefined && { toRevision }),
    ...(revision !== undefined && { revision }),
  }
  return client.rollBackDaemonSet(key, { dryRun, ...said }, call)
}

function isKeyOfAnother(error: unknown): boolean {
  return isAppError(error) && error.code === 'IDEMPOTENCY_KEY_REUSED'
}

async function recordedWish(client: ApiClient, { key, wish }: Wanted, options: AskOptions): Promise<RecordedAction | undefined> {
  if (wish.idempotencyKey === undefined) return undefined
  const [{ username }, { actions }] = await Promise.all([client.me(options), client.history(key, options)])
  const id = keyedWishId('rest', username, wish.idempotencyKey)
  return actions.find((action) => action.id === id)
}

function notOffered({ on = 'Rollout', type, dryRun }: Pick<DeskWish, 'on' | 'type' | 'dryRun'>): AppError {
  const what = on === 'Rollout' ? `${type} with dryRun=${dryRun}` : `${type} of a DaemonSet`
  return new AppError('OPTION_INVALID', `the REST API has no ${what}`, { hint: 'Leave --server out to ask the cluster itself.' })
}
