/** A Redis master with a replica, and a sentinel that promotes the replica when the master dies. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../free-port.ts'
import { type RedisServer, spawnTied, startRedis } from '../redis-server.ts'
import { until } from './until.ts'

/** A master that can be killed. */
export interface WatchedRedis {
  /** For `--redis`. */
  readonly url: string
  readonly master: RedisServer
}

/** Starts all three, and waits until the sentinel knows the replica. @param cleanup ends them */
export async function startWatchedRedis(program: string, cleanup: AsyncDisposableStack): Promise<WatchedRedis> {
  const master = cleanup.adopt(await startRedis({ program, args: ['--repl-diskless-sync-delay', '0'] }), (server) => server.dispose())
  const args = ['--replicaof', '127.0.0.1', String(master.port)]
  cleanup.adopt(await startRedis({ program, args }), (server) => server.dispose())
  const folder = mkdtempSync(join(tmpdir(), 'tranche-sentinel-'))
  cleanup.defer(() => rmSync(folder, { recursive: true, force: true }))
  const port = await freePort()
  const file = join(folder, 'sentinel.conf')
  const lines = [
    `port ${port}`,
    'bind 127.0.0.1',
    `dir ${folder}`,
    `sentinel monitor main 127.0.0.1 ${master.port} 1`,
    'sentinel down-after-milliseconds main 500',
    'sentinel failover-timeout main 3000',
  ]
  writeFileSync(file, `${lines.join('\n')}\n`)
  const sentinel = spawnTied(program, [file, '--sentinel'])
  cleanup.defer(() => void sentinel.kill('SIGKILL'))
  await until('the sentinel to know the replica', () => knowsReplica(port), { withinSeconds: 30, everyMs: 100 })
  return { url: `redis+sentinel://127.0.0.1:${port}/main`, master }
}

function knowsReplica(port: number): true | string {
  try {
    const info = execFileSync('redis-cli', ['-p', String(port), 'INFO', 'sentinel'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    return info.includes('slaves=1') || 'it does not'
  } catch {
    return 'it does not answer'
  }
}
