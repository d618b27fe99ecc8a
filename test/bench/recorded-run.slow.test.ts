import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { recordedRows } from '../../scripts/bench/recorded-run.ts'
import type { Row } from '../../scripts/bench/row.ts'

let folder: string
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'tranche-recorded-'))))
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe('recordings of real clusters', () => {
  it('have the figures of the judge, and the requests and processes beside them', async () => {
    write('rec.ndjson', recordingOfTwoNodes())
    write('requests.json', JSON.stringify({ 'rollout-ui (tranche-executor/1)': { total: 5 }, 'kcm/daemon-set-controller': { total: 8 } }))
    write('proc.json', JSON.stringify({ contestant: { cpuSeconds: 0.5, peakRssMiB: 120 } }))
    const rows = await recordedRows([folder], 1)
    const values = Object.fromEntries(rows.map(({ name, values: [value] }: Row) => [name, value]))
    expect(values).toMatchObject({
      '100 of 2 nodes, 1 at once: makespan': 6.1,
      '… ÷ lower bound with batches': 1.22,
      '… first deletion after the change': 100,
      '… available to next deletion, median': 1_000,
      '… most nodes down at once': 1,
      '… requests of tranche-executor': 2.5,
      '… requests of kcm/daemon-set-controller': 4,
      '… CPU of contestant': 250,
      '… peak memory (RSS) of contestant': 120,
    })
    expect(values['… recorded against simulated Tranche']).toBeCloseTo(
      1.22 / (values['… simulated Tranche: ÷ lower bound with batches'] ?? 0),
    )
  })

  it.each([
    ['without a path', [], 1, 'name at least one file or folder'],
    ['without a limit', ['a'], Number.NaN, '--limit has to be maxUnavailable'],
  ] as const)('%s are refused', async (_what, paths, limit, message) => {
    await expect(recordedRows(paths, limit)).rejects.toThrow(message)
  })
})

function write(name: string, text: string): void {
  writeFileSync(join(folder, name), text)
}

/** Two nodes, one after the other: down for 3 s and for 2 s, with 1 s between. */
function recordingOfTwoNodes(): string {
  const pod = (t: number, type: string, node: string, uid: string, more: object): object => ({
    t,
    type,
    kind: 'Pod',
    rv: t,
    o: { name: `agent-${uid}`, uid, owner: 'agent', node, ready: true, deleting: false, ...more },
  })
  const daemonSet = (t: number, type: string, generation: number): object => ({
    t,
    type,
    kind: 'DaemonSet',
    rv: t,
    o: { name: 'agent', generation, annotations: {} },
  })
  const lines = [
    pod(0, 'LIST', 'a', '1', {}),
    pod(0, 'LIST', 'b', '2', {}),
    daemonSet(0, 'LIST', 1),
    daemonSet(1_000, 'MODIFIED', 2),
    pod(1_100, 'MODIFIED', 'a', '1', { deleting: true }),
    pod(1_600, 'DELETED', 'a', '1', { deleting: true }),
    pod(4_100, 'MODIFIED', 'a', '3', {}),
    pod(5_100, 'MODIFIED', 'b', '2', { deleting: true }),
    pod(5_600, 'DELETED', 'b', '2', { deleting: true }),
    pod(7_100, 'MODIFIED', 'b', '4', {}),
  ]
  return lines.map((line) => JSON.stringify(line)).join('\n')
}
