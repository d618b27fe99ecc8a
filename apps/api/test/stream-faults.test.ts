import type { RolloutSummary } from '@tranche/api-schema'
import { FakeClock } from '@tranche/clock'
import type { ObjectKey } from '@tranche/kube-types'
import { type Logger, silentLogger } from '@tranche/telemetry'
import { expect, it } from 'vitest'
import { createStreamHub } from '../src/stream/stream-hub.ts'
import { aSummary } from './fixtures.ts'

const keys = ['good', 'bad'].map((name) => ({ namespace: 'demo', name }))

/** A hub over two Rollouts, of which `bad` cannot be summarized while `isBad`. */
function hubOver(isBad: boolean) {
  const clock = new FakeClock()
  const lines: unknown[] = []
  const log: Logger = { ...silentLogger, error: ({ object }, message) => void lines.push(`${message}: ${String(object)}`) }
  const state = { isBad, message: 'one', changed: (_key: ObjectKey): void => {} }
  const hub = createStreamHub({
    clock,
    log,
    source: {
      keys: () => keys,
      summary({ name }): RolloutSummary {
        if (name === 'bad' && state.isBad) throw new RangeError('Invalid time value')
        return aSummary({ name, message: state.message })
      },
      positions: () => ['1', '1'],
      whenReached: async () => {},
      events: () => [],
      subscribe: (changed) => ((state.changed = changed), () => {}),
    },
  })
  const sent: string[] = []
  hub.subscribe(({ messages }) => sent.push(...messages.map(({ line }) => line)))
  const change = (): void => {
    for (const key of keys) state.changed(key)
    clock.advance(1_000)
  }
  return { hub, state, change, sent, lines }
}

it('the stream starts although a Rollout cannot be summarized, and leaves it out', () => {
  const { hub, lines } = hubOver(true)
  expect(hub.snapshot().messages.map(({ key }) => key.name)).toEqual(['good'])
  expect(lines).toEqual(['left out a Rollout that cannot be summarized: demo/bad'])
})

it('a Rollout that cannot be summarized any more is withdrawn once, and the others are still published', () => {
  const { state, change, sent, lines } = hubOver(false)
  state.isBad = true
  state.message = 'two'
  change()
  change()
  expect(sent.map((line) => /"type":"(\w+)".*"name":"(\w+)"/.exec(line)?.slice(1).join(' '))).toEqual(['rollout good', 'gone bad'])
  expect(lines).toHaveLength(1)
  state.isBad = false
  change()
  expect(sent.at(-1)).toContain('"name":"bad"')
})
