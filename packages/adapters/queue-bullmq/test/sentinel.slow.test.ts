import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '@tranche/clock'
import { silentLogger } from '@tranche/telemetry'
import { createEnqueuer } from '@tranche/queue'
import { checkRedis, type RedisSettings } from '@tranche/queue-bullmq'
import { Redis } from 'ioredis'
import { describe, expect, it, onTestFinished } from 'vitest'
import { freePort } from '../../../../scripts/free-port.ts'
import { spawnTied } from '../../../../scripts/redis-server.ts'
import { type Line, openQueue, quick, recordWork } from './queue-bench.ts'
import { isRedisMissing, plainSettings, redisServer, startTestRedis, type TestRedis } from './redis.ts'

describe.skipIf(isRedisMissing)('under Sentinel', () => {
  it('the queue switches to the new master when the old one dies, and keeps replicated keys', async () => {
    const master = await startTestRedis({ args: ['--repl-diskless-sync-delay', '0'] })
    const replica = await startTestRedis({ args: ['--replicaof', '127.0.0.1', String(master.port)] })
    for (const server of [master, replica]) onTestFinished(() => server.dispose())
    const sentinel = await startSentinel(master.port)
    const settings: RedisSettings = {
      ...plainSettings(0),
      address: { kind: 'sentinels', sentinels: [{ host: '127.0.0.1', port: sentinel.port }], master: 'main' },
    }
    await sentinel.knowsReplica()
    await checkRedis({ redis: settings })

    const lines: Line[] = []
    const queue = openQueue(settings, 'sentinel', { lines, timing: quick })
    await queue.enqueue('before')
    // Replication is asynchronous; what has not reached the replica is announced again by a sweep.
    await untilReplicated(master, replica)
    const enqueuer = createEnqueuer({ queue, clock: systemClock, log: silentLogger })
    onTestFinished(() => enqueuer.stop())
    await master.kill()
    enqueuer.enqueue('meanwhile')
    const worked = recordWork()
    const both = Promise.all([worked.next(), worked.next()])
    queue.process(worked.handler, { concurrency: 1 })
    await expect(both).resolves.toEqual(['before', 'meanwhile'])
    expect(lines.map(({ level }) => level)).toEqual(['warn', 'info'])
    await expect(replica.admin.info('replication')).resolves.toContain('role:master')
  })
})

/** Resolves when the replica has everything that the master has now. WAIT would wait for writes of its own connection alone. */
async function untilReplicated(master: TestRedis, replica: TestRedis): Promise<void> {
  const written = await offsetOf(master, 'master_repl_offset')
  while ((await offsetOf(replica, 'slave_repl_offset')) < written);
}

/** -1 for a replica that has not synchronized yet. */
async function offsetOf({ admin }: TestRedis, field: 'master_repl_offset' | 'slave_repl_offset'): Promise<number> {
  const info = await admin.info('replication')
  const isSynchronized = field === 'master_repl_offset' || info.includes('master_link_status:up')
  return isSynchronized ? Number(new RegExp(`${field}:(\\d+)`).exec(info)?.[1] ?? -1) : -1
}

/** A real sentinel that watches the master on `port` under the name `main` and is alone in its judgement. */
async function startSentinel(port: number): Promise<{ readonly port: number; knowsReplica(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'tranche-sentinel-'))
  const own = await freePort()
  const rules = [
    `port ${own}`,
    'bind 127.0.0.1',
    `dir ${folder}`,
    `sentinel monitor main 127.0.0.1 ${port} 1`,
    'sentinel down-after-milliseconds main 300',
    'sentinel failover-timeout main 2000',
  ]
  const file = join(folder, 'sentinel.conf')
  writeFileSync(file, `${rules.join('\n')}\n`)
  const child = spawnTied(redisServer ?? '', [file, '--sentinel'])
  const admin = new Redis({ port: own, host: '127.0.0.1', retryStrategy: () => 20, maxRetriesPerRequest: null })
  admin.on('error', () => {})
  onTestFinished(() => {
    admin.disconnect()
    child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })
  return {
    port: own,
    async knowsReplica() {
      while (!(await admin.info('sentinel')).includes('slaves=1'));
    },
  }
}
