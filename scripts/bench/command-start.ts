/**
 * Measures the run time of the bundled command: `tranche version`, and `tranche get` on a simulated cluster of 30 nodes on this machine.
 * Prints a {@link CommandStart} as JSON.
 */
import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { end, untilReady } from './started-process.ts'

/** Wall-clock milliseconds of each run. */
export interface CommandStart {
  readonly versionMs: readonly number[]
  /** Includes the answers of the API server, which runs on the same machine. */
  readonly getMs: readonly number[]
}

const execute = promisify(execFile)
const count = Number(process.argv[2] ?? '11')
const folder = mkdtempSync(join(tmpdir(), 'tranche-bench-'))
try {
  await execute(process.execPath, ['scripts/bundle-cli.ts', join(folder, 'package')])
  const program = join(folder, 'package/bin/tranche.mjs')
  const seen: CommandStart = { versionMs: await runs(program, ['version']), getMs: await ofCluster(program) }
  console.log(JSON.stringify(seen))
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function ofCluster(program: string): Promise<readonly number[]> {
  const [ready, kubeconfig] = [join(folder, 'ready.json'), join(folder, 'kubeconfig')]
  const cluster = spawn(process.execPath, [program, 'dev', '--nodes', '30', '--ready-file', ready, '--kubeconfig', kubeconfig], {
    stdio: 'ignore',
  })
  try {
    await untilReady(cluster, { name: 'tranche dev', readyFile: ready })
    await execute(process.execPath, [program, 'status', 'node-agent', '-n', 'demo', '--kubeconfig', kubeconfig, '--timeout', '5m'])
    return await runs(program, ['get', 'node-agent', '-n', 'demo', '--kubeconfig', kubeconfig])
  } finally {
    await end(cluster)
  }
}

/** The first run does not count: it fills the compile cache. */
async function runs(program: string, args: readonly string[]): Promise<readonly number[]> {
  const values: number[] = []
  for (let i = 0; i <= count; i++) {
    const startMs = performance.now()
    await execute(process.execPath, [program, ...args])
    if (i > 0) values.push(performance.now() - startMs)
  }
  return values
}
