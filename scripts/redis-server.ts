/** Finds, installs if possible, starts and ends real redis-servers for tests, benchmarks and demonstrations. */
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'

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

/** Path of redis-server, or why there is none. */
export type FoundRedis = { readonly program: string } | { readonly missing: string }

/** The machine on which {@link findRedis} looks. Every default is the actual one. */
export interface Machine {
  /** Folders with programs. */
  readonly path?: string
  readonly isRoot?: boolean
  /** Debian runs this file to decide whether a service may be started; exit code 101 forbids it. @default /usr/sbin/policy-rc.d */
  readonly policy?: string
}

/**
 * Finds redis-server on the PATH. If it is missing, installs Debian's package if apt-get is available and permitted. The service of the
 * package is not started. Several processes may call this at the same time: one installs, the others wait for it.
 */
export async function findRedis({
  path = process.env['PATH'] ?? '',
  isRoot = process.getuid?.() === 0,
  policy = '/usr/sbin/policy-rc.d',
}: Machine = {}): Promise<FoundRedis> {
  const program = programOnPath('redis-server', path)
  if (program !== null) return { program }
  if (programOnPath('apt-get', path) === null) return { missing: 'redis-server is not installed and there is no apt-get' }
  if (!isRoot) return { missing: 'redis-server is not installed, and only root may install it' }
  try {
    const env = { ...process.env, PATH: path, POLICY: policy, DEBIAN_FRONTEND: 'noninteractive' }
    // The lock is that of the folder, so that it leaves no file behind; the kernel releases it when the process ends.
    await promisify(execFile)('flock', ['--timeout', '300', '--close', dirname(policy), 'sh', '-c', installation], { env })
  } catch (error) {
    return { missing: `redis-server is not installed, and apt-get could not: ${lastLine(error)}` }
  }
  const installed = programOnPath('redis-server', path)
  return installed === null ? { missing: 'the package redis-server brought no redis-server' } : { program: installed }
}

/** Does nothing if another process has installed it in the meantime. Removes only a policy that it wrote, also when it is interrupted. */
const installation = `
command -v redis-server >/dev/null && exit 0
if [ ! -e "$POLICY" ]; then
  trap 'exit 1' HUP INT TERM
  trap 'rm -f "$POLICY"' EXIT
  printf '#!/bin/sh\\nexit 101\\n' >"$POLICY"
  chmod 755 "$POLICY"
fi
apt() { apt-get -o DPkg::Lock::Timeout=120 "$@"; }
install() { apt install -y -q --no-install-recommends redis-server; }
install || { apt update -q && install; }
`

function programOnPath(name: string, path: string): string | null {
  for (const folder of path.split(delimiter)) {
    const program = join(folder, name)
    try {
      accessSync(program, constants.X_OK)
      return program
    } catch {}
  }
  return null
}

function lastLine(error: unknown): string {
  const text = error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error)
  return text.trim().split('\n').at(-1) ?? ''
}
