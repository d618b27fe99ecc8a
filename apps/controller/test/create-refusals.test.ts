import { FakeClock } from '@tranche/clock'
import type { FleetView } from '@tranche/fleet'
import { createKubeClient } from '@tranche/kube-client'
import { silentLogger } from '@tranche/telemetry'
import { expect, it } from 'vitest'
import { createCreateRefusals } from '../src/ports/create-refusals.ts'

const never = new AbortController().signal
const daemonSet = { metadata: { uid: 'u', namespace: 'demo', name: 'agent' } } as never
const missing = { blocks: [[{ name: 'node-1', desired: true, pods: [] }]] } as unknown as FleetView
const event = (second: number, message: string): object => ({
  metadata: { name: `e${second}`, namespace: 'demo' },
  lastTimestamp: `2026-11-24T00:00:${String(second).padStart(2, '0')}Z`,
  message,
})

async function refusalBy(items: readonly object[]): Promise<string | undefined> {
  const clock = new FakeClock()
  const exchange = async () => ({
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: (async function* () {
      yield JSON.stringify({ kind: 'EventList', apiVersion: 'v1', metadata: { resourceVersion: '1' }, items })
    })(),
  })
  const client = createKubeClient({ exchange, clock, userAgent: 'test/1', log: silentLogger })
  const refusals = createCreateRefusals({ client, clock, exists: () => true })
  await refusals.of(daemonSet, missing, never)
  clock.advance(5_000)
  return refusals.of(daemonSet, missing, never)
}

it('the newest event explains why no pod is created', async () => {
  const items = [event(1, 'old'), event(3, '(combined from similar events): Error creating: quota'), event(2, 'older')]
  expect(await refusalBy(items)).toBe('Error creating: quota')
})

it('a message of a tenant is cut to the length of events.k8s.io', async () => {
  expect(await refusalBy([event(1, 'm'.repeat(1_000_000))])).toBe(`${'m'.repeat(1_023)}…`)
})

it('without an event there is no reason', async () => {
  expect(await refusalBy([])).toBe(undefined)
})

it('a DaemonSet that was deleted before a node got its pod is forgotten', async () => {
  const clock = new FakeClock()
  const client = createKubeClient({
    exchange: () => Promise.reject(new Error('no request')),
    clock,
    userAgent: 'test/1',
    log: silentLogger,
  })
  const remembered: string[] = []
  const exists = ({ uid }: { readonly uid: string }): boolean => {
    remembered.push(uid)
    return uid === 'kept'
  }
  const refusals = createCreateRefusals({ client, clock, exists })
  for (const uid of ['kept', 'deleted', 'next']) {
    await refusals.of({ metadata: { uid, namespace: 'demo', name: uid } } as never, missing, never)
  }
  remembered.length = 0
  await refusals.of({ metadata: { uid: 'last', namespace: 'demo', name: 'last' } } as never, missing, never)
  expect(remembered).toEqual(['kept', 'next'])
})
