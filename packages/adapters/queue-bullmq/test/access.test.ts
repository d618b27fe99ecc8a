import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { systemClock } from '@tranche/clock'
import { type Logger, silentLogger } from '@tranche/telemetry'
import { createEnqueuer } from '@tranche/queue'
import { checkRedis, createBullmqQueue, type RedisSettings } from '@tranche/queue-bullmq'
import { describe, expect, it, onTestFinished } from 'vitest'
import { freePort } from '../../../../scripts/free-port.ts'
import { writeTlsFiles } from './certificate.ts'
import { openQueue, quick, recordWork } from './queue-bench.ts'
import { isRedisMissing, startTestRedis, type TestRedis } from './redis.ts'

const SECRET = 'hunter2-of-redis'

describe.skipIf(isRedisMissing)('the queue works', () => {
  it('as a user with the permissions that docs/operations/redis.md grants, and no more', async () => {
    const [, rights = ''] = /ACL SETUSER tranche on '>PASSWORD' (.*)/.exec(readFileSync('docs/operations/redis.md', 'utf8')) ?? []
    const redis = await testRedis()
    await redis.admin.call('ACL', 'SETUSER', 'tranche', 'on', `>${SECRET}`, ...rights.replaceAll("'", '').split(' '))
    const settings = { ...redis.settings, username: 'tranche', password: SECRET }
    await checkRedis({ redis: settings })
    await expectWork(settings)
    const log = await redis.admin.call('ACL', 'LOG')
    expect(log).toEqual([])
    await expect(redis.admin.call('ACL', 'DRYRUN', 'tranche', 'FLUSHALL')).resolves.toContain('no permissions')
  })

  it('with a rotated password, on every new connection', async () => {
    const redis = await testRedis()
    const setPassword = (text: string): Promise<unknown> =>
      redis.admin.call('ACL', 'SETUSER', 'app', 'on', 'resetpass', `>${text}`, '~*', '+@all')
    let password = 'one'
    await setPassword(password)
    const { address, database, sentinelPassword, tls } = redis.settings
    const settings = {
      address,
      database,
      sentinelPassword,
      tls,
      username: 'app',
      get password() {
        return password
      },
    }
    const queue = openQueue(settings, 'rotated', { timing: quick })
    const worked = recordWork()
    queue.process(worked.handler, { concurrency: 1 })
    const first = worked.next()
    await queue.enqueue('a')
    await first
    await setPassword('two')
    password = 'two'
    await redis.admin.call('CLIENT', 'KILL', 'USER', 'app')
    const second = worked.next()
    const enqueuer = createEnqueuer({ queue, clock: systemClock, log: silentLogger })
    onTestFinished(() => enqueuer.stop())
    enqueuer.enqueue('b')
    await expect(second).resolves.toBe('b')
  })

  it('over TLS', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tranche-tls-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const port = await freePort()
    const { args, ca } = await writeTlsFiles(folder, port, 'localhost')
    const redis = await testRedis(args)
    await expectWork({ ...redis.settings, address: { kind: 'server', host: 'localhost', port }, tls: { ca } })
  })
})

describe.skipIf(isRedisMissing)('the password', () => {
  it('is in no log line, even at debug, when it is wrong', async () => {
    const redis = await testRedis(['--requirepass', 'another'])
    const lines: string[] = []
    const reported = Promise.withResolvers<void>()
    const note = (fields: object, message: string): void => void lines.push(inspect({ fields, message }, { depth: 10, showHidden: true }))
    const log: Logger = { ...silentLogger, debug: note, info: note, error: note, warn: (...line) => (note(...line), reported.resolve()) }
    const settings = { ...redis.settings, username: 'default', password: SECRET }
    const queue = createBullmqQueue({ redis: settings, clock: systemClock, log, timing: quick })
    onTestFinished(() => queue.close(0))
    queue.process(recordWork().handler, { concurrency: 1 })
    const refusal = await queue.enqueue('a').catch((error: unknown) => error)
    await reported.promise
    expect(lines.join()).toContain('does not accept the user or the password')
    expect([...lines, inspect(refusal, { depth: 10, showHidden: true })].filter((line) => line.includes(SECRET))).toEqual([])
  })
})

/** Announced, delayed and repeated work; then the end. */
async function expectWork(settings: RedisSettings): Promise<void> {
  const queue = openQueue(settings, 'tranche')
  const worked = recordWork()
  queue.process(worked.handler, { concurrency: 2 })
  const both = Promise.all([worked.next(), worked.next()])
  await queue.enqueue('a')
  await queue.enqueueAfter('b', 50)
  await both
  await queue.close(1_000)
  expect(worked.keys).toEqual(['a', 'b'])
}

async function testRedis(args: readonly string[] = []): Promise<TestRedis> {
  const redis = await startTestRedis({ args })
  onTestFinished(() => redis.dispose())
  return redis
}
