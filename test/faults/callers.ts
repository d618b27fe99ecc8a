import { type ApiClient, createApiClient } from '@tranche/api-client'
import type { ActionAnswer, ActionBody } from '@tranche/api-schema'
import { sleep } from '@tranche/clock'
import { type ErrorCode, isAppError } from '@tranche/errors'
import { stageKey } from '../scenarios/stage-objects.ts'
import type { Ask } from './schedule.ts'
import type { World } from './world.ts'

/** People who steer by the REST API, as the dashboard and the command line do it. */
export interface Callers {
  /** @returns when it is answered, or nobody waits for it any more */
  ask(ask: Ask): Promise<void>
  /** Resolves when nothing that was asked is under way. */
  settled(): Promise<void>
  /** In the order in which they were sent first. */
  asked(): readonly Asked[]
}

/** An action that was sent to the API, and the answer. Moments are epoch milliseconds by the world's clock. */
export interface Asked {
  readonly key: string
  readonly type: Ask['type']
  readonly body: ActionBody
  readonly sentMs: number
  readonly outcome: Outcome
  /** Codes with which it was answered before it was sent again. */
  readonly faults: readonly string[]
}

/** Nobody knows of what was not answered whether it was written. */
export type Outcome =
  | { readonly kind: 'answered'; readonly atMs: number; readonly answer: ActionAnswer }
  | { readonly kind: 'refused'; readonly atMs: number; readonly code: string }
  | { readonly kind: 'unanswered'; readonly code: string }

/** How often a person sends an action again by hand, each time as often as a client does it by itself. */
const MOST_TIMES = 3
const AGAIN_MS = 5_000
/** How often somebody looks whether there is something to ask for. */
const MOST_LOOKS = 20
const LOOK_MS = 1_000
/** Codes of errors that pass by themselves, or whose outcome is unknown: such an action is sent again, with the same key. */
const passing: readonly ErrorCode[] = [
  ...(['API_UNREACHABLE', 'API_DEADLINE', 'NOT_READY', 'REVIEW_UNAVAILABLE', 'WRITE_CONFLICT', 'RATE_LIMITED'] as const),
  ...(['API_REFUSED', 'INVARIANT_BROKEN'] as const),
]

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
    if (seen === undefined) return world.note(`somebody wants to ${operation.type} over REST, and sees no reason to`)
    await sleep(clock, operation.lookedMs)
    const key = `ask-${++keys}`
    // By its reason an action is known again on the record.
    const body = { ...seen, reason: key }
    const sentMs = clock.nowMs()
    world.note(`somebody asks the API to ${operation.type} ${JSON.stringify(body)}, as ${key}`)
    const faults: string[] = []
    const outcome = await send(operation, { key, body, faults })
    world.note(`the API has answered ${key}: ${outcomeText(outcome)}`)
    asked.push({ key, type: operation.type, body, sentMs, outcome, faults })
  }

  /** What waits for nobody yet may do so soon. */
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
        .catch((error: unknown) => world.note(`that came to nothing: ${String(error)}`))
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

/** What somebody sees who looks, and therefore says; undefined where nothing is to be asked for. */
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

const liftedByRetry: readonly string[] = ['ReleaseFailed', 'RevisionHeld', 'StrategyContested']

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
