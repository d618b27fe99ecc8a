import type { Rollout } from '@tranche/api-schema'
import { describe, expect, it } from 'vitest'
import { sentence, stopText } from '../src/stop-text.ts'

type Status = NonNullable<Rollout['status']>

describe('why a forecast release stops', () => {
  it('is the failure, without the commands for a release that exists', () => {
    const failure: NonNullable<Status['failure']> = {
      reason: 'CrashLoop',
      message: 'container agent crashed on node-1',
      nodes: ['node-1'],
      stops: true,
    }
    const status = { message: 'step 1: container agent crashed; run tranche retry node-agent', failure } as Status
    expect(stopText({ status })).toBe('Container agent crashed on node-1')
    expect(stopText({ status: { ...status, failure: { ...failure, stops: false } } })).toBe(
      'Step 1: container agent crashed; run tranche retry node-agent',
    )
  })

  it.each([
    ['no node is in reach', 'No node is in reach'],
    ['node-1 is NotReady', 'node-1 is NotReady'],
    ['maxUnavailable is 0', 'maxUnavailable is 0'],
    ['spec.strategy is empty', 'spec.strategy is empty'],
    ['', ''],
  ])('%j begins with a capital letter unless it names an object or a field', (text, want) => {
    expect(sentence(text)).toBe(want)
  })
})
