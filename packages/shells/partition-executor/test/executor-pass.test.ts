import type { FlightRecord, Permit, StoppedTime } from '@tranche/api-schema'
import { FakeClock } from '@tranche/clock'
import { type FleetNode, type FleetPod, toFleetView } from '@tranche/fleet'
import { batchScope, type LivePod, scopeTextOf, type TouchAnswer, type Preparation } from '@tranche/fence'
import { silentLogger } from '@tranche/telemetry'
import { createExecutorPass, type ExecutorReading } from '@tranche/partition-executor'
import type { ReconcileResult } from '@tranche/reconcile'
import { describe, expect, it } from 'vitest'

const key = { namespace: 'demo', name: 'agent' }
const permitFor = (node: string): Permit => ({ node, podUid: `pod-${node}`, podResourceVersion: '9' })

describe('a pass of the executor', () => {
  it('does nothing if no BatchRelease controls the DaemonSet', async () => {
    const stage = aStage({})
    stage.reading = null
    expect(await stage.pass()).toEqual({ kind: 'awaitChange' })
  })

  it('writes permits before it deletes anything, in one write', async () => {
    const stage = aStage({})
    expect(await stage.pass()).toEqual({ kind: 'recheckAfter', ms: 0 })
    expect(stage.calls).toEqual(['writeRecord a,b,c'])
  })

  it('rechecks later when another process has written the record', async () => {
    const stage = aStage({})
    stage.wins = false
    expect(await stage.pass()).toEqual({ kind: 'recheckAfter', ms: 1_000 })
  })

  it('deletes as many pods as the limit allows, in parallel', async () => {
    const stage = aStage({ limit: 2, permits: ['a', 'b', 'c'].map(permitFor) })
    expect(await stage.pass()).toEqual({ kind: 'awaitChange' })
    expect(stage.calls).toEqual(['delete pod-a', 'delete pod-b'])
  })

  it('sends at most as many deletes as there are connections, and decides again before the others (F1)', async () => {
    const nodes = Array.from({ length: 50 }, (_, at) => `n${10 + at}`)
    const stage = aStage({ limit: 50, permits: nodes.map(permitFor) })
    stage.reading = { ...stage.reading!, fleet: aFleet(nodes) }
    expect(await stage.pass()).toEqual({ kind: 'recheckAfter', ms: 0 })
    expect(stage.calls).toHaveLength(32)
    expect(await stage.pass()).toEqual({ kind: 'awaitChange' })
    expect(stage.calls).toEqual(nodes.map((node) => `delete pod-${node}`))
  })

  it('sends no delete twice while its watch has not shown the outcome', async () => {
    const stage = aStage({ permits: [permitFor('a')] })
    await stage.pass()
    await stage.pass()
    expect(stage.calls.filter((call) => call === 'delete pod-a')).toHaveLength(1)
  })

  it('never sends a refused delete again with a newer version (F5)', async () => {
    const stage = aStage({ permits: [permitFor('a')] })
    stage.refuses = true
    await stage.pass()
    await stage.pass()
    stage.set(stage.record, { a: { resourceVersion: '12' } })
    await stage.pass()
    expect(stage.calls.filter((call) => call.startsWith('delete'))).toEqual(['delete pod-a'])
    expect(stage.calls.at(-1)).toMatch(/^writeRecord/)
    expect(stage.written.at(-1)?.permits).not.toContainEqual(permitFor('a'))
  })

  it('resends the same delete after a while if the server refused it although the pod is unchanged (F5, G6)', async () => {
    const stage = aStage({ permits: [permitFor('a')] })
    stage.refuses = true
    expect(await stage.pass()).toEqual({ kind: 'recheckAfter', ms: 5_000 })
    stage.clock.advance(4_999)
    await stage.pass()
    const deletes = (): readonly string[] => stage.calls.filter((call) => call.startsWith('delete'))
    expect(deletes()).toEqual(['delete pod-a'])
    stage.clock.advance(1)
    await stage.pass()
    expect(deletes()).toEqual(['delete pod-a', 'delete pod-a'])
  })

  it('rethrows an error when every delete has ended, and may resend that delete', async () => {
    const stage = aStage({ limit: 2, permits: ['a', 'b'].map(permitFor) })
    stage.fails = 'pod-a'
    await expect(stage.pass()).rejects.toThrow('reset')
    stage.fails = null
    await stage.pass()
    expect(stage.calls).toEqual(['delete pod-a', 'delete pod-b', 'delete pod-a'])
  })

  it('removes a permit from the record only after a touch of its pod was answered (F7)', async () => {
    const stage = aStage({ permits: ['a', 'b'].map(permitFor), partition: 2 })
    await stage.pass()
    expect(stage.calls).toEqual(['touch pod-b', 'writeRecord a'])
  })

  it.each([
    ['executed', { kind: 'executed' }],
    ['unclear', { kind: 'unclear', why: '500' }],
  ] as const)('keeps the permit of a pod whose touch says %s (F7)', async (_name, answer) => {
    const stage = aStage({ permits: ['a', 'b'].map(permitFor), partition: 2 })
    stage.touch = answer
    expect(await stage.pass()).toEqual({ kind: 'recheckAfter', ms: 1_000 })
    expect(stage.written).toEqual([])
  })

  it('reads a pod that only the clock has made available, and continues in the same pass (F6)', async () => {
    const stage = aStage({ partition: 1, permits: [permitFor('gone'), permitFor('b')] })
    stage.minReadySeconds = 20
    stage.set(goneOn('a', stage.record), newPodOnA)
    stage.clock.advance(20_000)
    expect(await stage.pass()).toEqual({ kind: 'awaitChange' })
    expect(stage.calls).toEqual(['read pod-a', 'delete pod-b'])
    await stage.pass()
    expect(stage.calls).toEqual(['read pod-a', 'delete pod-b'])
  })

  it('reads no pod if minReadySeconds is 0 (F6)', async () => {
    const stage = aStage({ partition: 1, permits: [permitFor('gone'), permitFor('b')] })
    stage.set(goneOn('a', stage.record), newPodOnA)
    await stage.pass()
    expect(stage.calls).toEqual(['delete pod-b'])
  })

  it.each([
    ['is not Ready any more', { resourceVersion: '21', ready: false }],
    ['is gone', null],
    ['cannot be read', 'fails'],
  ] as const)('deletes nothing while the pod %s, and rereads it at growing intervals (F6, G2)', async (_why, answer) => {
    const stage = aStage({ partition: 1, permits: [permitFor('gone'), permitFor('b')] })
    stage.minReadySeconds = 20
    stage.live = answer
    stage.set(goneOn('a', stage.record), newPodOnA)
    stage.clock.advance(20_000)
    const waits: number[] = []
    for (let read = 0; read < 8; read++) {
      const outcome = await stage.pass()
      const ms = outcome.kind === 'recheckAfter' ? outcome.ms : Number.NaN
      waits.push(ms)
      stage.clock.advance(ms - 1)
      await stage.pass()
      stage.clock.advance(1)
    }
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000])
    expect(stage.calls).toEqual(Array.from({ length: 8 }, () => 'read pod-a'))
    stage.live = {}
    await stage.pass()
    expect(stage.calls.at(-1)).toBe('delete pod-b')
  })

  it('rereads at once when its watch shows a change of the pod (F6)', async () => {
    const stage = aStage({ partition: 1, permits: [permitFor('gone'), permitFor('b')] })
    stage.minReadySeconds = 20
    stage.live = { resourceVersion: '21' }
    stage.set(goneOn('a', stage.record), newPodOnA)
    stage.clock.advance(20_000)
    await stage.pass()
    stage.set(stage.record, { a: { ...newPodOnA.a, resourceVersion: '21' } })
    await stage.pass()
    expect(stage.calls).toEqual(['read pod-a', 'read pod-a', 'delete pod-b'])
  })

  it('reads a node that its watch does not show, and removes its permit in the same pass (F6)', async () => {
    const stage = aStage({ partition: 2, permits: [permitFor('gone'), permitFor('b')] })
    stage.set(goneOn('z', stage.record))
    stage.liveNode = null
    await stage.pass()
    expect(stage.calls).toEqual(['read node z', 'writeRecord b'])
  })

  it.each([
    ['is there', aLiveNode([])],
    ['cannot be read', 'fails'],
  ] as const)(
    'deletes nothing while a node that its watch does not show %s, and rereads it at growing intervals (F6, G2)',
    async (_why, answer) => {
      const stage = aStage({ partition: 2, permits: [permitFor('gone'), permitFor('b')] })
      stage.set(goneOn('z', stage.record))
      stage.liveNode = answer
      const waits: number[] = []
      for (let read = 0; read < 3; read++) {
        const outcome = await stage.pass()
        const ms = outcome.kind === 'recheckAfter' ? outcome.ms : Number.NaN
        waits.push(ms)
        stage.clock.advance(ms - 1)
        await stage.pass()
        stage.clock.advance(1)
      }
      expect(waits).toEqual([1_000, 2_000, 4_000])
      expect(stage.calls).toEqual(Array.from({ length: 3 }, () => 'read node z'))
      stage.liveNode = aLiveNode([{ key: 'dedicated', effect: 'NoSchedule' }])
      await stage.pass()
      expect(stage.calls.at(-1)).toBe('writeRecord b')
    },
  )

  describe('with permits for more nodes that its watch does not show than there are connections', () => {
    const permits = Array.from({ length: 70 }, (_, at) => ({ node: `z${10 + at}`, podUid: `forged-${at}`, podResourceVersion: '9' }))

    it('reads them by one list, and removes the permits of those that are gone in the same pass (F6)', async () => {
      const stage = aStage({ partition: 2, permits })
      stage.liveNode = null
      await stage.pass()
      expect([stage.calls, stage.written.length]).toEqual([['read 70 nodes', 'writeRecord a'], 1])
    })

    it.each([
      ['are there', aLiveNode([])],
      ['cannot be read', 'fails'],
    ] as const)('keeps the permits while they %s, and reads them again later (F6, G2)', async (_why, answer) => {
      const stage = aStage({ partition: 2, permits })
      stage.liveNode = answer
      expect(await stage.pass()).toEqual({ kind: 'recheckAfter', ms: 1_000 })
      await stage.pass()
      expect([stage.calls, stage.written]).toEqual([['read 70 nodes'], []])
      stage.clock.advance(1_000)
      await stage.pass()
      expect(stage.calls).toEqual(['read 70 nodes', 'read 70 nodes'])
    })
  })

  it('reads at most as many pods in a pass as there are connections, and the others in further passes (F6)', async () => {
    const nodes = Array.from({ length: 50 }, (_, at) => `n${10 + at}`)
    const stage = aStage({ partition: 50, permits: nodes.map((node) => ({ ...permitFor(node), podUid: `gone-${node}` })) })
    stage.minReadySeconds = 20
    stage.set(stage.record)
    stage.reading = { ...stage.reading!, fleet: aFleet(nodes, Object.fromEntries(nodes.map((node) => [node, newPodOnA.a]))) }
    stage.clock.advance(20_000)
    expect(await stage.pass()).toEqual({ kind: 'recheckAfter', ms: 0 })
    expect(stage.calls).toHaveLength(32)
    await stage.pass()
    expect(stage.calls.filter((call) => call.startsWith('read pod-'))).toHaveLength(50)
  })

  it('judges a node that it has read by the placement of the DaemonSet (F6)', async () => {
    const stage = aStage({ partition: 2, permits: [permitFor('gone'), permitFor('b')] })
    stage.set(goneOn('z', stage.record))
    stage.liveNode = aLiveNode([{ key: 'dedicated', effect: 'NoSchedule' }])
    stage.reading = { ...stage.reading!, placement: { tolerations: [{ operator: 'Exists' }] } }
    await stage.pass()
    expect(stage.calls).toEqual(['read node z'])
  })

  describe('where the policy asks for room (nodes.room: Check)', () => {
    it('reads the room on a node before it deletes its pod, in the same pass', async () => {
      const stage = aRoomStage({ permits: [permitFor('a')] })
      expect(await stage.pass()).toEqual({ kind: 'awaitChange' })
      expect(stage.calls).toEqual(['check a for deletion', 'delete pod-a'])
    })

    it('reads the room before it writes permits', async () => {
      const stage = aRoomStage({})
      await stage.pass()
      expect(stage.calls).toEqual(['check a for permit', 'check b for permit', 'check c for permit', 'writeRecord a,b,c'])
    })

    it('withdraws the permit of a node without room, and records why', async () => {
      const stage = aRoomStage({ permits: [permitFor('a')] })
      stage.shortages = { a: 'no room for the new pod: cpu' }
      await stage.pass()
      expect(stage.calls).toEqual(['check a for deletion', 'touch pod-a', 'writeRecord '])
      stage.set(stage.written[0]!)
      stage.calls.length = 0
      await stage.pass()
      expect(stage.calls).toEqual(['check b for permit', 'check c for permit', 'writeRecord b,c'])
      expect(stage.written[1]?.blocked).toEqual([{ node: 'a', reason: 'NoRoom', message: 'no room for the new pod: cpu' }])
    })

    it('checks a node again for each permit: what was done for an earlier one may be undone', async () => {
      const stage = aRoomStage({ permits: [permitFor('a')] })
      stage.refuses = true
      await stage.pass()
      const next = { ...permitFor('a'), podResourceVersion: '12' }
      stage.set({ ...stage.record, seq: 3, permits: [next] }, { a: { resourceVersion: '12' } })
      stage.refuses = false
      await stage.pass()
      expect(stage.calls).toEqual(['check a for deletion', 'delete pod-a', 'check a for deletion', 'delete pod-a'])
    })

    it('keeps the pod of a node whose room it cannot read, and records why', async () => {
      const stage = aRoomStage({})
      stage.shortages = { a: 'fails' }
      await stage.pass()
      expect(stage.calls).toEqual(['check a for permit', 'check b for permit', 'check c for permit', 'writeRecord b,c'])
      expect(stage.written[0]?.blocked).toEqual([{ node: 'a', reason: 'CheckFailed', message: 'cannot check the node: pods is forbidden' }])
    })

    it('records each change of what a node lacks once, and no page of an error', async () => {
      const stage = aRoomStage({})
      stage.shortages = { a: 'fails', b: 'no room', c: 'no room' }
      await stage.pass()
      stage.set({ ...stage.written.at(-1)! })
      stage.calls.length = 0
      await stage.pass()
      expect(stage.calls).toEqual([])
      stage.clock.advance(15_000)
      stage.shortages = { a: 'x'.repeat(10_000), b: 'no room', c: 'no room' }
      await stage.pass()
      expect(stage.written.at(-1)?.blocked?.[0]?.message).toBe(`${'x'.repeat(511)}…`)
    })

    it('reads a node without room again after a while, each time later', async () => {
      const stage = aRoomStage({})
      stage.shortages = { a: 'no room', b: 'no room', c: 'no room' }
      const waits: unknown[] = []
      await stage.pass()
      for (let round = 0; round < 8; round++) {
        stage.set({ ...stage.written.at(-1)! })
        const result = await stage.pass()
        waits.push(result)
        if (result.kind === 'recheckAfter') stage.clock.advance(result.ms)
      }
      expect(waits).toEqual([15, 30, 60, 120, 240, 300, 300, 300].map((seconds) => ({ kind: 'recheckAfter', ms: seconds * 1_000 })))
    })

    it('forgets what it has read when another revision is released', async () => {
      const stage = aRoomStage({})
      stage.shortages = { a: 'no room', b: 'no room', c: 'no room' }
      await stage.pass()
      stage.shortages = {}
      stage.set({ ...stage.record, revision: 'newer' })
      stage.reading = { ...stage.reading!, published: { ...stage.reading!.published, canaryRevision: 'newer' } }
      stage.calls.length = 0
      await stage.pass()
      expect(stage.calls).toEqual(['check a for permit', 'check b for permit', 'check c for permit', 'writeRecord a,b,c'])
    })
  })

  it.each<[string, NonNullable<Stage['tranche']>]>([
    ['nodes.room', { nodes: { room: 'Ignore' }, drain: { cordon: false } }],
    ['prePull', { nodes: { room: 'Check' }, prePull: {} }],
    ['drain', { nodes: { room: 'Check' }, drain: {} }],
    ['downtime', { nodes: { room: 'Check' }, downtime: { perDay: '1h' } }],
  ])('asks held nodes again at once when the policy changes %s', async (_field, tranche) => {
    const stage = aRoomStage({})
    stage.shortages = { a: 'no room', b: 'no room', c: 'no room' }
    await stage.pass()
    stage.calls.length = 0
    stage.shortages = {}
    stage.tranche = tranche
    stage.set({ ...stage.written.at(-1)!, scope: scopeTextOf(batchScope(tranche.nodes, null)) })
    prepare(stage, [])
    await stage.pass()
    expect(stage.calls.slice(0, 3)).toEqual(['check a for permit', 'check b for permit', 'check c for permit'])
  })

  describe('where the policy asks for something to be done on nodes', () => {
    it('names a node in the record on which work takes long, once', async () => {
      const stage = aStage({ partition: 2 })
      const waits = { reason: 'Pulling' as const, message: 'pulls '.repeat(200), fromMs: stage.clock.monotonicMs() + 5_000 }
      const pulling = [{ node: 'a', state: 'begun', isAhead: true, waits }] as const
      prepare(stage, pulling, 1)
      expect(await stage.pass()).toEqual({ kind: 'recheckAfter', ms: 5_000 })
      expect(stage.calls).toEqual([])
      stage.clock.advance(5_000)
      await stage.pass()
      expect(stage.written.at(-1)?.blocked).toEqual([{ node: 'a', reason: 'Pulling', message: `${'pulls '.repeat(200).slice(0, 511)}…` }])
      stage.set({ ...stage.written.at(-1)!, blocked: [] })
      prepare(stage, pulling, 1)
      await stage.pass()
      expect(stage.written).toHaveLength(1)
    })

    it('undoes it where nothing needs it, before its other work', async () => {
      const stage = aStage({ permits: [permitFor('a')] })
      prepare(stage, [{ node: 'z' }])
      expect(await stage.pass()).toEqual({ kind: 'recheckAfter', ms: 0 })
      await stage.pass()
      expect(stage.calls).toEqual(['undo z of pull', 'check a for deletion', 'delete pod-a'])
    })

    it('does its other work although it cannot undo it, and tries again after a while', async () => {
      const stage = aStage({ permits: [permitFor('a')] })
      prepare(stage, [{ node: 'z' }])
      stage.fails = 'z'
      await stage.pass()
      await stage.pass()
      stage.clock.advance(10_000)
      await stage.pass()
      const undone = stage.calls.filter((call) => call.startsWith('undo'))
      expect(undone).toEqual(['undo z of pull', 'undo z of pull'])
      expect(stage.calls).toContain('delete pod-a')
    })

    it('renews it before its other work, and does that although it cannot', async () => {
      const stage = aStage({ permits: [permitFor('a')] })
      prepare(stage, [{ node: 'a', isAhead: false, renewAtMs: 0 }])
      await stage.pass()
      await stage.pass()
      expect(stage.calls).toEqual(['renew a of pull', 'check a for deletion', 'delete pod-a'])
      const failing = aStage({ permits: [permitFor('a')] })
      prepare(failing, [{ node: 'a', isAhead: false, renewAtMs: 0 }])
      failing.fails = 'a'
      await failing.pass()
      await failing.pass()
      expect(failing.calls).toContain('delete pod-a')
    })

    it('undoes at once what it renewed a moment ago', async () => {
      const stage = aStage({ permits: [permitFor('a')] })
      prepare(stage, [{ node: 'a', isAhead: false, renewAtMs: 0 }])
      await stage.pass()
      prepare(stage, [{ node: 'a', isAhead: false, isStale: true, renewAtMs: null }])
      await stage.pass()
      expect(stage.calls.filter((call) => /^(renew|undo)/.test(call))).toEqual(['renew a of pull', 'undo a of pull'])
    })

    it('asks a node again once a watch shows that what it waits for has changed', async () => {
      const stage = aStage({ partition: 2, permits: [permitFor('a')] })
      prepare(stage, [{ node: 'a', state: 'begun' }])
      stage.shortages = { a: 'begins' }
      expect(await stage.pass()).toEqual({ kind: 'recheckAfter', ms: 5_000 })
      await stage.pass()
      expect(stage.calls).toEqual(['check a for deletion'])
      prepare(stage, [{ node: 'a', state: 'ready' }])
      stage.shortages = {}
      await stage.pass()
      expect(stage.calls).toEqual(['check a for deletion', 'check a for deletion', 'delete pod-a'])
    })

    it('asks a node again after the time that its check says', async () => {
      const stage = aStage({ partition: 2, permits: [permitFor('a')] })
      prepare(stage, [])
      stage.shortages = { a: 'begins' }
      await stage.pass()
      stage.clock.advance(5_000)
      await stage.pass()
      expect(stage.calls).toEqual(['check a for deletion', 'check a for deletion'])
    })
  })

  it('reads no node if its watch shows the nodes of all permits (F6)', async () => {
    const stage = aStage({ partition: 1, permits: [permitFor('gone'), permitFor('b')] })
    stage.set(goneOn('a', stage.record))
    await stage.pass()
    expect(stage.calls.filter((call) => call.startsWith('read'))).toEqual([])
  })

  it('never resends an accepted delete, however long its watch shows the pod unchanged', async () => {
    const stage = aStage({ permits: [permitFor('a')] })
    await stage.pass()
    stage.clock.advance(60_000)
    await stage.pass()
    expect(stage.calls.filter((call) => call.startsWith('delete'))).toEqual(['delete pod-a'])
  })

  it('rechecks after a while if one of several deletes was refused (F5)', async () => {
    const stage = aStage({ limit: 2, permits: ['a', 'b'].map(permitFor) })
    stage.refuses = 'pod-a'
    expect(await stage.pass()).toEqual({ kind: 'recheckAfter', ms: 5_000 })
    expect(stage.calls).toEqual(['delete pod-a', 'delete pod-b'])
  })

  it('removes permits whose touch was answered, and keeps the others (F7)', async () => {
    const stage = aStage({ permits: ['a', 'b', 'c'].map(permitFor), partition: 2 })
    stage.touch = (podName) => (podName === 'pod-b' ? { kind: 'unclear', why: '500' } : { kind: 'standing', resourceVersion: '20' })
    await stage.pass()
    expect(stage.calls).toEqual(['touch pod-b', 'touch pod-c', 'writeRecord a,b'])
  })

  it('ends with its signal, and counts no aborted read as an answer', async () => {
    const stage = aStage({ partition: 1, permits: [permitFor('gone'), permitFor('b')] })
    stage.minReadySeconds = 20
    stage.live = 'fails'
    stage.set(goneOn('a', stage.record), newPodOnA)
    stage.clock.advance(20_000)
    await expect(stage.pass(AbortSignal.abort(new Error('the executor stops')))).rejects.toThrow('reset')
    stage.live = {}
    await stage.pass()
    expect(stage.calls).toEqual(['read pod-a', 'read pod-a', 'delete pod-b'])
  })

  describe('by its own verdict', () => {
    const crashing = { a: { hash: 'new', ready: false, trouble: { reason: 'CrashLoopBackOff', container: 'agent' } } }

    it('deletes nothing for a failing version, before the controller reports it', async () => {
      const stage = aJudgedStage('new')
      stage.set(goneOn('a', stage.record), crashing)
      await stage.pass()
      expect(stage.calls).toEqual([])
      stage.set(stage.record, { a: { hash: 'new' } })
      await stage.pass()
      expect(stage.calls).toContain('delete pod-b')
    })

    it('deletes nothing while a node may have been lost after its update: the API server’s clock may have been set back (G9)', async () => {
      const stage = aJudgedStage('new')
      const secondsAgo = (seconds: number): string => new Date(stage.clock.nowMs() - seconds * 1_000).toISOString()
      stage.set(goneOn('a', stage.record), { a: { hash: 'new', createdAt: secondsAgo(10), acknowledgedFromMs: 0 } })
      const lost = { ready: false, answers: false, silentSince: secondsAgo(20), unreadyFromMs: 0 }
      const { nodes } = stage.reading!.fleet
      stage.reading = { ...stage.reading!, fleet: toFleetView(nodes.map((node) => (node.name === 'a' ? { ...node, ...lost } : node))) }
      await stage.pass()
      expect(stage.calls).toEqual([])
    })

    it('ignores the controller’s observations of another release', async () => {
      const stage = aJudgedStage('before')
      stage.set(goneOn('a', stage.record), crashing)
      await stage.pass()
      expect(stage.calls).toContain('delete pod-b')
    })

    it('continues if the policy does not stop on failures', async () => {
      const stage = aJudgedStage('new')
      stage.tranche = { failure: { action: 'Continue' } }
      stage.set(goneOn('a', stage.record), crashing)
      await stage.pass()
      expect(stage.calls).toContain('delete pod-b')
    })

    it('after the end of a release, stops only for the nodes that it left', async () => {
      for (const [isOwned, inProgress, left, deletes] of [
        [true, false, undefined, true],
        [true, true, undefined, false],
        [false, false, undefined, false],
        [true, false, { nodes: ['a'] }, false],
        [true, false, { nodes: ['b'] }, true],
        [true, false, {}, false],
      ] as const) {
        const stage = aJudgedStage(left === undefined ? 'new' : 'new/left')
        if (left !== undefined) stage.tranche = { left }
        stage.set(goneOn('a', stage.record), crashing)
        const { release, published } = stage.reading!
        const owner = { apiVersion: 'rollouts.kruise.io/v1beta1', kind: 'Rollout', name: 'agent', uid: 'rollout', controller: true }
        const metadata = { ...release.metadata, ...(isOwned && { ownerReferences: [owner] }) }
        const said = { ...published, inProgress, strategy: published.strategy }
        stage.reading = { ...stage.reading!, release: { ...release, metadata }, published: said }
        await stage.pass()
        expect([isOwned, inProgress, left, stage.calls.includes('delete pod-b')]).toEqual([isOwned, inProgress, left, deletes])
      }
    })
  })

  it('does nothing while its pod watch is behind the record (F2)', async () => {
    const stage = aStage({ permits: [permitFor('a')], watermark: '1000' })
    expect(await stage.pass()).toEqual({ kind: 'awaitChange' })
    expect(stage.calls).toEqual([])
  })
})

interface Stage {
  readonly clock: FakeClock
  readonly calls: string[]
  readonly written: FlightRecord[]
  record: FlightRecord
  reading: ExecutorReading | null
  wins: boolean
  /** Every delete, or that of one pod. */
  refuses: boolean | string
  fails: string | null
  touch: TouchAnswer | ((podName: string) => TouchAnswer)
  tranche: ExecutorReading['release']['spec']['tranche']
  /** Observed start of the release in the status. */
  stoppedTime: StoppedTime | undefined
  /** How the pod of node a differs from the view, read live. */
  live: Partial<LivePod> | null | 'fails'
  /** A node, read live. */
  liveNode: FleetNode | null | 'fails'
  /** What the new pod would lack on a node. */
  shortages: Readonly<Record<string, string>>
  minReadySeconds: number
  set(record: FlightRecord, pods?: Readonly<Record<string, Partial<FleetPod>>>): void
  pass(signal?: AbortSignal): Promise<ReconcileResult>
}

/** Three nodes with available old pods, one batch of all, limit 1, as `fields` change the record. */
function aStage(fields: Partial<FlightRecord>): Stage {
  const scope = { workloadUid: 'daemonset', generation: 1, revision: 'new', size: 1_000, partition: 0, limit: 1 }
  const record: FlightRecord = { ...scope, epoch: 1, seq: 1, state: 'open', holds: [], watermark: '1', permits: [], ...fields }
  const stage: Stage = {
    clock: new FakeClock(),
    calls: [],
    written: [],
    record,
    reading: aReading(record, {}),
    wins: true,
    refuses: false,
    fails: null,
    touch: { kind: 'standing', resourceVersion: '20' },
    tranche: undefined,
    stoppedTime: undefined,
    live: {},
    liveNode: null,
    shortages: {},
    minReadySeconds: 0,
    set(changed, pods = {}) {
      stage.record = changed
      const reading = aReading(changed, pods)
      const { release } = reading
      stage.reading = {
        ...reading,
        release: {
          ...release,
          spec: { ...release.spec, ...(stage.tranche !== undefined && { tranche: stage.tranche }) },
          status: { ...release.status, ...(stage.stoppedTime !== undefined && { stoppedTime: stage.stoppedTime }) },
        },
        published: { ...reading.published, minReadySeconds: stage.minReadySeconds },
      }
    },
    pass: (signal = new AbortController().signal) => run(key, signal, silentLogger),
  }
  const run = createExecutorPass({ cluster: portOf(stage), clock: stage.clock })
  return stage
}

/** One whose policy asks for room on each node. */
function aRoomStage(fields: Partial<FlightRecord>): Stage {
  const rules = { room: 'Check' } as const
  const stage = aStage({ scope: scopeTextOf(batchScope(rules, null)), ...fields })
  stage.tranche = { nodes: rules }
  stage.set(stage.record)
  return stage
}

/** Lets the policy ask for something on nodes, and the watch show what was done there. */
function prepare(stage: Stage, done: readonly Partial<Preparation>[], ahead = 0): void {
  const made = done.map(
    (one): Preparation => ({ node: '', check: 'pull', state: 'ready', isAhead: false, isStale: false, changesAtMs: null, ...one }),
  )
  stage.reading = { ...stage.reading!, preparation: { ahead }, prepared: Map.groupBy(made, ({ node }) => node) }
}

/** One of which the controller has seen how the release of that name began. */
function aJudgedStage(release: string): Stage {
  const stage = aStage({ limit: 3, permits: [permitFor('gone'), permitFor('b')] })
  stage.stoppedTime = { release, startedAt: '2023-01-01T00:00:00Z', seconds: 0 }
  return stage
}

/** Ready since the start of the clock. */
const newPodOnA = { a: { hash: 'new', resourceVersion: '20', readyStamp: '2023-01-01T00:00:00Z' } }

/** The first permit is one of this node, whose pod is gone. */
function goneOn(node: string, record: FlightRecord): FlightRecord {
  return { ...record, permits: record.permits.map((permit, at) => (at === 0 ? { ...permit, node } : permit)) }
}

function portOf(stage: Stage): Parameters<typeof createExecutorPass>[0]['cluster'] {
  return {
    read: () => stage.reading,
    async writeRecord(_release, written) {
      stage.calls.push(`writeRecord ${written.permits.map(({ node }) => node).join()}`)
      stage.written.push(written)
      return stage.wins
    },
    async deletePod({ podName }) {
      stage.calls.push(`delete ${podName}`)
      if (stage.fails === podName) throw new Error('the connection was reset')
      return stage.refuses !== true && stage.refuses !== podName
    },
    async touchPod({ podName }) {
      stage.calls.push(`touch ${podName}`)
      return typeof stage.touch === 'function' ? stage.touch(podName) : stage.touch
    },
    async readPod({ name }) {
      stage.calls.push(`read ${name}`)
      if (stage.live === 'fails') throw new Error('the connection was reset')
      return stage.live === null ? null : { ...aFleetPod('a'), ...newPodOnA.a, ...stage.live }
    },
    async readNodes(names) {
      stage.calls.push(names.size === 1 ? `read node ${[...names].join('')}` : `read ${names.size} nodes`)
      if (stage.liveNode === 'fails') throw new Error('the connection was reset')
      const node = stage.liveNode
      return new Map(node === null ? [] : [...names].map((name) => [name, { ...node, name }]))
    },
    async checkNode(_key, node, purpose) {
      stage.calls.push(`check ${node} for ${purpose}`)
      const shortage = stage.shortages[node]
      if (shortage === 'fails') throw new Error('pods is forbidden')
      if (shortage === 'begins') return { kind: 'pending', againInMs: 5_000 }
      return shortage === undefined ? { kind: 'ready', for: 'deletion' } : { kind: 'blocked', reason: 'NoRoom', message: shortage }
    },
    async undoPreparation(_key, { node, check }) {
      stage.calls.push(`undo ${node} of ${check}`)
      if (stage.fails === node) throw new Error('nodes is forbidden')
    },
    async renewPreparation(_key, { node, check }) {
      stage.calls.push(`renew ${node} of ${check}`)
      if (stage.fails === node) throw new Error('leases is forbidden')
    },
    sweepNodes: async () => {},
  }
}

function aReading(flight: FlightRecord, pods: Readonly<Record<string, Partial<FleetPod>>>): ExecutorReading {
  const spec = { releasePlan: { enableExtraWorkloadForCanary: false } }
  return {
    published: {
      ...{ uid: 'daemonset', generation: 1, observedGeneration: 1, controlledBy: 'release', canaryRevision: 'new', stableRevision: 'old' },
      ...{ partition: flight.partition, paused: false, strategy: 'OnDelete', inProgress: true, minReadySeconds: 0 },
    },
    release: { metadata: { ...key, uid: 'release', resourceVersion: '5' }, spec, status: { flight } },
    fleet: aFleet(['a', 'b', 'c'], pods),
    placement: {},
    podsSeen: '100',
  }
}

function aFleet(names: readonly string[], pods: Readonly<Record<string, Partial<FleetPod>>> = {}): ReturnType<typeof toFleetView> {
  return toFleetView(
    names.map((name) => {
      const pod = { ...aFleetPod(name), ...pods[name] }
      return { name, desired: true, ready: true, answers: true, labels: {}, pods: [pod] }
    }),
  )
}

function aLiveNode(taints: FleetNode['taints']): FleetNode {
  return { name: 'z', uid: 'node-z', labels: {}, taints, ready: true, answers: true }
}

function aFleetPod(node: string): FleetPod {
  return {
    ...{
      namespace: 'demo',
      name: `pod-${node}`,
      uid: `pod-${node}`,
      resourceVersion: '9',
      ownerUid: 'daemonset',
      labels: {},
      node,
      hash: 'old',
    },
    ...{
      createdAt: '2023-01-01T00:00:00Z',
      terminating: false,
      phase: 'Running',
      acknowledged: true,
      ready: true,
      readyFromMs: 0,
      readyStamp: undefined,
    },
    ...{ trouble: undefined, restarts: 0, rolloutId: undefined, rolloutBatchId: undefined },
  }
}
