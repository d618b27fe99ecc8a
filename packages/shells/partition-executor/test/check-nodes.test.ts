import { FakeClock } from '@tranche/clock'
import type { NodeCheck } from '@tranche/fence'
import { silentLogger } from '@tranche/telemetry'
import { expect, it } from 'vitest'
import { checkNodes } from '../src/check-nodes.ts'
import { createNodeReadings } from '../src/node-readings.ts'

const key = { namespace: 'demo', name: 'agent' }
const question = { node: 'a', permit: { node: 'a', podUid: 'p1', podResourceVersion: '7' } }
const NO_ROOM: NodeCheck = { kind: 'blocked', reason: 'NoRoom', message: 'no room' }

it.each<[sentence: string, answer: NodeCheck | Error, kind: NodeCheck['kind']]>([
  ['a failed request gives up no drain', new Error('timeout'), 'pending'],
  ['room that could not be read gives up no drain', { ...NO_ROOM, reason: 'RoomUnread' }, 'pending'],
  ['a node without room gives its drain up', NO_ROOM, 'blocked'],
])('%s', async (_sentence, answer, kind) => {
  const clock = new FakeClock()
  const readings = createNodeReadings()
  const answers: (NodeCheck | Error)[] = [{ kind: 'pending', againInMs: 15_000 }, answer]
  const checkNode = async (): Promise<NodeCheck> => {
    const next = answers.shift()!
    if (next instanceof Error) throw next
    return next
  }
  const unused = async (): Promise<never> => Promise.reject(new Error('unused'))
  const cluster = { checkNode, undoPreparation: unused, renewPreparation: unused }
  const parts = { cluster, clock, readings, signal: new AbortController().signal, log: silentLogger }
  for (const _look of [1, 2]) await checkNodes(key, { nodes: [question], purpose: 'deletion' }, parts)
  expect(readings.of(undefined, undefined, 0).get('a')?.check.kind).toBe(kind)
})
