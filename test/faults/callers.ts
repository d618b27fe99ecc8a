import { type ApiClient, createApiClient, loadSchemas } from '@tranche/api-client'
import type { ActionAnswer, ActionBody } from '@tranche/api-schema'
import { sleep } from '@tranche/clock'
import { type ErrorCode, isAppError } from '@tranche/errors'
import { stageKey } from '../scenarios/stage-objects.ts'
import type { Ask } from './schedule.ts'
import type { World } from './world.ts'

/** People who use the REST API, as the dashboard and the command line do. */
export interface Callers {
  /** @returns when the action is answered, or when the caller stops waiting */
  ask(ask: Ask): Promise<void>
  /** Resolves when no request is in progress. */
  settled(): Promise<void>
  /** In the order in which they were first sent. */
  asked(): readonly Asked[]
}

/** An action that was sent to the API, and the answer. Times are epoch milliseconds by the world's clock. */
export interface Asked {
  readonly key: string
  readonly type: Ask['type']
  readonly body: ActionBody
  readonly sentMs: number
  readonly outcome: Outcome
  /** Error codes of earlier attempts. */
  readonly faults: readonly string[]
}

/** An unanswered action may or may not have been written. */
export type Outcome =
  | { readonly kind: 'answered'; readonly atMs: number; readonly answer: ActionAnswer }
  | { readonly kind: 'refused'; readonly atMs: number; readonly code: string }
  | { readonly kind: 'unanswered'; readonly code: string }

/** Maximum number of times that a person sends an action, each with all the retries of the client. */
const MOST_TIMES = 3
const AGAIN_MS = 5_000
/** Maximum number of looks for something to ask for. */
const MOST_LOOKS = 20
const LOOK_MS = 1_000
/** Codes of errors that are transient, or whose outcome is unknown: such an action is sent again, with the same key. */
const passing: readonly ErrorCode[] = [
  ...(['API_UNREACHABLE', 'API_DEADLINE', 'NOT_READY', 'REVIEW_UNAVAILABLE', 'WRITE_CONFLICT', 'RATE_LIMITED'] as const),
  ...(['API_REFUSED', 'INVARIANT_BROKEN'] as const),
]

await loadSchemas()

/** @param world in which the API runs */
export function createCallers(world: World): Callers {
  const { clock, simulator, fetchApi } = world
  const token = simulator.tokenFor('person')
  const client = createApiClient({ fetch: fetchApi, baseUrl: 'http://tranche-api', token: () => token, clock })
  const asked: Asked[] = []
  const underWay = new Set<Promise<void>>()
  let keys = 0

  async function ask(operation: Ask): Promise<void> {
    const seen = await lookUntilSeen(operation.type)
    if (seen === undefined) return world.note(`a person wants to ${operation.type} over REST, and sees no reason to`)
    await sleep(clock, operation.lookedMs)
    const key = `ask-${++keys}`
    // The reason identifies the action on the record.
    const body = { ...seen, reason: key }
    const sentMs = clock.nowMs()
    world.note(`a person asks the API to ${operation.type} ${JSON.stringify(body)}, as ${key}`)
    const faults: string[] = []
    const outcome = await send(operation, { key, body, faults })
    world.note(`the API has answered ${key}: ${outcomeText(outcome)}`)
    asked.push({ key, type: operation.type, body, sentMs, outcome, faults })
  }

  /** Waits for a state in which the action makes sense. */
  async function lookUntilSeen(type: Ask['type']): Promise<ActionBody | undefined> {
    for (let looks = 1; ; looks++) {
      const body = await look(client, type)
      if (body !== undefined || looks === MOST_LOOKS) return body
      await sleep(clock, LOOK_MS)
    }
  }

  async function send(
    { type, waitMs }: Ask,
    { key, body, faults }: { readonly key: string; readonly body: ActionBody; readonly faults: string[] },
  ): Promise<Outcome> {
    for (let time = 1; ; time++) {
      try {
        const answer = await client.act(stageKey, type, body, { idempotencyKey: key, waitMs })
        return { kind: 'answered', atMs: clock.nowMs(), answer }
      } catch (error) {
        if (!isAppError(error)) throw error
        const { code } = error
        if (!passing.includes(code)) return { kind: 'refused', atMs: clock.nowMs(), code }
        faults.push(code)
        if (time === MOST_TIMES) return { kind: 'unanswered', code }
        await sleep(clock, AGAIN_MS)
      }
    }
  }

  return {
    ask(operation) {
      const done = ask(operation)
        .catch((error: unknown) => world.note(`the operation failed: ${String(error)}`))
        .finally(() => underWay.delete(done))
      underWay.add(done)
      return done
    },
    async settled() {
      while (underWay.size > 0) await Promise.all(underWay)
    },
    asked: () => asked,
  }
}

/** State that a person sees, and therefore states in the action; undefined if there is no action to request. */
async function look(client: ApiClient, type: Ask['type']): Promise<ActionBody | undefined> {
  const { step, canaryRevision, paused, reason } = await client.rollout(stageKey)
  const on = { ...(step && { expectedStep: step.index }), ...(canaryRevision !== undefined && { revision: canaryRevision }) }
  switch (type) {
    case 'approve':
      return step?.state === 'StepPaused' ? on : undefined
    case 'resume':
      return paused ? {} : undefined
    case 'retry':
      return liftedByRetry.includes(reason) ? {} : undefined
    case 'jump':
      return step && { ...on, step: (step.index % step.count) + 1 }
    case 'promote':
    case 'abort':
      return on
    case 'undo': {
      const [, before] = await client.revisions(stageKey)
      return before && { toRevision: before.revision }
    }
    default:
      return {}
  }
}

const liftedByRetry: readonly string[] = ['ReleaseFailed', 'RevisionHeld', 'StrategyConflict']

function outcomeText(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'answered':
      return `${outcome.answer.state}${outcome.answer.repeated ? ', once more' : ''}: ${outcome.answer.message}`
    case 'refused':
      return `refused, ${outcome.code}`
    case 'unanswered':
      return `not at all, ${outcome.code}`
    default:
      return outcome satisfies never
  }
}
