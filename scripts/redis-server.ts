/** Finds, installs if possible, starts and ends real redis-servers for tests, benchmarks and demonstrations. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { accessSync, constants, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

/** A started redis-server on the loopback interface. */
export interface RedisServer {
  readonly port: number
  /** Data folder. */
  readonly folder: string
  /** Kills it, as a power cut would, and waits until it has ended. */
  kill(): Promise<void>
  /** Starts it again on the same port; it is empty unless its arguments turn persistence on. */
  start(): Promise<void>
  /** Stops it from answering, without closing connections. */
  freeze(): void
  /** Continues after `freeze`. */
  thaw(): void
  /** Ends it and removes its data folder. */
  dispose(): Promise<void>
}

/** Options of {@link startRedis}. */
export interface RedisServerOptions {
  /** Program, as found by {@link findRedis}. @default redis-server */
  readonly program?: string
  /** Command-line arguments: `['--maxmemory-policy', 'allkeys-lru']`. */
  readonly args?: readonly string[]
  /** @default a free port */
  readonly port?: number
}

/** Starts a redis-server without persistence, and waits until it accepts connections. */
export async function startRedis({ program = 'redis-server', args = [], port: wanted }: RedisServerOptions = {}): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), 'tranche-redis-'))
  const port = wanted ?? (await freePort())
  const base = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--loglevel', 'warning']
  let child: ChildProcess
  const start = async (): Promise<void> => {
    child = spawn(program, [...base, ...args], { stdio: 'ignore' })
    await untilOpen(args.includes('--tls-port') ? Number(args[args.indexOf('--tls-port') + 1]) : port, child)
  }
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
    child.kill('SIGKILL')
    await gone
  }
  await start()
  return {
    port,
    folder,
    kill,
    start,
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    async dispose() {
      await kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** @returns a free port of the loopback interface */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}

/** Resolves when the port accepts connections; rejects if the program ends before. */
async function untilOpen(port: number, child: ChildProcess): Promise<void> {
  const ended = new Promise<never>((_resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`redis-server ended with ${code} before it listened on port ${port}`)))
  })
  ended.catch(() => {})
  while (!(await Promise.race([isOpen(port), ended])));
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('connect', () => resolve(true))
    socket.on('error', () => resolve(false))
    socket.on('close', () => resolve(false))
    socket.on('connect', () => socket.destroy())
  })
}

/** Path of redis-server, or why there is none. */
export type FoundRedis = { readonly program: string } | { readonly missing: string }

/**
 * Finds redis-server on the PATH. If it is missing, installs Debian's package if apt-get is available and permitted. The service of the
 * package is not started.
 */
export function findRedis(): FoundRedis {
  const program = programOnPath('redis-server')
  if (program !== null) return { program }
  if (programOnPath('apt-get') === null) return { missing: 'redis-server is not installed and there is no apt-get' }
  if (process.getuid?.() !== 0) return { missing: 'redis-server is not installed, and only root may install it' }
  try {
    installRedis()
  } catch (error) {
    return { missing: `redis-server is not installed, and apt-get could not: ${lastLine(error)}` }
  }
  const installed = programOnPath('redis-server')
  return installed === null ? { missing: 'the package redis-server brought no redis-server' } : { program: installed }
}

/** Debian runs this file to decide whether a service may be started; exit code 101 forbids it. */
const POLICY = '/usr/sbin/policy-rc.d'

function installRedis(): void {
  const isOurs = !existsSync(POLICY)
  if (isOurs) writeFileSync(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
  try {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
    const waiting = ['-o', 'DPkg::Lock::Timeout=120']
    const install = (): void =>
      void execFileSync('apt-get', [...waiting, 'install', '-y', '-q', '--no-install-recommends', 'redis-server'], { env, stdio: 'pipe' })
    try {
      install()
    } catch {
      execFileSync('apt-get', [...waiting, 'update', '-q'], { env, stdio: 'pipe' })
      install()
    }
  } finally {
    if (isOurs) rmSync(POLICY)
  }
}

function programOnPath(name: string): string | null {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    const path = join(folder, name)
    try {
      accessSync(path, constants.X_OK)
      return path
    } catch {}
  }
  return null
}

function lastLine(error: unknown): string {
  const text = error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error)
  return text.trim().split('\n').at(-1) ?? ''
}
