import { daemonSetAnnotations } from '@tranche/kube-types'
import { FakeClock } from '@tranche/clock'
import { createReleasePass, type ReleaseReading } from '@tranche/controllers'
import type { FlightRecord, Permit } from '@tranche/api-schema'
import { AppError } from '@tranche/errors'
import { toFleetView } from '@tranche/fleet'
import { silentLogger } from '@tranche/telemetry'
import type { ReconcileResult } from '@tranche/reconcile'
import { applyPatch } from '@tranche/testing'
import { describe, expect, it } from 'vitest'
import { aFleetPod, aReading, recordingPort, type RecordingPort } from './recording-port.ts'

const key = { namespace: 'demo', name: 'agent' }
const stopped = { state: 'stopped' } as const
const permitOn = (node: string): Permit => ({ node, podUid: `pod-${node}`, podResourceVersion: '9' })
const permits = ['a', 'b'].map(permitOn)
const revoking: Partial<FlightRecord> = { state: 'voiding', holds: [{ reason: 'Paused', id: '1' }], permits }
const unclear = { kind: 'unclear', why: '500' } as const

it('touches the DaemonSet of a BatchRelease by hand every 30 s while no ControllerRevision holds its template (G6)', async () => {
  const port = recordingPort()
  const { release, ...reading } = aReading(stopped)
  const { ownerReferences: _none, ...metadata } = release.metadata
  const { tranche: _ours, ...spec } = release.spec
  const { [daemonSetAnnotations.rollout]: _unbound, ...annotations } = reading.daemonSet!.metadata.annotations!
  const daemonSet = { ...reading.daemonSet!, metadata: { ...reading.daemonSet!.metadata, annotations } }
  port.reading = { ...reading, daemonSet, release: { ...release, metadata, spec }, revisions: [] }
  const clock = new FakeClock()
  const touchedAtMs: number[] = []
  port.patchDaemonSet = async (read, patch) => {
    if (JSON.stringify(patch).includes('touched')) touchedAtMs.push(clock.monotonicMs())
    return read
  }
  port.patchStatus = async (read, patch) => {
    port.reading = { ...port.reading!, release: applyPatch(read, patch)! }
  }
  const run = createReleasePass({ cluster: port, clock, events: { record: () => {} } as never })
  const startMs = clock.monotonicMs()
  for (let second = 0; second < 70; second++) {
    for (let pass = 0; pass < 3; pass++) await run(key, new AbortController().signal, silentLogger)
    clock.advance(1_000)
  }
  expect(touchedAtMs.map((ms) => Math.round((ms - startMs) / 1_000))).toEqual([30, 60])
})

/** What a pass finds after its predecessor has patched the DaemonSet. */
interface Later {
  readonly daemonSet?: string
  readonly release?: string
  readonly afterMs?: number
}

describe('a pass over a BatchRelease', () => {
  it('does nothing when the BatchRelease is gone', async () => {
    const port = recordingPort()
    port.reading = null
    expect(await pass(port)).toEqual({ kind: 'awaitChange' })
    expect(port.calls).toEqual([])
  })

  it('writes one thing, and rechecks at once', async () => {
    const port = recordingPort()
    expect(await pass(port)).toEqual({ kind: 'recheckAfter', ms: 0 })
    expect(port.calls).toEqual(['patchStatus'])
  })

  it('opens a record only after reading everything live (F9)', async () => {
    const port = recordingPort(stopped)
    await pass(port)
    expect(port.calls).toEqual(['readLive', 'writeRecord open'])
  })

  it('opens a record with its status, if the BatchRelease is as the watch showed it (F9, G9)', async () => {
    const port = recordingPort(stopped)
    await pass(port)
    expect(port.known).toEqual([{ release: port.reading!.release, daemonSet: undefined }])
    expect(port.exact).toEqual([expect.arrayContaining([expect.objectContaining({ path: '/status/observedGeneration' })])])
  })

  it('reads the BatchRelease, too, where it is not as the watch showed it (F9)', async () => {
    const port = recordingPort(stopped)
    port.winsExact = false
    await pass(port)
    expect(port.calls).toEqual(['readLive', 'writeRecord open', 'readLive', 'writeRecord open'])
    expect(port.known.at(-1)).toBeUndefined()
    expect(port.exact.at(-1)).toBeUndefined()
  })

  it.each([
    ['reads no DaemonSet that it stored itself since it read the BatchRelease (F9)', {}, true],
    ['reads a DaemonSet that has another version than it stored', { daemonSet: '41' }, false],
    ['reads a DaemonSet that it stored before it read the BatchRelease', { release: '51' }, false],
    ['reads no DaemonSet that it stored almost five seconds ago', { afterMs: 4_999 }, true],
    ['reads a DaemonSet that it stored five seconds ago, whatever its watches show', { afterMs: 5_000 }, false],
  ])('%s', async (_name, { afterMs = 0, ...versions }: Later, isKnown) => {
    const port = recordingPort({ ...stopped, size: 1, partition: 0 })
    const clock = new FakeClock()
    const run = createReleasePass({ cluster: port, clock, events: { record: () => {} } as never })
    const { daemonSet, release } = port.reading!
    const published = daemonSet!.metadata.annotations!
    const unpublished = { ...published, [daemonSetAnnotations.partition]: '1' }
    const withVersion = <T extends { readonly metadata: object }>(object: T, resourceVersion: string | undefined): T =>
      resourceVersion === undefined ? object : { ...object, metadata: { ...object.metadata, resourceVersion } }
    port.reading = { ...port.reading!, daemonSet: { ...daemonSet!, metadata: { ...daemonSet!.metadata, annotations: unpublished } } }
    await run(key, new AbortController().signal, silentLogger)
    expect(port.calls).toEqual([expect.stringContaining('patchDaemonSet')])
    clock.advance(afterMs)
    port.reading = {
      ...port.reading,
      daemonSet: withVersion(daemonSet!, versions.daemonSet),
      release: withVersion(release, versions.release),
    }
    await run(key, new AbortController().signal, silentLogger)
    expect(port.known[0]?.daemonSet !== undefined).toBe(isKnown)
  })

  it('removes the finalizer after a live read of the DaemonSet alone, from the version that it was planned for (F11)', async () => {
    const port = recordingPort()
    port.reading = port.live = handedBack()
    expect(await pass(port)).toEqual({ kind: 'awaitChange' })
    expect(port.calls).toEqual(['readLive', 'setFinalizer false'])
    expect(port.known).toEqual([{ release: port.reading.release, daemonSet: undefined, withoutRollout: true }])
  })

  it('keeps the finalizer while the live DaemonSet names the BatchRelease (F11)', async () => {
    const port = recordingPort()
    port.reading = handedBack()
    port.live = { ...port.reading, daemonSet: aReading().daemonSet }
    expect(await pass(port)).toEqual({ kind: 'recheckAfter', ms: 500 })
    expect(port.calls).toEqual(['readLive'])
  })

  it('removes the finalizer once from a version, and again from another one, which a client may have put it on', async () => {
    const port = recordingPort()
    port.reading = port.live = handedBack()
    const run = createReleasePass({ cluster: port, clock: new FakeClock(), events: { record: () => {} } as never })
    const again = () => run(key, new AbortController().signal, silentLogger)
    await again()
    await again()
    expect(port.calls).toEqual(['readLive', 'setFinalizer false'])
    const { release } = port.reading
    port.reading = port.live = { ...port.reading, release: { ...release, metadata: { ...release.metadata, resourceVersion: '51' } } }
    await again()
    expect(port.calls.slice(2)).toEqual(['readLive', 'setFinalizer false'])
  })

  it('removes the finalizer again where the write failed', async () => {
    const port = recordingPort()
    port.reading = port.live = handedBack()
    const run = createReleasePass({ cluster: port, clock: new FakeClock(), events: { record: () => {} } as never })
    port.fails = new Error('no answer')
    await expect(run(key, new AbortController().signal, silentLogger)).rejects.toThrow('no answer')
    port.fails = null
    await run(key, new AbortController().signal, silentLogger)
    expect(port.calls).toEqual(['readLive', 'setFinalizer false', 'readLive', 'setFinalizer false'])
  })

  it('opens no record when the live read changes the plan (F9)', async () => {
    const port = recordingPort(stopped)
    port.live = aReading(stopped, { paused: true })
    expect(await pass(port)).toEqual({ kind: 'recheckAfter', ms: 500 })
    expect(port.calls).toEqual(['readLive'])
  })

  it('opens no record when the live read shows another epoch (F9)', async () => {
    const port = recordingPort(stopped)
    port.live = aReading({ ...stopped, epoch: 2, seq: 2 })
    await pass(port)
    expect(port.records).toEqual([])
  })

  it('opens the live record when only its permits have settled since, or its watermark has risen (F9)', async () => {
    const port = recordingPort({ ...stopped, permits, watermark: '40' })
    port.live = aReading({ ...stopped, seq: 2, watermark: '60' })
    await pass(port)
    expect(port.records).toMatchObject([{ state: 'open', seq: 3, permits: [], watermark: '60' }])
  })

  it('opens the record even if pods changed between the two reads, and rests on the newest version of both (F2, F9)', async () => {
    const port = recordingPort({ ...stopped, watermark: '40' })
    port.live = aReading({ ...stopped, watermark: '30' })
    await pass(port)
    expect(port.records).toMatchObject([{ state: 'open', watermark: '40' }])
  })

  it('rests an opening after a lost record on the touches of the old pods (F2, F11)', async () => {
    const port = recordingPort({ ...stopped, workloadUid: 'before' })
    await pass(port)
    expect(port.records).toMatchObject([{ state: 'open', workloadUid: 'daemonset', watermark: '99' }])
  })

  it('opens no record when the live read shows no BatchRelease', async () => {
    const port = recordingPort(stopped)
    port.live = null
    expect(await pass(port)).toEqual({ kind: 'awaitChange' })
    expect(port.records).toEqual([])
  })

  it('rechecks later when another process has written the record', async () => {
    const port = recordingPort(stopped)
    port.wins = false
    expect(await pass(port)).toEqual({ kind: 'recheckAfter', ms: 1_000 })
  })

  it('restores a lost record with the pods in flight, only after a touch of every remaining pod was answered (F11)', async () => {
    const port = recordingPort()
    const reading = aReading()
    port.reading = { ...reading, release: { ...reading.release, status: {} } }
    port.pods = [aFleetPod('a', { resourceVersion: '9' })]
    port.touches = { 'pod-a': unclear }
    expect(await pass(port)).toEqual({ kind: 'recheckAfter', ms: 500 })
    expect(port.records).toEqual([])
    port.touches = {}
    await pass(port)
    expect(port.calls).toEqual([
      'listPods',
      'touch pod-a',
      'listPods',
      'touch pod-a',
      'listPods',
      'listDesiredNodes',
      'writeRecord stopped',
    ])
    expect(port.records).toMatchObject([{ state: 'stopped', watermark: '9', permits: [{ node: 'b', podUid: 'lost:b' }] }])
  })

  it('lets the first record rest on the highest version of a live list (F2)', async () => {
    const port = recordingPort()
    const reading = aReading()
    const { metadata } = reading.daemonSet!
    const { [daemonSetAnnotations.controlInfo]: _control, ...annotations } = metadata.annotations!
    const unclaimed = { ...reading.daemonSet!, metadata: { ...metadata, annotations } }
    port.reading = { ...reading, daemonSet: unclaimed, release: { ...reading.release, status: {} } }
    port.pods = [aFleetPod('a', { resourceVersion: '9' }), aFleetPod('b', { resourceVersion: '10' })]
    await pass(port)
    expect(port.calls).toEqual(['listPods', 'writeRecord stopped'])
    expect(port.records[0]?.watermark).toBe('10')
  })

  it('stops in one write when a touch of every pod in the record was answered (F8)', async () => {
    const port = recordingPort(revoking)
    await pass(port)
    expect(port.calls).toEqual(['findPods', 'touch pod-a', 'touch pod-b', 'writeRecord stopped'])
    expect(port.records[0]?.permits).toEqual([])
  })

  it('touches remaining pods before terminating ones, because each of their answers removes a permit (F8)', async () => {
    const port = recordingPort({ ...revoking, permits: ['gone', 'going', 'a', 'b'].map(permitOn) })
    port.pods = [aFleetPod('going', { terminating: true }), aFleetPod('a'), aFleetPod('b')]
    port.touches = { 'pod-going': { kind: 'executed' } }
    await pass(port)
    expect(port.calls).toEqual(['findPods', 'touch pod-a', 'touch pod-b', 'touch pod-going', 'writeRecord stopped'])
    expect(port.records[0]?.permits).toEqual(['gone', 'going'].map(permitOn))
  })

  it('retries a pause that lost a race before it stops the record (F8)', async () => {
    const port = asksForPause()
    port.fails = new AppError('WRITE_CONFLICT', 'the DaemonSet changed')
    const run = passOf(port)
    await expect(run()).rejects.toThrow('the DaemonSet changed')
    await expect(run()).rejects.toThrow('the DaemonSet changed')
    port.fails = null
    await run()
    expect(port.calls).toEqual(Array.from({ length: 3 }, () => 'patchDaemonSet /metadata/annotations/tranche.dev~1paused'))
  })

  it('stops without the paused annotation if the API server refuses it (F8, G9)', async () => {
    const port = asksForPause()
    port.fails = new Error('a policy refuses it')
    const run = passOf(port)
    await run()
    port.fails = null
    await run()
    expect(port.calls).toEqual(['patchDaemonSet /metadata/annotations/tranche.dev~1paused', 'writeRecord voiding'])
  })

  it('does not stop while a touch has no clear answer, and keeps that permit (F8)', async () => {
    const port = recordingPort(revoking)
    port.touches = { 'pod-b': unclear }
    expect(await pass(port)).toEqual({ kind: 'recheckAfter', ms: 500 })
    expect(port.records).toMatchObject([{ state: 'voiding', permits: [permits[1]] }])
  })

  it('writes no record when no touch got a clear answer, then reports it, then touches again', async () => {
    const port = recordingPort(revoking)
    port.touches = { 'pod-a': unclear, 'pod-b': unclear }
    const run = passOf(port)
    await run()
    await run()
    expect(port.calls).toEqual(['findPods', 'touch pod-a', 'touch pod-b', 'patchStatus'])
  })

  it('names the first pod without a clear answer, the number of others, and the fix (F8)', async () => {
    const port = recordingPort(revoking)
    port.touches = { 'pod-a': unclear, 'pod-b': unclear }
    const run = passOf(port)
    await run()
    await run()
    expect(JSON.stringify(port.patches.at(-1))).toContain(
      'the stop waits until it is known whether a deletion is still in flight: the pod on a and 1 more (500); Tranche asks again by itself: check that the API server answers and that nothing rejects changes to pods',
    )
  })

  it('does not count touches that it aborted itself as answers (F8)', async () => {
    const port = recordingPort(revoking)
    port.touches = { 'pod-a': { kind: 'unclear', why: 'batch-release stops' } }
    const run = passOf(port)
    await expect(run(AbortSignal.abort(new Error('batch-release stops')))).rejects.toThrow('batch-release stops')
    port.touches = {}
    await run()
    expect(port.calls).toEqual(['findPods', 'touch pod-a', 'touch pod-b', 'findPods', 'touch pod-a', 'touch pod-b', 'writeRecord stopped'])
  })

  it('counts a pod missing from the live list as executed, and keeps its permit until it settles', async () => {
    const port = recordingPort(revoking)
    port.pods = [aFleetPod('a')]
    await pass(port)
    expect(port.calls).toEqual(['findPods', 'touch pod-a', 'writeRecord stopped'])
    expect(port.records[0]?.permits).toEqual([permits[1]])
  })

  it('opens the record of a recreated DaemonSet once its old pods are touched (F11)', async () => {
    const port = recordingPort({ ...stopped, workloadUid: 'before' })
    port.live = aReading({ ...stopped, workloadUid: 'before' })
    port.pods = [aFleetPod('a'), aFleetPod('b', { terminating: true })]
    await pass(port)
    expect(port.calls).toEqual(['listPods', 'touch pod-a', 'readLive', 'writeRecord open'])
  })

  it('opens no record while the live Rollout requests a stop (F9)', async () => {
    const port = recordingPort(stopped)
    port.live = aReading(stopped)
    port.stopAsked = true
    expect(await pass(port)).toEqual({ kind: 'recheckAfter', ms: 500 })
    expect(port.records).toEqual([])
  })

  it('opens no record while a touch of an old pod of a lost record has no clear answer (F11)', async () => {
    const port = recordingPort({ ...stopped, workloadUid: 'before' })
    port.touches = { 'pod-a': unclear }
    expect(await pass(port)).toEqual({ kind: 'recheckAfter', ms: 500 })
    expect(port.records).toEqual([])
  })

  it('lowers the limit and removes permits that were not executed, in one write (F10)', async () => {
    const port = recordingPort({ limit: 2, permits })
    await pass(port)
    expect(port.calls).toEqual(['findPods', 'touch pod-a', 'touch pod-b', 'writeRecord open'])
    expect(port.records[0]).toMatchObject({ limit: 1, permits: [] })
  })

  it('does not lower the limit while a touch has no clear answer (F10)', async () => {
    const port = recordingPort({ limit: 2, permits })
    port.touches = { 'pod-b': unclear }
    await pass(port)
    expect(port.records).toMatchObject([{ limit: 2, permits: [permits[1]] }])
  })

  it('labels a pod once, until its watch shows the label', async () => {
    const port = withUnlabelledPod()
    const run = passOf(port)
    await run()
    await run()
    expect(port.calls).toEqual(['label pod-a', 'patchStatus'])
  })

  it('retries a pod that cannot be labelled after a while, and delays nothing else for it (G6)', async () => {
    const port = withUnlabelledPod()
    port.labels = new Error('pods are protected by a policy')
    const clock = new FakeClock()
    const run = passOf(port, clock)
    await run()
    await run()
    clock.advance(30_000)
    await run()
    expect(port.calls).toEqual(['label pod-a', 'patchStatus', 'label pod-a'])
  })

  it('skips a changed pod until its watch, which may be minutes late, shows the change', async () => {
    const port = withUnlabelledPod()
    port.labels = 'changed'
    const clock = new FakeClock()
    const run = passOf(port, clock)
    await run()
    clock.advance(600_000)
    await run()
    port.reading = withUnlabelledPod('10').reading
    await run()
    expect(port.calls).toEqual(['label pod-a', 'patchStatus', 'label pod-a'])
  })

  it('rethrows errors', async () => {
    const port = recordingPort()
    port.fails = new Error('the connection was reset')
    await expect(pass(port)).rejects.toThrow('the connection was reset')
  })
})

function pass(port: RecordingPort): Promise<ReconcileResult> {
  return passOf(port)()
}

/** A pod of the revision on node a, with the labels of another release. */
function withUnlabelledPod(resourceVersion = '9'): RecordingPort {
  const record = { size: 1 }
  const port = recordingPort(record)
  const pod = aFleetPod('a', { hash: 'new', rolloutId: 'before', resourceVersion })
  port.reading = {
    ...aReading(record),
    fleet: toFleetView([{ name: 'a', desired: true, ready: true, answers: true, labels: {}, pods: [pod] }]),
  }
  return port
}

/** A release that its Rollout wants paused, before anything was done for it. */
function asksForPause(): RecordingPort {
  const port = recordingPort({ permits })
  port.reading = aReading({ permits }, { paused: true })
  return port
}

function passOf(cluster: RecordingPort, clock = new FakeClock()): (signal?: AbortSignal) => Promise<ReconcileResult> {
  const events = { record: (_of: unknown, _type: unknown, reason: string) => void cluster.calls.push(`event ${reason}`) } as never
  const run = createReleasePass({ cluster, clock, events })
  return (signal = new AbortController().signal) => run(key, signal, silentLogger)
}

/** A BatchRelease that is being deleted, with a stopped record, and a DaemonSet that names none. */
function handedBack(): ReleaseReading {
  const { release, daemonSet, ...reading } = aReading(stopped)
  const metadata = { ...release.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' }
  return {
    ...reading,
    release: { ...release, metadata },
    daemonSet: { ...daemonSet!, metadata: { ...daemonSet!.metadata, annotations: {} } },
  }
}
