import { FakeClock } from '@tranche/clock'
import { KubeStatusError, type KubeClient } from '@tranche/kube-client'
import { silentLogger } from '@tranche/telemetry'
import { describe, expect, it } from 'vitest'
import type { CheckTarget } from '../src/check.ts'
import { createRoomCheck } from '../src/room-check.ts'

const signal = new AbortController().signal
const ready = { kind: 'ready', for: 'deletion' }
const permit = { node: 'a', purpose: 'permit' } as const

interface Case {
  /** CPUs that another pod on the node requests, of two. */
  readonly taken?: string
  /** Answer to each list. */
  readonly error?: Error
  readonly room?: string
  readonly isAllowed?: boolean
}

function aCheck({ taken = '1', error, isAllowed = true }: Case) {
  const calls: string[] = []
  const pod = { metadata: { namespace: 'batch', name: 'b', uid: 'p' }, spec: requesting(taken), status: { phase: 'Running' } }
  const client = {
    async get() {
      calls.push('get')
      return { metadata: { name: 'a' }, status: { allocatable: { cpu: '2', memory: '1Gi', pods: '10' } } }
    },
    async list(_resource: unknown, { fieldSelector }: { readonly fieldSelector?: string }) {
      calls.push('list')
      if (error !== undefined) throw error
      return { items: fieldSelector === 'spec.nodeName=a' ? [pod] : [] }
    },
  } as unknown as KubeClient
  return { calls, check: createRoomCheck({ client, clock: new FakeClock(), log: silentLogger, isAllowed }) }
}

function aTarget(room: string | undefined): CheckTarget {
  const template = { spec: { ...requesting('1'), priorityClassName: 'system-node-critical' } }
  return {
    daemonSet: { metadata: { namespace: 'demo', name: 'agent', uid: 'd' }, spec: { template } },
    release: { metadata: { namespace: 'demo', name: 'agent', uid: 'r' }, spec: { tranche: { nodes: { room } } } },
  } as unknown as CheckTarget
}

function requesting(cpu: string): object {
  return { containers: [{ name: 'main', resources: { requests: { cpu } } }] }
}

describe('the check of room', () => {
  it.each<[sentence: string, given: Case, answer: object | null]>([
    ['finds a node ready on which the new pod fits', {}, ready],
    ['keeps the pod of a node without room, and says what is lacking', { taken: '2' }, blocked('NoRoom', 'no room for the new pod: cpu')],
    ['keeps the pod where the API server fails', { error: failing(500) }, blocked('RoomUnread', 'cannot read whether there is room: ')],
    ['keeps the pod where the network fails', { error: new Error('cut') }, blocked('RoomUnread', 'there is room: cut')],
    ['says that executors lack the right to read', { error: failing(403) }, blocked('RoomNotAllowed', 'pods is forbidden')],
    ['says that the installation does not allow it', { isAllowed: false }, blocked('RoomNotAllowed', 'rbac.room of the chart is false')],
    ['answers nothing where the policy ignores room', { room: 'Ignore', taken: '2' }, null],
    ['answers nothing where the policy ignores room and nothing is allowed', { room: 'Ignore', isAllowed: false }, null],
  ])('%s', async (_sentence, given, answer) => {
    const { check } = aCheck(given)
    const found = await check.check(aTarget(given.room ?? 'Check'), permit, signal)
    if (answer === null) expect(found).toBeNull()
    else expect(found).toEqual(answer)
  })

  it.each<[sentence: string, given: Case]>([
    ['where the installation does not allow it', { isAllowed: false }],
    ['where the policy ignores room', { room: 'Ignore' }],
  ])('sends no request %s', async (_sentence, given) => {
    const { check, calls } = aCheck(given)
    await check.check(aTarget(given.room ?? 'Check'), permit, signal)
    expect(calls).toEqual([])
  })

  it('answers nothing for a node that is prepared ahead, and does nothing on nodes', async () => {
    const { check, calls } = aCheck({})
    expect(await check.check(aTarget('Check'), { node: 'a', purpose: 'ahead' }, signal)).toBeNull()
    expect([check.rules(aTarget('Check')), check.preparations(aTarget('Check'))]).toEqual([undefined, []])
    expect(calls).toEqual([])
  })

  it('has no answer once the process stops', async () => {
    const { check } = aCheck({ error: new Error('cut') })
    await expect(check.check(aTarget('Check'), permit, AbortSignal.abort(new Error('it stops')))).rejects.toThrow('cut')
  })
})

function blocked(reason: string, part: string): object {
  return { kind: 'blocked', reason, message: expect.stringContaining(part) }
}

function failing(status: number): Error {
  return new KubeStatusError({ status, reason: 'Failed', message: 'pods is forbidden', attempt: 'GET /api/v1/pods' })
}
