import {
  allDowntimes,
  downtimeBegun,
  downtimeBody,
  downtimeEnded,
  downtimeName,
  type Downtimes,
  type NodeAgent,
  type OpenDowntime,
  toNodeDowntime,
} from '@tranche/drain'
import { DOWNTIME_ANNOTATION, type Lease } from '@tranche/kube-types'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

const NOW_MS = Date.parse('2026-01-02T00:00:00Z')
const MINUTE = 60_000
const agent: NodeAgent = { daemonSet: { namespace: 'demo', name: 'agent', uid: 'd1' }, node: 'a' }
const permittedOf = (podUid: string): OpenDowntime['permitted'] => ({
  release: { namespace: 'demo', name: 'agent', uid: 'u1' },
  permit: { podUid, podResourceVersion: '7' },
  seenAt: '40',
})
const openSince = (minutes: number, podUid = 'p1'): OpenDowntime => ({ fromMs: NOW_MS - minutes * MINUTE, permitted: permittedOf(podUid) })
const hour = { fromMs: NOW_MS - 120 * MINUTE, toMs: NOW_MS - 60 * MINUTE }
const nothing: Downtimes = { past: [], open: null }

describe('a downtime', () => {
  it('begins before the deletion', () => {
    expect(downtimeBegun(nothing, permittedOf('p1'), { kind: 'stayed', atMs: null }, NOW_MS)).toEqual({ past: [], open: openSince(0) })
  })

  it('begins once for a permit', () => {
    expect(downtimeBegun({ past: [], open: openSince(5) }, permittedOf('p1'), { kind: 'stayed', atMs: null }, NOW_MS)).toBeNull()
  })

  it('lasts until now while it has not ended', () => {
    expect(allDowntimes({ past: [hour], open: openSince(5) }, { kind: 'away' }, NOW_MS)).toEqual([
      hour,
      { fromMs: NOW_MS - 5 * MINUTE, toMs: NOW_MS },
    ])
  })

  it('ends when the new pod is available', () => {
    const atMs = NOW_MS - 2 * MINUTE
    expect(downtimeEnded({ past: [hour], open: openSince(5) }, { kind: 'back', atMs }, NOW_MS)).toEqual({
      past: [hour, { fromMs: NOW_MS - 5 * MINUTE, toMs: atMs }],
      open: null,
    })
  })

  it('never ends before it began, nor in the future', () => {
    const early = downtimeEnded({ past: [], open: openSince(5) }, { kind: 'back', atMs: NOW_MS - 9 * MINUTE }, NOW_MS)
    expect(early).toEqual(nothing)
    const late = downtimeEnded({ past: [], open: openSince(5) }, { kind: 'back', atMs: NOW_MS + MINUTE }, NOW_MS)
    expect(late.past).toEqual([{ fromMs: NOW_MS - 5 * MINUTE, toMs: NOW_MS }])
  })

  it('of a pod that was not deleted counts for nothing', () => {
    expect(allDowntimes({ past: [hour], open: openSince(5) }, { kind: 'stayed', atMs: null }, NOW_MS)).toEqual([hour])
    expect(downtimeEnded({ past: [hour], open: openSince(5) }, { kind: 'stayed', atMs: null }, NOW_MS)).toEqual({
      past: [hour],
      open: null,
    })
  })

  it('continues with another deletion while the agent is away', () => {
    const next = downtimeBegun({ past: [hour], open: openSince(5) }, permittedOf('p2'), { kind: 'away' }, NOW_MS)
    expect(next).toEqual({ past: [hour], open: { ...openSince(5, 'p2'), wasAway: true } })
  })

  it.each([
    ['until its pod became available', NOW_MS - 2 * MINUTE, NOW_MS - 2 * MINUTE],
    ['until now while its pod is not available', null, NOW_MS],
    ['for nothing if its pod was available before', NOW_MS - 9 * MINUTE, null],
  ])('that continued with another deletion, which did not come, counts %s', (_until, atMs, toMs) => {
    const open = { ...openSince(5, 'p2'), wasAway: true }
    const counted = toMs === null ? [] : [{ fromMs: NOW_MS - 5 * MINUTE, toMs }]
    expect(allDowntimes({ past: [], open }, { kind: 'stayed', atMs }, NOW_MS)).toEqual(counted)
    expect(downtimeEnded({ past: [], open }, { kind: 'stayed', atMs }, NOW_MS)).toEqual({ past: counted, open: null })
    const next = downtimeBegun({ past: [], open }, permittedOf('p3'), { kind: 'stayed', atMs }, NOW_MS)
    const isAway = atMs === null
    expect(next).toEqual({ past: isAway ? [] : counted, open: isAway ? { ...openSince(5, 'p3'), wasAway: true } : openSince(0, 'p3') })
  })

  it('is over before another begins, where the agent was back', () => {
    const atMs = NOW_MS - 2 * MINUTE
    const next = downtimeBegun({ past: [], open: openSince(5) }, permittedOf('p2'), { kind: 'back', atMs }, NOW_MS)
    expect(next).toEqual({ past: [{ fromMs: NOW_MS - 5 * MINUTE, toMs: atMs }], open: openSince(0, 'p2') })
  })
})

describe('the memory of a node', () => {
  it('is a Lease that the Node owns, and is read as it was written', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(1_000)), fc.boolean(), fc.boolean(), (minutes, isOpen, wasAway) => {
        const past = minutes.map((at) => ({ fromMs: NOW_MS - (at + 1) * MINUTE, toMs: NOW_MS - at * MINUTE }))
        const downtimes = { past, open: isOpen ? { ...openSince(5), ...(wasAway && { wasAway }) } : null }
        expect(toNodeDowntime(leaseOf(downtimes))).toEqual({ ...agent, ...downtimes, uid: 'l1', resourceVersion: '9' })
      }),
    )
    expect(downtimeBody(null, { agent, nodeUid: 'n1', downtimes: nothing }).metadata.ownerReferences).toEqual([
      { apiVersion: 'v1', kind: 'Node', name: 'a', uid: 'n1' },
    ])
  })

  it('is written over the version that was read', () => {
    const before = toNodeDowntime(leaseOf(nothing))
    const { metadata } = downtimeBody(before, { agent, nodeUid: undefined, downtimes: nothing })
    expect(metadata).toMatchObject({ resourceVersion: '9' })
    expect(metadata).not.toHaveProperty('name')
  })

  it.each<[string, (lease: Lease) => Lease]>([
    ['of another DaemonSet under the name of this one', (lease) => withLabel(lease, 'd2')],
    ['without a label', (lease) => ({ ...lease, metadata: { ...lease.metadata, labels: {} } })],
    ['of another node under the name of this one', (lease) => ({ ...lease, spec: { holderIdentity: 'demo/agent/b' } })],
    ['with a slash too many', (lease) => ({ ...lease, spec: { holderIdentity: 'demo/agent/a/x' } })],
    ['without a holder', ({ metadata }) => ({ metadata })],
  ])('is not read from a Lease %s', (_name, change) => {
    expect(toNodeDowntime(change(leaseOf(nothing)))).toBeNull()
  })

  it.each([
    ['that is no JSON', 'today'],
    ['that is no object', 'null'],
    ['whose times are none', '{"past":[["soon","later"],[]]}'],
    ['whose times run backwards', '{"past":[["2026-01-01T01:00:00Z","2026-01-01T00:00:00Z"]]}'],
    ['whose open downtime has no permit', '{"open":{"from":"2026-01-01T01:00:00Z"}}'],
    ['that is too long', `{"past":[["2026-01-01T00:00:00Z","2026-01-01T01:00:00Z"]],"x":"${'x'.repeat(10_000)}"}`],
  ])('is empty with an annotation %s', (_name, text) => {
    expect(toNodeDowntime(withText(leaseOf(nothing), text))).toMatchObject(nothing)
  })

  it('has a name for each node and DaemonSet that any object may have', () => {
    const names = [agent, { ...agent, node: 'b' }, { ...agent, daemonSet: { ...agent.daemonSet, uid: 'd2' } }].map(downtimeName)
    expect(new Set(names).size).toBe(3)
    expect(downtimeName({ ...agent, node: 'n'.repeat(253) })).toMatch(/^[a-z][-a-z0-9]{1,62}$/)
  })
})

function leaseOf(downtimes: Downtimes): Lease {
  const { metadata, spec } = downtimeBody(null, { agent, nodeUid: undefined, downtimes })
  const { name = '', labels, annotations } = metadata
  return { metadata: { name, labels, annotations, uid: 'l1', resourceVersion: '9' }, spec }
}

function withLabel(lease: Lease, uid: string): Lease {
  return { ...lease, metadata: { ...lease.metadata, labels: { 'tranche.dev/downtime': uid } } }
}

function withText(lease: Lease, text: string): Lease {
  return { ...lease, metadata: { ...lease.metadata, annotations: { [DOWNTIME_ANNOTATION]: text } } }
}
