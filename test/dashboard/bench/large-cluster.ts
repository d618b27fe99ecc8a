/** A simulated cluster that is as large as the dashboard promises, with the REST API in a process of its own. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createKubeClient, createUndiciExchange, loadKubeConfig } from '../../../packages/adapters/kube-client/src/index.ts'
import { systemClock } from '../../../packages/words/clock/src/index.ts'
import { silentLogger } from '../../../packages/words/telemetry/src/index.ts'
import { end, untilReady } from '../../../scripts/bench/started-process.ts'
import { until } from '../../../scripts/bench/until.ts'
import { createViewers } from './viewers.ts'
import { createFleet, type FleetSize, settleFleet } from './large-fleet.ts'

/** A running cluster with its API. */
export interface LargeCluster {
  /** Base URL of the REST API. */
  readonly api: string
  /** Token of a user with all rights. */
  readonly token: string
  /** Tokens of users who may read everything. */
  readonly viewers: readonly string[]
  /** Process of the REST API. */
  readonly process: ChildProcess
}

const cli = resolve(import.meta.dirname, '../../../apps/launcher/bin/tranche.mjs')

/**
 * Starts the cluster and creates its objects. A controller writes their statuses, and ends before the API starts: the processors belong to
 * the measurement.
 */
export async function startLargeCluster(size: FleetSize, cleanup: AsyncDisposableStack): Promise<LargeCluster> {
  const folder = mkdtempSync(join(tmpdir(), 'tranche-bench-'))
  cleanup.defer(() => rmSync(folder, { recursive: true, force: true }))
  const readyFile = join(folder, 'ready.json')
  const simArgs = ['sim', '--nodes', String(size.nodes), '--no-demo', '--ready-file', readyFile]
  const sim = spawn(process.execPath, ['--max-old-space-size=4096', cli, ...simArgs], { stdio: 'ignore' })
  cleanup.defer(() => end(sim))
  const ready = (await untilReady(sim, { name: 'tranche sim', readyFile })) as { readonly kubeconfig: string; readonly token: string }
  const cluster = await loadKubeConfig({ clock: systemClock, path: ready.kubeconfig, context: undefined, env: {} })
  const sockets = cleanup.adopt(createUndiciExchange(cluster), (open) => open.close())
  const client = createKubeClient({ exchange: sockets.exchange, clock: systemClock, userAgent: 'bench/1', log: silentLogger })
  await createFleet(client, size)
  await withController(ready.kubeconfig, () => settleFleet(client, size))
  const viewers = await createViewers(client, sockets.exchange)
  const process_ = await startApi(ready.kubeconfig, cleanup)
  return { ...process_, token: ready.token, viewers }
}

async function withController(kubeconfig: string, work: () => Promise<void>): Promise<void> {
  const args = [
    'all-in-one',
    '--kubeconfig',
    kubeconfig,
    '--identity',
    'bench',
    '--metrics-port',
    '0',
    '--health-port',
    '0',
    '--api-port',
    '0',
  ]
  const controller = spawn(process.execPath, [cli, ...args], { stdio: 'ignore' })
  try {
    await work()
  } finally {
    await end(controller)
  }
}

async function startApi(kubeconfig: string, cleanup: AsyncDisposableStack): Promise<Pick<LargeCluster, 'api' | 'process'>> {
  const child = spawn(process.execPath, [cli, 'api', '--kubeconfig', kubeconfig, '--api-port', '0'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  cleanup.defer(() => end(child))
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString().slice(0, 100_000 - said.length)))
  const urlIn = (): string | undefined => /http:\/\/[\d.]+:\d+/.exec(said)?.[0]
  const isReady = async (): Promise<true | string> => {
    if (child.exitCode !== null) throw new Error(`tranche api has ended: ${said}`)
    const url = urlIn()
    if (url === undefined) return 'it does not listen'
    const answer = await fetch(`${url}/readyz`)
    return answer.ok || `/readyz is answered with ${answer.status}`
  }
  await until('tranche api to be ready', isReady, { withinSeconds: 120, everyMs: 50 })
  return { api: urlIn()!, process: child }
}
