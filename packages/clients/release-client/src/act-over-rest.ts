import type { ApiClient } from '@tranche/api-client'
import type { RecordedAction, ActionAnswer, ActionBody } from '@tranche/api-schema'
import { AppError, isAppError } from '@tranche/errors'
import type { ObjectKey } from '@tranche/kube-types'
import { keyedActionId } from '@tranche/actions'
import type { AskOptions, ClientAction } from './release-client.ts'

/** Maximum wait for the response to one request of the REST API, in milliseconds. */
const LONGEST_WAIT_MS = 60_000

/**
 * Sends an action to the REST API, and repeats it with the same key until the controller has acted on it or `waitMs` is over. The server
 * carries it out once.
 *
 * Some members of the action may come from what the client saw rather than from the user (`seen`). With a key, a repetition is the same
 * action even if it sees other values: it sends the recorded members.
 */
export async function actOverRest(client: ApiClient, { key, action }: RestAction, options: AskOptions = {}): Promise<ActionAnswer> {
  const { idempotencyKey = crypto.randomUUID(), waitMs, seen = [] } = action
  const ask = (body: ActionBody, leftMs: number): Promise<ActionAnswer> => {
    const call = { ...options, waitMs: Math.min(leftMs, LONGEST_WAIT_MS), idempotencyKey }
    return askOnce(client, { key, action: { ...action, body } }, call)
  }
  let body = action.body
  const first = await ask(body, waitMs).catch(async (error: unknown) => {
    const recorded = isKeyOfAnother(error) && seen.length > 0 ? await recordedAction(client, { key, action }, options) : undefined
    if (recorded === undefined) throw error
    body = { ...body, ...Object.fromEntries(seen.map((member) => [member, recorded[member]])) }
    return ask(body, waitMs)
  })
  let answer = first
  for (let leftMs = waitMs - LONGEST_WAIT_MS; leftMs > 0 && answer.state === 'accepted'; leftMs -= LONGEST_WAIT_MS)
    answer = await ask(body, leftMs)
  return { ...answer, repeated: first.repeated }
}

/** Action and its object. */
export interface RestAction {
  readonly key: ObjectKey
  readonly action: ClientAction
}

type ActionCall = NonNullable<Parameters<ApiClient['act']>[3]>

async function askOnce(client: ApiClient, { key, action }: RestAction, call: ActionCall): Promise<ActionAnswer> {
  const { on = 'Rollout', type, body, dryRun = false } = action
  if (on === 'Rollout' && !dryRun) return client.act(key, type, body, call)
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

async function recordedAction(client: ApiClient, { key, action }: RestAction, options: AskOptions): Promise<RecordedAction | undefined> {
  if (action.idempotencyKey === undefined) return undefined
  const [{ username }, { actions }] = await Promise.all([client.me(options), client.history(key, options)])
  const id = keyedActionId('rest', username, action.idempotencyKey)
  return actions.find((action) => action.id === id)
}

function notOffered({ on = 'Rollout', type, dryRun }: Pick<ClientAction, 'on' | 'type' | 'dryRun'>): AppError {
  const what = on === 'Rollout' ? `${type} with dryRun=${dryRun}` : `${type} of a DaemonSet`
  return new AppError('OPTION_INVALID', `the REST API does not offer ${what}`, { hint: 'Omit --server to use the cluster directly.' })
}
