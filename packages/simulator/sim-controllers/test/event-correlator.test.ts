import { FakeClock } from '@tranche/clock'
import { type ApiObject, createApiServer, resources } from '@tranche/sim-api'
import { createEventCorrelator, createEventRecorder } from '@tranche/sim-controllers'
import { describe, expect, it } from 'vitest'
import { daemonSet } from './builders.ts'

describe('events that repeat', () => {
  it('are counted on one event if they are equal', () => {
    const { observe } = correlatorOf()
    expect([observe('a'), observe('a'), observe('b')]).toEqual(['1 a', '2 a', '1 b'])
  })

  it('are combined from the tenth on if only their message differs', () => {
    const { observe } = correlatorOf()
    const all = Array.from({ length: 12 }, (_, at) => observe(`pod-${at}`))
    expect(all.slice(8)).toEqual([
      '1 pod-8',
      '1 (combined from similar events): pod-9',
      '2 (combined from similar events): pod-10',
      '3 (combined from similar events): pod-11',
    ])
  })

  it('are separate again after ten quiet minutes', () => {
    const { observe, clock } = correlatorOf()
    for (let at = 0; at < 12; at++) observe(`pod-${at}`)
    clock.advance(600_001)
    expect(observe('pod-12')).toBe('1 pod-12')
  })

  it('are dropped after 25 of one object, except for one every five minutes', () => {
    const { observe, clock } = correlatorOf()
    expect(Array.from({ length: 26 }, () => observe('a')).slice(24)).toEqual(['25 a', undefined])
    clock.advance(299_999)
    expect(observe('a')).toBeUndefined()
    clock.advance(1)
    expect(observe('a')).toBe('28 a')
  })
})

describe('the recorder', () => {
  it('creates an event once and counts repetitions on it, with the times of the first and the last', async () => {
    const clock = new FakeClock(Date.parse('2026-01-01T00:00:00Z'))
    const client = createApiServer({ clock, seed: 1 }).clientFor({ name: 'tests' })
    const recorder = createEventRecorder(client, clock, 'tests')
    const about = { ...daemonSet(), metadata: { ...daemonSet().metadata, namespace: 'default' } }
    recorder.record(about, 'Warning', 'FailedCreate', 'no room')
    recorder.record(about, 'Warning', 'FailedCreate', 'no room')
    await clock.advanceAsync(5000)
    recorder.record(about, 'Warning', 'FailedCreate', 'no room')
    recorder.record(about, 'Normal', 'SuccessfulCreate', 'Created pod: a')
    await clock.advanceAsync(0)
    const { items } = await client.list(resources.events)
    expect(items.map(inShort)).toEqual([
      '3 Warning FailedCreate no room 00:00 00:05',
      '1 Normal SuccessfulCreate Created pod: a 00:05 00:05',
    ])
  })
})

function correlatorOf(): { readonly clock: FakeClock; observe(message: string): string | undefined } {
  const clock = new FakeClock()
  const correlator = createEventCorrelator(() => clock.monotonicMs())
  return {
    clock,
    observe(message) {
      const series = correlator.observe(daemonSet(), 'Normal', 'SuccessfulCreate', message)
      return series && `${series.count} ${series.text}`
    },
  }
}

function inShort(event: ApiObject): string {
  const { type, reason, message, count, firstTimestamp, lastTimestamp } = event as unknown as Readonly<Record<string, string>>
  return `${count} ${type} ${reason} ${message} ${firstTimestamp!.slice(14, 19)} ${lastTimestamp!.slice(14, 19)}`
}
