import {
  ACCEPTED_NODES_MAX,
  type BatchRelease,
  batchReleaseSchema,
  type FlightRecord,
  LISTED_NODES_MAX,
  OLDER_PODS_MAX,
  WATCHED_NODES_MAX,
} from '@tranche/api-schema'
import { MAX_LIMIT, permitSlack } from '@tranche/fence'
import { describe, expect, it } from 'vitest'

const NODES = 15_000
const KIB = 1024
/** etcd takes requests of 1.5 MiB, and the object has a spec and metadata besides. */
const OBJECT_BYTES_MAX = 1024 * KIB
/** Longest name of a node: a DNS subdomain. */
const LONGEST_NAME = 253
/** Longest name that cloud providers give: a label of a host. */
const LONGEST_LABEL = 63

const at = '2026-01-01T12:00:00Z'
const uid = (index: number): string => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`

describe(`the permit record of a release of ${NODES} nodes at the highest limit`, () => {
  it.each([
    ['names of 45 characters, as of machines in EC2', 45, 192],
    ['names of 63 characters', LONGEST_LABEL, 256],
    ['names of 253 characters', LONGEST_NAME, 448],
  ])('with %s keeps within its size', (_what, length, mostKib) => {
    expect(bytesOf(fullRecord(length))).toBeLessThanOrEqual(mostKib * KIB)
  })

  it('does not grow with the number of nodes', () => {
    expect(fullRecord(LONGEST_LABEL).permits.length).toBe(1_125)
  })
})

describe(`the status of a BatchRelease of ${NODES} nodes in which every list is full`, () => {
  it('is valid, and fits into etcd with names of 253 characters', () => {
    const status = fullStatus(LONGEST_NAME)
    expect(batchReleaseSchema.shape.status.safeParse(status).error).toBe(undefined)
    expect(bytesOf(status)).toBeLessThanOrEqual(OBJECT_BYTES_MAX)
  })

  it('is larger with more permits than a record may have: the size is measured', () => {
    const record = fullRecord(LONGEST_NAME)
    const permits = [...record.permits, ...record.permits, ...record.permits]
    const status = { ...fullStatus(LONGEST_NAME), flight: { ...record, permits } }
    expect(bytesOf(status)).toBeGreaterThan(OBJECT_BYTES_MAX)
  })
})

function names(count: number, length: number): readonly string[] {
  return Array.from({ length: Math.min(count, NODES) }, (_none, index) => `${index}.`.padEnd(length, 'n'))
}

/** As many permits as F3 allows, all of nodes that were bad, and ten blocked nodes. */
function fullRecord(length: number): FlightRecord {
  const permits = names(MAX_LIMIT + permitSlack(MAX_LIMIT), length).map((node, index) => ({
    node,
    podUid: uid(index),
    podResourceVersion: '12345678901',
    wasBad: true,
  }))
  return {
    workloadUid: uid(0),
    epoch: 1_000,
    seq: 1_000_000,
    state: 'open',
    holds: [],
    generation: 100,
    revision: '5f6d7c8b9',
    size: NODES,
    partition: 0,
    limit: MAX_LIMIT,
    scope: 'x'.repeat(64),
    watermark: '12345678901',
    permits,
    blocked: names(10, length).map((node) => ({ node, reason: 'NoRoom', message: 'm'.repeat(256) })),
  }
}

function fullStatus(length: number): NonNullable<BatchRelease['status']> {
  const listed = names(LISTED_NODES_MAX, length)
  return {
    phase: 'Progressing',
    message: 'm'.repeat(1_024),
    failure: {
      reason: 'CrashLoopBackOff',
      message: 'm'.repeat(1_024),
      nodes: listed,
      count: NODES,
      failedNodes: names(10, length).map((node) => ({
        node,
        reason: 'CrashLoopBackOff',
        container: 'c'.repeat(63),
        message: 'm'.repeat(256),
      })),
      accepted: names(ACCEPTED_NODES_MAX, length),
    },
    leaked: { count: NODES, nodes: listed },
    skippedNodes: listed,
    waiting: { reason: 'NodesUnavailable', message: 'm'.repeat(1_024), nodes: listed, since: at },
    watchedNodes: names(WATCHED_NODES_MAX, length).map((node, index) => ({
      node,
      since: at,
      downSeconds: 86_400,
      downSince: at,
      stoppedSeconds: 86_400,
      uid: uid(index),
      restarts: 1_000,
      seen: 1_000,
      ignoredRestarts: 1_000,
    })),
    stoppedTime: {
      release: uid(0),
      startedAt: at,
      seconds: 86_400,
      olderPods: Array.from({ length: OLDER_PODS_MAX }, (_none, index) => uid(index)),
    },
    flight: fullRecord(length),
  }
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value))
}
