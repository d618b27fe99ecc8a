import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { redisForTests } from '../../scripts/redis-for-tests.ts'
import { findRedis, isOpen } from '../../scripts/redis-server.ts'

describe.skipIf(process.platform !== 'linux')('a machine without redis-server', () => {
  it('gets it from one apt-get if several tests need it at once, and its service stays off', async () => {
    const { calls, policy, ...machine } = bareMachine()
    const found = await Promise.all(Array.from({ length: 4 }, () => findRedis({ ...machine, policy, isRoot: true })))
    expect(found).toEqual(Array.from({ length: 4 }, () => ({ program: join(machine.path, 'redis-server') })))
    expect(calls()).toEqual([expect.stringMatching(/ install .*redis-server, service forbidden$/)])
    expect(existsSync(policy)).toBe(false)
  })

  it('gets it after an update of the lists if the first attempt fails, and keeps the policy of its owner', async () => {
    const { calls, policy, ...machine } = bareMachine({ needsUpdate: true })
    writeFileSync(policy, '#!/bin/sh\nexit 101\n')
    expect(await findRedis({ ...machine, policy, isRoot: true })).toEqual({ program: join(machine.path, 'redis-server') })
    expect(calls().map((call) => / (install|update) /.exec(call)?.[1])).toEqual(['install', 'update', 'install'])
    expect(existsSync(policy)).toBe(true)
  })

  it('is left alone by a user who is not root', async () => {
    const { calls, policy, ...machine } = bareMachine()
    expect(await findRedis({ ...machine, policy, isRoot: false })).toEqual({
      missing: 'redis-server is not installed, and only root may install it',
    })
    expect(calls()).toEqual([])
  })
})

const program = await redisForTests()

describe.skipIf(program === null || process.platform !== 'linux')('a Redis that no test stops ends with', () => {
  const code = `
    const { startRedis } = await import(${JSON.stringify(pathToFileURL('scripts/redis-server.ts').href)})
    const { port } = await startRedis({ program: ${JSON.stringify(program)} })
    report(port)
    setInterval(() => {}, 1_000)`

  it('the worker that started it', async () => {
    const worker = new Worker(
      new URL(
        `data:text/javascript,${encodeURIComponent(`import { parentPort } from 'node:worker_threads'
      const report = (port) => parentPort.postMessage(port)
      ${code}`)}`,
      ),
    )
    const [port] = (await once(worker, 'message')) as [number]
    expect(await isOpen(port)).toBe(true)
    await worker.terminate()
    await untilClosed(port)
  })

  it('the process that started it, even if that is killed', async () => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', `const report = console.log\n${code}`], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [text] = (await once(child.stdout, 'data')) as [Buffer]
    expect(await isOpen(Number(text))).toBe(true)
    child.kill('SIGKILL')
    await untilClosed(Number(text))
  })
})

async function untilClosed(port: number): Promise<void> {
  await vi.waitUntil(async () => !(await isOpen(port)), { timeout: 20_000, interval: 20 })
}

/** A folder with the programs of a Debian that has no redis-server, and an apt-get that installs it there. */
function bareMachine({ needsUpdate = false } = {}): { readonly path: string; readonly policy: string; calls(): readonly string[] } {
  const folder = mkdtempSync(join(tmpdir(), 'tranche-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const [path, policy, log, lists] = ['bin', 'policy-rc.d', 'calls', 'lists'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
    string,
  ]
  mkdirSync(path)
  for (const name of ['sh', 'rm', 'chmod', 'flock', 'sleep']) symlinkSync(placeOf(name), join(path, name))
  if (!needsUpdate) writeFileSync(lists, '')
  const aptGet = `#!/bin/sh
[ -e '${policy}' ] && service=forbidden || service=started
echo "$*, service $service" >>'${log}'
case "$*" in
  *' update '*) echo >'${lists}' ;;
  *) [ -e '${lists}' ] || exit 100
     sleep 0.2
     echo '#!/bin/sh' >'${path}/redis-server'
     chmod 755 '${path}/redis-server' ;;
esac
`
  writeFileSync(join(path, 'apt-get'), aptGet, { mode: 0o755 })
  return { path, policy, calls: () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []) }
}

function placeOf(program: string): string {
  return ['/usr/bin', '/bin'].map((folder) => join(folder, program)).find(existsSync) ?? program
}
