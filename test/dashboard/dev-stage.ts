import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, watch } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { spawnTied } from '../../scripts/redis-server.ts'

/** A running `tranche dev` with the built dashboard. */
export interface DevStage {
  /** Base URL of the REST API. */
  readonly api: string
  /** Token of a user with all rights. */
  readonly token: string
  /** Link with a one-time code. */
  readonly link: string
  /** Path of a kubeconfig. */
  readonly kubeconfig: string
  /** Runs kubectl. @returns what it printed */
  kubectl(...args: readonly string[]): string
  /** Creates or changes objects, as a tenant would with kubectl. */
  apply(...objects: readonly object[]): void
  /** Reads the REST API as the user with all rights. */
  get(path: string): Promise<unknown>
  /** Sends an action, as another user of the REST API would. @returns the status of the answer */
  act(rollout: string, action: string, body: object): Promise<number>
  dispose(): void
}

interface ReadyFile {
  readonly kubeconfig: string
  readonly api: string
  readonly apiToken: string
  readonly dashboard: string
}

/** Starts a process on a free port, with the simulated cluster of the demonstration. It ends with the thread that called this. */
export async function startDev(...args: readonly string[]): Promise<DevStage> {
  const root = resolve(import.meta.dirname, '../..')
  execFileSync(process.execPath, [join(root, 'scripts/build-dashboard.ts'), '--if-needed'], { stdio: 'ignore' })
  const folder = mkdtempSync(join(tmpdir(), 'tranche-dashboard-'))
  const readyFile = join(folder, 'ready.json')
  const bin = join(root, 'apps/launcher/bin/tranche.mjs')
  const child = spawnTied(process.execPath, [bin, 'dev', '--ready-file', readyFile, ...args])
  const ended = new Promise<never>((_resolve, reject) => child.once('exit', (code) => reject(new Error(`tranche dev ended with ${code}`))))
  ended.catch(() => {})
  await Promise.race([untilExists(folder, readyFile), ended])
  const { api, apiToken, dashboard, kubeconfig } = JSON.parse(readFileSync(readyFile, 'utf8')) as ReadyFile
  const kubectl = (command: readonly string[], input?: string): string =>
    execFileSync('kubectl', ['--kubeconfig', kubeconfig, ...command], {
      encoding: 'utf8',
      stdio: 'pipe',
      ...(input !== undefined && { input }),
    })
  const headers = { authorization: `Bearer ${apiToken}`, 'content-type': 'application/json' }
  return {
    api,
    token: apiToken,
    link: dashboard,
    kubeconfig,
    kubectl: (...command) => kubectl(command),
    apply: (...items) => void kubectl(['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items })),
    get: async (path) => (await fetch(`${api}/api/v1/${path}`, { headers })).json(),
    async act(rollout, action, body) {
      const [namespace, name] = rollout.split('/')
      const url = `${api}/api/v1/namespaces/${namespace}/rollouts/${name}/actions/${action}?wait=20`
      return (await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })).status
    },
    dispose() {
      child.kill('SIGTERM')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function untilExists(folder: string, file: string): Promise<void> {
  return new Promise((resolve) => {
    const watcher = watch(folder, check)
    function check(): void {
      if (!existsSync(file)) return
      watcher.close()
      resolve()
    }
    check()
  })
}
