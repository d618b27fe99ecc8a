import { FakeClock } from '@tranche/clock'
import type { DaemonSet } from '@tranche/kube-types'
import { silentLogger } from '@tranche/telemetry'
import { describe, expect, it } from 'vitest'
import { listUnseenNodes } from '../src/list-nodes.ts'
import { aReading } from './recording-port.ts'

const { release, fleet, daemonSet: stored } = aReading({ state: 'open' })
const daemonSet = { ...stored, status: { desiredNumberScheduled: 9 } } as DaemonSet
const going = new AbortController().signal

describe('a live list of nodes', () => {
  it.each<[sentence: string, answer: () => Promise<readonly string[]>, unseen: readonly string[] | null]>([
    ['has only the nodes that the view lacks', async () => [...fleet.nodes.map(({ name }) => name), 'x'], ['x']],
    ['says nothing where it fails', async () => Promise.reject(new Error('no answer')), null],
  ])('%s', async (_sentence, listDesiredNodes, unseen) => {
    const parts = { cluster: { listDesiredNodes }, clock: new FakeClock(), log: silentLogger, signal: going }
    expect(await listUnseenNodes({ release, fleet }, daemonSet, parts)).toMatchObject({
      uid: daemonSet.metadata.uid,
      counted: 9,
      unseen,
      againMs: parts.clock.monotonicMs() + 30_000,
    })
  })

  it('fails with the pass that asked for it', async () => {
    const listDesiredNodes = async (): Promise<readonly string[]> => Promise.reject(new Error('aborted'))
    const parts = { cluster: { listDesiredNodes }, clock: new FakeClock(), log: silentLogger, signal: AbortSignal.abort() }
    await expect(listUnseenNodes({ release, fleet }, daemonSet, parts)).rejects.toThrow('abort')
  })
})
