import { spawn } from 'node:child_process'
import type { BenchSet } from '../bench-set.ts'
import type { HundredAnalyses } from '../hundred-analyses.ts'
import { measureHttpsLoad } from '../https-load.ts'
import type { Row } from '../row.ts'
import { reportedOnly } from '../row.ts'
import { runForOne, times } from '../run-script.ts'
import type { VirtualRelease } from '../virtual-release.ts'

const cli = 'apps/launcher/bin/tranche.mjs'

/** Speed of the simulator with Tranche on it. */
export const simulatorSet: BenchSet = {
  about:
    'The simulator: whole releases in virtual time, writes over HTTPS, and analyses. Time per event is processor time divided by the accepted writes.',
  minutes: 2,
  isDefault: true,
  isReported: true,
  isExact: false,
  measure: async ({ runs }) => [
    { name: '300 nodes, 3 steps, virtual time', unit: 's', values: await times(runs, demoRelease), limit: { atMost: 10 } },
    ...(await largeFleet()),
    ...(await httpsLoad()),
    { name: '100 analyses at once, memory above idle', unit: 'MiB', values: await times(runs, analysesMemory), limit: { atMost: 60 } },
  ],
}

function demoRelease(): Promise<number> {
  return secondsOf(process.execPath, [cli, 'dev', '--virtual', '--demo', '--exit', '--nodes', '300', '-o', 'json'])
}

async function largeFleet(): Promise<readonly Row[]> {
  const run = (nodes: number): Promise<VirtualRelease> => runForOne<VirtualRelease>(['scripts/bench/virtual-release.ts', String(nodes)])
  const [small, large] = [await run(500), await run(5_000)]
  const ratio = large.busySeconds / large.events / (small.busySeconds / small.events)
  return [
    { name: '5,000 nodes, 5 steps, virtual time', unit: 's', values: [large.seconds], limit: { atMost: 15 } },
    { name: '… most memory', unit: 'MiB', values: [large.rssMebibytes], limit: { atMost: 1_536 } },
    { name: '… time per event, against 500 nodes', unit: '×', values: [ratio], limit: { atMost: 2 } },
  ]
}

/** Answers of 2 KiB, as for a query with about ten series. */
async function analysesMemory(): Promise<number> {
  const args = ['scripts/bench/hundred-analyses.ts', '2048']
  return (await runForOne<HundredAnalyses>(args, ['--expose-gc'])).aboveIdleMebibytes
}

async function httpsLoad(): Promise<readonly Row[]> {
  const { perCoreSecond, perSecond } = await measureHttpsLoad(cli)
  return [
    { name: 'HTTPS: writes per second of one core', unit: '/s', values: [perCoreSecond], limit: { atLeast: 3_000 } },
    { name: '… per second on the wall', unit: '/s', values: [perSecond], limit: reportedOnly },
  ]
}

/** @returns wall-clock seconds of a command that has to succeed */
export function secondsOf(command: string, args: readonly string[]): Promise<number> {
  const startMs = performance.now()
  return new Promise((resolve, reject) => {
    spawn(command, args, { stdio: 'ignore' }).on('exit', (code) => {
      if (code === 0) resolve((performance.now() - startMs) / 1000)
      else reject(new Error(`${command} ${args.join(' ')} ended with ${code}`))
    })
  })
}
