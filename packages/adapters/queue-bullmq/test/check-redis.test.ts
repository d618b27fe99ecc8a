import { mkdtempSync, rmSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { AppError } from '@tranche/errors'
import { checkRedis, type RedisSettings } from '@tranche/queue-bullmq'
import { describe, expect, it, onTestFinished } from 'vitest'
import { freePort } from '../../../../scripts/free-port.ts'
import { writeTlsFiles } from './certificate.ts'
import { startOldRedis } from './old-redis.ts'
import { isRedisMissing, plainSettings, startTestRedis, type TestRedis } from './redis.ts'

const SECRET = 'hunter2-of-redis'

describe.skipIf(isRedisMissing)('checkRedis', () => {
  it('accepts a Redis that the queue can use', async () => {
    const { settings } = await testRedis()
    await checkRedis({ redis: settings })
  })

  const locked = ['--requirepass', SECRET]
  const aclUser = ['--user', 'tranche', 'on', `>${SECRET}`, '~tranche:*', '+@all']
  const faults: Record<string, Fault> = {
    'rejects a Redis that requires a password': { args: locked, with: {}, code: 'REDIS_REFUSED', says: 'requires a password' },
    'refuses a wrong password': { args: locked, with: { password: `wrong-${SECRET}` }, code: 'REDIS_REFUSED', says: 'does not accept' },
    'refuses an unknown user': {
      args: locked,
      with: { username: 'outsider', password: SECRET },
      code: 'REDIS_REFUSED',
      says: 'does not accept the user or the password',
    },
    'refuses a user without the keys of the queue': {
      args: aclUser,
      with: { username: 'tranche', password: SECRET },
      prefix: 'other',
      code: 'REDIS_REFUSED',
      says: 'denies this user a permission',
    },
    'refuses a replica': { args: ['--replicaof', '127.0.0.1', '1'], with: {}, code: 'REDIS_UNSUITABLE', says: 'is a replica' },
    'refuses TLS where there is none': {
      args: [],
      with: { tls: { ca: undefined } },
      code: 'REDIS_TLS',
      says: 'does not accept TLS on this port',
    },
  }
  it.each(Object.entries(faults))(
    '%s, without the password in the message',
    async (_name, { args, with: changes, prefix = 'tranche', code, says }) => {
      const redis = await testRedis(args)
      expectFault(await faultOf({ ...redis.settings, ...changes }, prefix), code, says)
    },
  )

  it('rejects an untrusted certificate, and one for another host; accepts a trusted one', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tranche-tls-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const port = await freePort()
    const { args, ca } = await writeTlsFiles(folder, port, 'localhost')
    await testRedis(args)
    const settings = { ...plainSettings(port), address: { kind: 'server', host: 'localhost', port } } as const
    await checkRedis({ redis: { ...settings, tls: { ca } } })
    expectFault(await faultOf({ ...settings, tls: { ca: undefined } }), 'REDIS_TLS', 'is not trusted')
    expectFault(await faultOf({ ...plainSettings(port), tls: { ca } }), 'REDIS_TLS', 'is not trusted')
    expectFault(await faultOf(settings), 'REDIS_TLS', 'accepts only TLS on this port')
  })
})

describe('checkRedis', () => {
  it('reports a refused connection', async () => {
    const port = await freePort()
    expectFault(
      await faultOf(plainSettings(port)),
      'REDIS_UNREACHABLE',
      `Redis redis://127.0.0.1:${port} does not answer: connect ECONNREFUSED`,
    )
  })

  it('reports that no sentinel answers', async () => {
    const sentinels = [{ host: '127.0.0.1', port: await freePort() }]
    const settings: RedisSettings = { ...plainSettings(1), address: { kind: 'sentinels', sentinels, master: 'main' } }
    expectFault(await faultOf(settings), 'REDIS_UNREACHABLE', 'All sentinels are unreachable')
  })

  it('gives up on a silent server', async () => {
    const server = createServer(() => {})
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    const error = await checkRedis({ redis: plainSettings(port), deadlineMs: 100 }).catch((thrown: unknown) => thrown)
    expectFault(error, 'REDIS_UNREACHABLE', 'does not answer')
  })

  it('rejects a server that is not Redis', async () => {
    const server = createHttpServer((_request, response) => void response.end('hello'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    expectFault(await faultOf(plainSettings(port)), 'REDIS_UNSUITABLE', 'is not Redis')
  })

  it.each([
    { version: '5.0.7', knowsHello: false },
    { version: '6.0.16', knowsHello: true },
  ])('refuses Redis $version, which is too old', async ({ version, knowsHello }) => {
    const old = await startOldRedis(version, knowsHello)
    onTestFinished(() => old.close())
    expectFault(await faultOf(plainSettings(old.port)), 'REDIS_UNSUITABLE', 'too old')
  })
})

interface Fault {
  readonly args: readonly string[]
  readonly with: Partial<RedisSettings>
  readonly prefix?: string
  readonly code: string
  readonly says: string
}

async function faultOf(redis: RedisSettings, prefix = 'tranche'): Promise<unknown> {
  return checkRedis({ redis, prefix, deadlineMs: 1_000 }).then(
    () => null,
    (error: unknown) => error,
  )
}

function expectFault(error: unknown, code: string, says: string): void {
  expect(error).toBeInstanceOf(AppError)
  expect(error).toMatchObject({ code, hint: expect.stringMatching(/\.$/) })
  expect((error as AppError).message).toContain(says)
  expect(inspect(error, { depth: 10, showHidden: true })).not.toContain(SECRET)
}

async function testRedis(args: readonly string[] = []): Promise<TestRedis> {
  const redis = await startTestRedis({ args })
  onTestFinished(() => redis.dispose())
  return redis
}
