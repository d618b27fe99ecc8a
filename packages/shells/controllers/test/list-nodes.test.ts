import { FakeClock } from '@tranche/clock'
import type { DaemonSet } from '@tranche/kube-types'
import { silentLogger } from '@tranche/telemetry'
import { expect, it } from 'vitest'
import { listHiddenNodes } from '../src/list-nodes.ts'
import { aReading } from './recording-port.ts'

const { release, fleet, daemonSet: stored } = aReading({ state: 'open' })
const daemonSet = { ...stored, status: { desiredNumberScheduled: 9 } } as DaemonSet
const going = new AbortController().signal

it.each<[sentence: string, answer: () => Promise<readonly string[]>, hidden: readonly string[] | null]>([
  ['keeps the listed nodes that the view lacks', async () => [...fleet.nodes.map(({ name }) => name), 'x'], ['x']],
  ['knows nothing where nodes cannot be listed', async () => Promise.reject(new Error('no answer')), null],
])('%s', async (_sentence, listDesiredNodes, hidden) => {
  const parts = { cluster: { listDesiredNodes }, clock: new FakeClock(), log: silentLogger, signal: going }
  expect(await listHiddenNodes({ release, fleet }, daemonSet, parts)).toMatchObject({ uid: daemonSet.metadata.uid, counted: 9, hidden })
})

it('throws for a pass that was given up', async () => {
  const listDesiredNodes = async (): Promise<readonly string[]> => Promise.reject(new Error('aborted'))
  const parts = { cluster: { listDesiredNodes }, clock: new FakeClock(), log: silentLogger, signal: AbortSignal.abort() }
  await expect(listHiddenNodes({ release, fleet }, daemonSet, parts)).rejects.toThrow('abort')
})
