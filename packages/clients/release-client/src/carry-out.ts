import type { Rollout, ActionAnswer } from '@tranche/api-schema'
import { AppError, isAppError } from '@tranche/errors'
import { readSchemaGap } from '@tranche/cluster'
import { isConflict, isForbidden, isInvalid, type JsonPatchOperation, jsonPointer, testOp } from '@tranche/kube-client'
import { type DaemonSet, isSameJson, type KubeObject, keyText } from '@tranche/kube-types'
import {
  keyedActionId,
  planAction,
  targetOf,
  type Action,
  type ActionFacts,
  type ActionPlan,
  type ActionRejection,
  type ActionWrite,
  type WrittenAction,
} from '@tranche/actions'
import { awaitAnswer } from './await-answer.ts'
import { readActionFacts, type ReadOptions, resourceOf } from './read-action-facts.ts'
import { recordEvent } from './record-event.ts'
import type { ReleaseClientPorts, ActionOrder } from './action-order.ts'

/** Attempts on a write conflict: each one reads the object and judges the action again. */
const MOST_ATTEMPTS = 12
/** Attempts after which a stop is written over any other status. */
const ATTEMPTS_AS_READ = 3

/**
 * Carries out an action: reads the objects, judges the action, writes it in one patch, records an event, and waits for the answer if the
 * order asks for that. The controller decides about the release when it reads the action.
 *
 * - G10: a write since the read is never overwritten: the action is then judged again on the current state. An undo applies only to the
 * template that was read first.
 * - G11: the only other write is the event.
 * - Every attempt uses the same id, so a write whose response was lost is not made twice.
 * - After `signal` or `timeUp` nothing more is sent. An error after a write whose response was lost says that it may have been written.
 *
 * @returns `acknowledged` once the controller has acted on it; `accepted` without a wait, or if the wait was too short
 * @throws {AppError} for a refusal, with the fix as `hint`. Its code is MOVED_ON, ACTION_PENDING, ACTION_REJECTED, ACTION_INVALID,
 *   CRD_OUTDATED, IDEMPOTENCY_KEY_REUSED, REVISION_NOT_FOUND, ROLLOUT_NOT_FOUND, WORKLOAD_NOT_FOUND, or WRITE_CONFLICT if other clients
 *   change the object continuously. Errors of the Kubernetes client pass through.
 */
export async function carryOut(ports: ReleaseClientPorts, order: ActionOrder, options: CarryOptions = {}): Promise<ActionAnswer> {
  const action = toAction(order)
  const written = await writeAction(ports, { order, action }, untilWritten(options))
  if (written.kind === 'dryRun') return answer(action, 'accepted', `nothing written (dryRun); otherwise ${written.message}`)
  const standing = await awaitAnswer(ports, { order, written: written.action, facts: written.facts }, options)
  if (options.timeUp?.aborted !== true) await written.eventRecorded
  if (standing.kind === 'refused') throw refusalError(standing, order)
  const state = standing.kind === 'acknowledged' ? 'acknowledged' : 'accepted'
  return { ...answer(action, state, standing.message), repeated: written.repeated }
}

/** Limits of an order. */
export interface CarryOptions extends ReadOptions {
  /** Ends the order like `signal` until the action is written; after that it ends only the wait for the answer. */
  readonly timeUp?: AbortSignal | undefined
}

function untilWritten({ timeUp, ...options }: CarryOptions): ReadOptions {
  if (timeUp === undefined) return options
  return { ...options, signal: options.signal === undefined ? timeUp : AbortSignal.any([options.signal, timeUp]) }
}

function toAction({ idempotencyKey, ...order }: ActionOrder): Action {
  const { type, body, by, via, from, seen, repeatableSinceMs, trace } = order
  const id = idempotencyKey === undefined ? `${via}-${randomHex()}` : keyedActionId(via, by, idempotencyKey)
  return { id, type, body, by, via, from, seen, repeatableSinceMs, trace }
}

/** @returns sixteen hexadecimal digits. Web Crypto, because this package runs in browsers too. */
function randomHex(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

function answer({ id, type }: Action, state: ActionAnswer['state'], message: string): ActionAnswer {
  return { id, type, state, message, repeated: false }
}

type Written =
  | { readonly kind: 'dryRun'; readonly message: string }
  | {
      readonly kind: 'written'
      readonly action: WrittenAction
      /** Facts at the time of the write. */
      readonly facts: ActionFacts
      /** Whether an earlier request wrote it. */
      readonly repeated: boolean
      /** Settles when the event was written, or could not be. */
      readonly eventRecorded: Promise<void>
    }

interface Asked {
  readonly order: ActionOrder
  readonly action: Action
}

async function writeAction(ports: ReleaseClientPorts, { order, action }: Asked, options: ReadOptions): Promise<Written> {
  let mayBeOurs = false
  let asked = action
  let isForced = false
  /** Status that was read before the API server was known to keep every field of it. */
  let uncut: Rollout['status'] | null = null
  for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt += 1) {
    const read = await readActionFacts(ports.client, order, options).catch((error: unknown) => {
      throw mayBeOurs ? maybeWritten(action, error) : error
    })
    const facts = { ...read, nowMs: ports.clock.nowMs() }
    const plan = planAction(asked, facts)
    // The status may have been cut; a refusal based on a cut status is wrong. The schema is checked only if a field is gone. A longer time from
    // read to write makes conflicts more likely, and a stop must get through while the status is written continuously.
    const mayBeCut = uncut === null || lostMember(uncut, read.rollout?.status) !== undefined
    if (plan.kind !== 'repeated' && targetOf(action.type) === 'Rollout' && mayBeCut) {
      await refuseOutdated(ports, action, options).catch((error: unknown) => {
        throw mayBeOurs ? maybeWritten(action, error) : error
      })
      uncut = read.rollout?.status
    }
    if (plan.kind === 'refused') throw refusalError(plan, order)
    if (plan.kind === 'repeated') {
      const { record } = plan
      // This process's own write succeeded, but its response was lost: no event was recorded yet.
      const eventRecorded = mayBeOurs ? recordRepeated(ports, plan, facts) : Promise.resolve()
      return { kind: 'written', action: { record, generation: undefined }, facts, repeated: !mayBeOurs, eventRecorded }
    }
    if (order.dryRun === true) return { kind: 'dryRun', message: plan.message }
    options.signal?.throwIfAborted()
    asked = { ...asked, look: plan.look }
    const isStop: boolean = asksForStop(action) && (isForced || attempt > ATTEMPTS_AS_READ)
    const sent: Awaited<ReturnType<typeof send>> | 'mismatch' = await send(ports, plan, { ...options, read: read.rollout, isStop }).catch(
      (error: unknown): 'mismatch' => {
        // A status may have a value that no test equals, such as an integer that a number cannot hold. A stop gets through all the same.
        if (!isInvalid(error) || isStop || !asksForStop(action)) throw error
        return 'mismatch'
      },
    )
    isForced ||= sent === 'mismatch'
    mayBeOurs ||= sent === 'unknown'
    if (typeof sent !== 'object') continue
    const eventRecorded = recordEvent(ports, plan.target, sent, plan.record)
    const generation = sent.metadata.generation
    return {
      kind: 'written',
      action: { record: plan.record, generation },
      facts: withWritten(facts, plan, sent),
      repeated: false,
      eventRecorded,
    }
  }
  throw new AppError('WRITE_CONFLICT', `${order.on} ${keyText(order.key)} is being changed by other clients continuously`, {
    details: { attempts: MOST_ATTEMPTS },
    hint: 'Try again.',
  })
}

/** Error after a write was sent whose result cannot be read either. */
function maybeWritten({ id, type }: Action, error: unknown): AppError {
  const why = error instanceof Error ? error.message : String(error)
  return new AppError(isAppError(error) ? error.code : 'API_DEADLINE', `the ${type} was sent and may have been written: ${why}`, {
    details: { id },
    hint: `Look for ${id} in the history before you retry; the same Idempotency-Key writes it once.`,
    cause: error,
  })
}

async function recordRepeated(
  ports: ReleaseClientPorts,
  { target, record }: ActionPlan & { readonly kind: 'repeated' },
  facts: ActionFacts,
): Promise<void> {
  const object = target === 'Rollout' ? facts.rollout : facts.daemonSet
  if (object !== undefined) await recordEvent(ports, target, object, record)
}

function asksForStop({ type }: Action): boolean {
  return type === 'pause' || type === 'abort'
}

/**
 * F11: outdated definitions make the API server drop Tranche's fields from a Rollout on every write. The controller acts on no Rollout
 * then, so a refusal loses nothing. A stop depends on no schema: if none can be read, it is written all the same (G9).
 */
async function refuseOutdated({ client, log }: ReleaseClientPorts, action: Action, { signal }: ReadOptions): Promise<void> {
  const gap = await readSchemaGap(client, signal, ['Rollout']).catch((error: unknown) => {
    if (!isForbidden(error) && (!asksForStop(action) || signal?.aborted === true)) throw error
    log.warn({ err: error }, 'could not read which fields the API server keeps')
    return null
  })
  if (gap !== null) throw outdatedError(gap)
}

function outdatedError(gap: string): AppError {
  return new AppError('CRD_OUTDATED', `nothing was written, because any write would drop status fields: ${gap}`, {
    hint: 'Apply the files in packages/words/api-schema/crds, then retry.',
  })
}

interface SendOptions extends ReadOptions {
  /** Rollout that the plan was made from. */
  readonly read: Rollout | undefined
  /** @see stopPatch */
  readonly isStop: boolean
}

/**
 * Builds the patch of a stop, which must get through even if the status changes between each read and each write. The patch accepts another
 * status, but no other actions (G10) and no status that lacks a member (F11). The controller itself checks which step and revision it is
 * meant for.
 */
function stopPatch({ patch }: ActionWrite, { metadata, status }: Rollout): readonly JsonPatchOperation[] {
  // Copying a member onto itself changes nothing, but requires that it exists.
  const present = Object.keys(status ?? {}).map((name): JsonPatchOperation => {
    const path = jsonPointer('status', name)
    return { op: 'copy', from: path, path }
  })
  const others = patch.filter(({ path }) => !/^\/status(\/|$)/.test(path))
  return others.flatMap((operation): readonly JsonPatchOperation[] =>
    operation.path === '/metadata/resourceVersion'
      ? [testOp('/metadata/annotations', metadata.annotations ?? null), ...present]
      : [operation],
  )
}

/**
 * @returns the object as stored; `conflict` if it has changed since it was read; `unknown` if no response came
 * @throws other refusals of the server: a webhook, or missing permissions
 */
async function send(
  { client }: ReleaseClientPorts,
  plan: ActionWrite,
  { read, isStop, ...options }: SendOptions,
): Promise<KubeObject | 'conflict' | 'unknown'> {
  const resource = resourceOf(plan.target)
  try {
    return await client.patch<KubeObject>(
      resource,
      plan.key,
      { type: 'json', body: isStop && read !== undefined ? stopPatch(plan, read) : plan.patch },
      options,
    )
  } catch (error) {
    if (isConflict(error)) return 'conflict'
    if (isInvalid(error)) return (await isChanged(client, plan, { ...options, read, isStop })) ? 'conflict' : fail(error)
    if (options.signal?.aborted === true) return 'unknown'
    if (isAppError(error) && (error.code === 'API_DEADLINE' || error.code === 'API_UNREACHABLE')) return 'unknown'
    throw error
  }
}

/**
 * Distinguishes the two causes of a 422: a failed JSON Patch test, and an invalid value.
 *
 * @throws {AppError} CRD_OUTDATED if the same object has lost members of its status, because other definitions are served by now
 */
async function isChanged(
  client: ReleaseClientPorts['client'],
  plan: ActionWrite,
  { read, isStop: _any, ...options }: SendOptions,
): Promise<boolean> {
  const live = await client.get<Rollout>(resourceOf(plan.target), plan.key, options)
  if (live.metadata.resourceVersion !== plan.resourceVersion) return true
  if (plan.target !== 'Rollout' || isSameJson(live.status, read?.status)) return false
  const lost = lostMember(read?.status, live.status)
  if (lost !== undefined) throw outdatedError(`the served CustomResourceDefinition of Rollout lacks status.${lost}`)
  return true
}

/** @returns a member that the status had before and lacks now */
function lostMember(before: Rollout['status'], now: Rollout['status']): string | undefined {
  return Object.keys(before ?? {}).find((name) => !Object.hasOwn(now ?? {}, name))
}

function fail(error: unknown): never {
  throw error
}

function withWritten(facts: ActionFacts, { target }: ActionWrite, object: KubeObject): ActionFacts {
  return target === 'Rollout' ? { ...facts, rollout: object as Rollout } : { ...facts, daemonSet: object as DaemonSet }
}

function refusalError({ code, message, fix, path }: ActionRejection, { on, key, type }: ActionOrder): AppError {
  const details = { on, namespace: key.namespace, name: key.name, action: type, ...(path !== undefined && { path }) }
  return new AppError(code, message, { details, hint: `${fix.charAt(0).toUpperCase()}${fix.slice(1)}.` })
}
