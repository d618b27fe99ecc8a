/** Finds, installs if possible, starts and ends real redis-servers for tests, benchmarks and demonstrations. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findProgram, type FoundProgram, type Machine } from './debian-program.ts'
import { freePort } from './free-port.ts'

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

/**
 * Starts a redis-server without persistence, and waits until it accepts connections. On Linux it ends with the thread that started it,
 * even without `dispose`.
 */
export async function startRedis({ program = 'redis-server', args = [], port: wanted }: RedisServerOptions = {}): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), 'tranche-redis-'))
  const port = wanted ?? (await freePort())
  const base = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--loglevel', 'warning']
  let child: ChildProcess
  const start = async (): Promise<void> => {
    child = spawnTied(program, [...base, ...args])
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

/**
 * Starts a program without standard streams. On Linux the kernel kills it when the thread that called this ends, for whatever reason.
 */
export function spawnTied(program: string, args: readonly string[]): ChildProcess {
  canTie ??= spawnSync('setpriv', [...tie, 'true'], { stdio: 'ignore' }).status === 0
  return canTie ? spawn('setpriv', [...tie, program, ...args], { stdio: 'ignore' }) : spawn(program, args, { stdio: 'ignore' })
}

const tie = ['--pdeathsig', 'KILL']
/** Whether this machine has a setpriv that knows these arguments. */
let canTie: boolean | undefined

/** Resolves when the port accepts connections; rejects if the program ends before. */
async function untilOpen(port: number, child: ChildProcess): Promise<void> {
  const ended = new Promise<never>((_resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`redis-server ended with ${code} before it listened on port ${port}`)))
  })
  ended.catch(() => {})
  while (!(await Promise.race([isOpen(port), ended])));
}

/** @returns whether a program accepts connections on this port of the loopback interface */
export function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('connect', () => resolve(true))
    socket.on('error', () => resolve(false))
    socket.on('close', () => resolve(false))
    socket.on('connect', () => socket.destroy())
  })
}

/**
 * Finds redis-server on the PATH. If it is missing, installs Debian's package if apt-get is available and permitted. The service of the
 * package is not started.
 */
export function findRedis(machine?: Machine): Promise<FoundProgram> {
  return findProgram('redis-server', machine)
}
