import { afterEach, expect, it } from 'vitest'
import { ApiStatusError, type FaultInjector, type RequestFault } from '@tranche/sim-api'
import { expectKept } from './expect-kept.ts'
import { nodesOn, untilPausedAt, untilReleased } from './looks.ts'
import { setStage, type Stage } from './stage.ts'

let stage: Stage
afterEach(() => stage.end())

const seeds = Array.from({ length: 20 }, (_, at) => at + 1)
const ours = (actor: string): boolean => actor.startsWith('executor') || actor.startsWith('controller')

it.each(seeds)('a release ends although one request in ten fails and watches break, seed %i (G1 to G4, G6, G7)', async (seed) => {
  stage = await setStage({
    nodes: 12,
    maxUnavailable: 2,
    minReadySeconds: 1,
    steps: [{ replicas: '25%', pause: {} }, { replicas: '100%' }],
    executors: ['executor-1', 'executor-2'],
    seed,
  })
  const heal = stage.disturb(failing(seed))
  await stage.setImage('v2')
  await untilPausedAt(stage, 1, 3_600_000)
  expect(await nodesOn(stage, 'v2')).toHaveLength(3)
  await stage.patchRollout({ spec: { strategy: { paused: true } } })
  await stage.pass(5_000)
  await stage.patchRollout({ spec: { strategy: { paused: false } } })
  await untilPausedAt(stage, 1, 3_600_000)
  await stage.approve()
  await untilReleased(stage, 'v2', 3_600_000)
  heal()
  expectKept(stage)
})

/** One request in ten from Tranche fails. Before one event in forty, the watch breaks, falls behind or starts again. */
function failing(seed: number): FaultInjector {
  return {
    onRequest({ actor, count }) {
      const dice = roll(`${seed} ${actor} ${count}`)
      return ours(actor) && dice % 10 === 0 ? requestFaults[Math.floor(dice / 10) % requestFaults.length] : undefined
    },
    onEvent({ actor, watch, event }) {
      const dice = roll(`${seed} ${actor} ${watch} ${event} watch`)
      if (!ours(actor) || dice % 40 !== 0) return undefined
      const faults = [{ kind: 'cut' }, { kind: 'gap' }, { kind: 'delay', ms: 3_000 }, { kind: 'stall', ms: 5_000 }] as const
      return faults[Math.floor(dice / 40) % faults.length]
    },
  }
}

const requestFaults: readonly RequestFault[] = [
  { kind: 'conflict' },
  { kind: 'error', error: new ApiStatusError(500, 'InternalError', 'an injected fault') },
  { kind: 'error', error: new ApiStatusError(429, 'TooManyRequests', 'an injected fault', { retryAfterSeconds: 1 }) },
  { kind: 'cut', when: 'before' },
  { kind: 'cut', when: 'after' },
  { kind: 'delay', ms: 2_000, when: 'before' },
  { kind: 'delay', ms: 2_000, when: 'after' },
]

/** FNV-1a, mixed: a whole number that depends on the text alone. */
function roll(text: string): number {
  let sum = 0x811c9dc5
  for (let at = 0; at < text.length; at++) sum = Math.imul(sum ^ text.charCodeAt(at), 0x01000193)
  sum = Math.imul(sum ^ (sum >>> 16), 0x85ebca6b)
  return (sum ^ (sum >>> 13)) >>> 0
}
