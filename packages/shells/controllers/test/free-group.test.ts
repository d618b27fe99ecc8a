import type { BatchRelease } from '@tranche/api-schema'
import type { Lease } from '@tranche/kube-types'
import { GROUP_LABEL } from '@tranche/kube-types'
import { holderText, LEAVING_ANNOTATION } from '@tranche/planner'
import { silentLogger } from '@tranche/telemetry'
import { describe, expect, it } from 'vitest'
import { freeGroup } from '../src/free-group.ts'
import { aReading, recordingPort, type RecordingPort } from './recording-port.ts'

const NAME = 'tranche-group.demo.agents'
const inGroup = { downtime: { group: 'agents' } }
const stopped = { state: 'stopped' } as const
const permits = [{ node: 'a', podUid: 'pod-a', podResourceVersion: '9' }]

describe('the Lease of a group passes on (G13)', () => {
  it('by a mark first, so that no pass that reads it later opens a record', async () => {
    const port = portWith(aReading(stopped, inGroup).release, {})
    await free(port)
    expect(port.calls).toEqual(['readLease', 'readHolder', 'markLeaving'])
  })

  it('then by another write of the record, and only then by its deletion', async () => {
    const port = portWith(aReading(stopped, inGroup).release, { [LEAVING_ANNOTATION]: 'true' })
    await free(port)
    expect(port.calls).toEqual(['readLease', 'readHolder', 'writeRecord stopped', 'deleteLease'])
    expect(port.records[0]).toMatchObject({ seq: 2, epoch: 1, permits: [] })
  })

  it('not where the record has changed since it was read', async () => {
    const port = portWith(aReading(stopped, inGroup).release, { [LEAVING_ANNOTATION]: 'true' })
    port.wins = false
    await free(port)
    expect(port.calls).not.toContain('deleteLease')
  })

  it.each([
    ['is open', { state: 'open' }],
    ['is being revoked', { state: 'voiding' }],
    ['has nodes in flight', { state: 'stopped', permits }],
  ] as const)('not from a release whose record %s, and it is not marked either', async (_name, record) => {
    for (const annotations of [{}, { [LEAVING_ANNOTATION]: 'true' }]) {
      const port = portWith(aReading(record, inGroup).release, annotations)
      await free(port)
      expect(port.calls).toEqual(['readLease', 'readHolder'])
    }
  })

  it('not by a mark of another release, while the holder needs the group', async () => {
    const port = portWith(aReading(stopped, inGroup).release, {})
    await free(port, 'other')
    expect(port.calls).toEqual(['readLease', 'readHolder'])
  })

  it.each([
    ['is gone', undefined],
    ['has another group', aReading(stopped, { downtime: { group: 'others' } }).release],
  ])('by a mark of another release where the holder %s', async (_name, release) => {
    const port = portWith(release, {})
    await free(port, 'other')
    expect(port.calls).toContain('markLeaving')
  })

  it.each([
    ['is gone', undefined],
    ['has another group', aReading({ state: 'open' }, { downtime: { group: 'others' } }).release],
    ['has no group', aReading({ state: 'open' }).release],
    ['is deleted and stopped', deleted(aReading({ state: 'stopped', permits }, inGroup).release)],
    ['waits for nodes left behind', resting(aReading({ state: 'stopped', permits }, inGroup).release)],
  ])('from a release that %s', async (_name, release) => {
    const port = portWith(release, { [LEAVING_ANNOTATION]: 'true' })
    await free(port)
    expect(port.calls).toContain('deleteLease')
    expect(port.calls.some((call) => call.startsWith('writeRecord'))).toBe(release !== undefined)
  })

  it.each([
    ['is gone', null],
    ['has no holder', leaseOf('', {})],
    ['names no release', leaseOf('node-drainer', {})],
  ])('never where it %s', async (_name, lease) => {
    const port = portWith(undefined, {})
    port.lease = lease
    await free(port)
    expect(port.calls).toEqual(['readLease'])
  })
})

function free(port: RecordingPort, name = 'agent'): Promise<unknown> {
  const parts = { groups: port, cluster: port, log: silentLogger, key: { namespace: 'demo', name } }
  return freeGroup(NAME, { ...parts, signal: new AbortController().signal })
}

function portWith(release: BatchRelease | undefined, annotations: Readonly<Record<string, string>>): RecordingPort {
  const port = recordingPort()
  port.lease = leaseOf(holderText(release ?? aReading().release), annotations)
  const group = release?.spec.tranche?.downtime?.group
  port.holder = release && { release, wanted: group === undefined ? null : `tranche-group.demo.${group}` }
  return port
}

function leaseOf(holderIdentity: string, annotations: Readonly<Record<string, string>>): Lease {
  const metadata = {
    namespace: 'tranche',
    name: NAME,
    uid: 'lease',
    resourceVersion: '7',
    labels: { [GROUP_LABEL]: 'agents' },
    annotations,
  }
  return { metadata, spec: { holderIdentity } }
}

function deleted(release: BatchRelease): BatchRelease {
  return { ...release, metadata: { ...release.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }
}

function resting(release: BatchRelease): BatchRelease {
  const waiting = { reason: 'NodesLeft', message: 'x', nodes: [], since: '2026-01-01T00:00:00Z' }
  return { ...release, status: { ...release.status, waiting } }
}
