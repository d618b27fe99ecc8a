import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { launch } from '@tranche/launcher'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { redisForTests } from '../../../scripts/redis-for-tests.ts'
import { freePort } from '../../../scripts/free-port.ts'
import { type RedisServer, startRedis } from '../../../scripts/redis-server.ts'

const redisServer = await redisForTests()
const program = redisServer ?? 'redis-server'

describe.skipIf(redisServer === null)('tranche executor --redis', () => {
  let folder: string
  let sim: ChildProcess
  let kubeconfig: string
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tranche-cli-redis-'))
    kubeconfig = join(folder, 'kubeconfig')
    const ready = join(folder, 'ready.json')
    const appears = new Promise<void>((resolve) => {
      const watcher = watch(folder, () => {
        if (!existsSync(ready)) return
        watcher.close()
        resolve()
      })
    })
    sim = start(['sim', '--nodes', '1', '--no-demo', '--kubeconfig', kubeconfig, '--ready-file', ready])
    await appears
  })
  afterAll(() => {
    sim.kill('SIGKILL')
    rmSync(folder, { recursive: true })
  })

  it('stays up but unready with a Redis that rejects the password, and continues once it is fixed', async () => {
    const redis = await testRedis(['--requirepass', 'secret'])
    const passwordFile = join(folder, 'password')
    writeFileSync(passwordFile, 'wrong-one')
    const url = `redis://127.0.0.1:${redis.port}`
    const args = ['--kubeconfig', kubeconfig, '--redis', url, '--redis-password-file', passwordFile, '--health-port', '0']
    const executor = start(['executor', ...args])
    const log = readLog(executor)
    await log.has('cannot use Redis; not ready until that is fixed')
    const readyz = /http:[^"]+\/readyz/.exec(log.text())![0]
    await expect((await fetch(readyz)).json()).resolves.toMatchObject({ programs: { redis: 'REDIS_REFUSED' } })
    expect((await fetch(readyz)).status).toBe(503)
    writeFileSync(passwordFile, 'secret')
    await vi.waitUntil(async () => (await fetch(readyz)).ok, { timeout: 20_000, interval: 50 })
    const exit = new Promise((resolve) => executor.once('exit', resolve))
    executor.kill('SIGTERM')
    await expect(exit).resolves.toBe(0)
    expect(log.text().match(/"level":"error"/g)).toHaveLength(1)
    expect(log.text()).not.toMatch(/wrong-one|secret/)
  })

  it.each([
    ['a URL that is none', 'not-a-url', /^OPTION_INVALID: TRANCHE_REDIS_URL [^\n]*Give redis:\/\/HOST:6379[^\n]+\n$/],
    ['a URL with a word for a port', 'redis://host:secret', /^OPTION_INVALID: TRANCHE_REDIS_URL [^\n]+\n$/],
  ])('ends with one line about %s, which only a restart can reload', async (_, url, line) => {
    let err = ''
    const io = { out: { write: () => true }, err: { write: (text: string) => void (err += text) } }
    const code = await launch(['executor', '--kubeconfig', kubeconfig], { ...io, env: { TRANCHE_REDIS_URL: url } })
    expect([code, err]).toEqual([2, expect.stringMatching(line)])
    expect(err).not.toContain('secret')
  })

  it('waits for an unavailable Redis, logs two lines without the password, and stops on a signal', async () => {
    const port = await freePort()
    const env = { ...process.env, TRANCHE_REDIS_PASSWORD: 'hunter2' }
    const args = ['executor', '--kubeconfig', kubeconfig, '--redis', `redis://127.0.0.1:${port}`, '--log-level', 'debug']
    const executor = start(args, env)
    const log = readLog(executor)
    await log.has('REDIS_UNREACHABLE')
    await testRedis(['--requirepass', 'hunter2'], port)
    await log.has('Redis is back')
    expect(readFileSync(`/proc/${executor.pid}/cmdline`, 'utf8')).not.toContain('hunter2')
    const exit = new Promise((resolve) => executor.once('exit', resolve))
    executor.kill('SIGTERM')
    await expect(exit).resolves.toBe(0)
    await log.has('"msg":"stopped"')
    expect(log.text()).not.toContain('hunter2')
    expect(log.text().match(/jobs wait until it is back/g)).toHaveLength(1)
    expect(log.text().match(/Redis is back/g)).toHaveLength(1)
  })

  it('stops on a signal while Redis is unavailable', async () => {
    const executor = start(['executor', '--kubeconfig', kubeconfig, '--redis', `redis://127.0.0.1:${await freePort()}`])
    await readLog(executor).has('REDIS_UNREACHABLE')
    const exit = new Promise((resolve) => executor.once('exit', resolve))
    const askedMs = performance.now()
    executor.kill('SIGTERM')
    await expect(exit).resolves.toBe(0)
    // A program that does not end by itself is ended after 15 seconds.
    expect(performance.now() - askedMs).toBeLessThan(14_000)
  })
})

async function testRedis(args: readonly string[], port?: number): Promise<RedisServer> {
  const redis = await startRedis({ program, args, ...(port !== undefined && { port }) })
  onTestFinished(() => redis.dispose())
  return redis
}

function start(args: readonly string[], env: NodeJS.ProcessEnv = process.env): ChildProcess {
  return spawn(process.execPath, ['apps/launcher/bin/tranche.mjs', ...args], { stdio: ['ignore', 'ignore', 'pipe'], env })
}

/** Standard error of a process. */
function readLog(child: ChildProcess): { text(): string; has(word: string): Promise<void> } {
  let text = ''
  const waiting = new Set<() => void>()
  child.stderr?.on('data', (data: Buffer) => {
    text += data.toString()
    for (const look of waiting) look()
  })
  const has = (word: string): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (!text.includes(word)) return
        waiting.delete(look)
        resolve()
      }
      waiting.add(look)
      look()
    })
  return { text: () => text, has }
}
