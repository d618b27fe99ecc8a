import type { ExistingCopy, PinView } from '@tranche/config'
import { AppError } from '@tranche/errors'
import type { DaemonSet } from '@tranche/kube-types'
import { silentLogger } from '@tranche/telemetry'
import { expect, it } from 'vitest'
import { attemptPins, type Attempt } from '../src/pins/attempt-pins.ts'
import { collectCopies } from '../src/pins/collect-copies.ts'
import type { PinPort } from '../src/pins/pin-port.ts'

const daemonSet = { metadata: { namespace: 'demo', name: 'agent', uid: 'd1' }, spec: { template: { spec: {} } } } as unknown as DaemonSet
const none = { named: [], unused: [], marked: [] }
const aborted = AbortSignal.abort(new Error('the term has ended'))
const going = new AbortController().signal

it('a copy that cannot be marked keeps no other one from being marked or deleted', async () => {
  const { port, calls } = aPort('forged')
  const collection = { ...none, unused: [aCopy('forged'), aCopy('b')], marked: [aCopy('c', true), aCopy('forged', true), aCopy('d', true)] }
  expect(await collectCopies(port, { daemonSet, view: viewOf(collection.marked), collection, release: 'agent' }, going, silentLogger)).toBe(
    true,
  )
  expect(calls).toEqual(['mark forged', 'mark b', 'touch', 'delete c', 'delete forged', 'delete d'])
})

it('a collection in which every write fails has written nothing', async () => {
  const { port } = aPort('forged')
  const collection = { ...none, unused: [aCopy('forged')] }
  expect(await collectCopies(port, { daemonSet, view: viewOf([]), collection, release: 'agent' }, going, silentLogger)).toBe(false)
})

it('a collection ends with the signal', async () => {
  const { port, calls } = aPort('forged')
  const collection = { ...none, unused: [aCopy('forged'), aCopy('b')] }
  const work = collectCopies(port, { daemonSet, view: viewOf([]), collection, release: 'agent' }, aborted, silentLogger)
  await expect(work).rejects.toThrow('the term has ended')
  expect(calls).toEqual(['mark forged'])
})

it.each([
  ['is tried again at once', 0, { kind: 'wrote', isLost: true }],
  ['holds the release and says why, after ten in a row', 10, { kind: 'held', why: expect.stringContaining('DaemonSet agent changed') }],
])('a lost race %s', async (_name, lost, want) => {
  const { port } = aPort('forged', new AppError('WRITE_CONFLICT', 'DaemonSet agent changed since it was read'))
  const on = {
    view: aView(),
    daemonSet,
    timing: { kind: 'now', operations: [] },
    wasPinned: false,
    mayCollect: true,
    lost,
    onForged: () => {},
  }
  expect(await attemptPins(port, on as unknown as Attempt, going, silentLogger)).toMatchObject(want)
})

function aCopy(name: string, isUnused = false): ExistingCopy {
  return { kind: 'ConfigMap', name, uid: name, resourceVersion: '1', source: 'a', salt: undefined, isUnused }
}

function viewOf(copies: readonly ExistingCopy[]): PinView {
  return { ...aReading(), copies, revisions: [], pods: [] }
}

function aReading(): Awaited<ReturnType<PinPort['read']>> {
  const owner = { namespace: 'demo', name: 'agent', uid: 'd1' }
  const template = { spec: {} }
  return {
    owner,
    kinds: ['ConfigMap'],
    template,
    offered: 'ConfigMap/a=a-1',
    sources: new Map(),
    copies: [],
    recorded: new Set(),
    forged: [],
    taken: new Map(),
    isObserved: true,
  }
}

function aView(): object {
  return { rollout: { metadata: { namespace: 'demo', name: 'agent' } }, revisions: [] }
}

/** A port on which every write of the copy with this name fails. @param refusal of a pin */
function aPort(forged: string, refusal?: Error): { readonly port: PinPort; readonly calls: string[] } {
  const calls: string[] = []
  const write = async (what: string, name: string): Promise<void> => {
    calls.push(`${what} ${name}`)
    if (name === forged) throw new AppError('WRITE_CONFLICT', 'metadata.annotations: Too long')
  }
  const port: PinPort = {
    versions: () => null,
    read: async () => aReading(),
    createCopy: async () => {},
    mark: (_daemonSet, { name }) => write('mark', name),
    async pin() {
      if (refusal !== undefined) throw refusal
    },
    async touch() {
      calls.push('touch')
      return { template: { spec: {} }, offered: undefined, revisions: [], pods: [], isObserved: true }
    },
    deleteCopy: (_daemonSet, { name }) => write('delete', name),
  }
  return { port, calls }
}
