import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BenchSet } from '../bench-set.ts'
import type { CommandStart } from '../command-start.ts'
import { runForOne, times } from '../run-script.ts'
import { end, untilReady } from '../started-process.ts'

/** The bundled command, as in the npm package and the image, and `tranche dev` from a checkout. */
export const startSet: BenchSet = {
  about: 'Run time of the bundled command, with a simulated cluster of 30 nodes on this machine, and the start of `tranche dev`.',
  minutes: 1,
  isDefault: true,
  isReported: true,
  isExact: false,
  async measure({ runs }) {
    const { versionMs, getMs } = await runForOne<CommandStart>(['scripts/bench/command-start.ts'])
    return [
      { name: 'tranche version, bundled', unit: 'ms', values: versionMs, limit: { atMost: 80 } },
      { name: 'tranche get, bundled, with a cluster on this machine', unit: 'ms', values: getMs, limit: { atMost: 150 } },
      { name: 'tranche dev, start to ready', unit: 's', values: await times(runs, startToReady), limit: { atMost: 2 } },
    ]
  },
}

async function startToReady(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'tranche-bench-'))
  const readyFile = join(folder, 'ready.json')
  const startMs = performance.now()
  const child = spawn(process.execPath, ['apps/launcher/bin/tranche.mjs', 'dev', '--no-demo', '--ready-file', readyFile], {
    stdio: 'ignore',
  })
  try {
    await untilReady(child, { name: 'tranche dev', readyFile, everyMs: 2 })
    return (performance.now() - startMs) / 1000
  } finally {
    await end(child)
    rmSync(folder, { recursive: true, force: true })
  }
}
