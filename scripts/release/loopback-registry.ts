/** A real registry on the loopback interface, for a rehearsal: Debian's docker-registry, which needs no installation. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { withApt } from '../image/debian-libraries.ts'
import { freePort } from '../free-port.ts'
import { isOpen, spawnTied } from '../redis-server.ts'

/** A started registry. */
export interface LoopbackRegistry {
  /** Address of its only interface: `127.0.0.1:PORT`. */
  readonly host: string
  /** Ends it and removes its files. */
  dispose(): Promise<void>
}

const PROGRAM = 'docker-registry'

/** Starts a registry on a free port, and waits until it accepts connections. It ends with this process. */
export async function startRegistry(): Promise<LoopbackRegistry> {
  const program = onPath() ?? unpacked()
  const folder = mkdtempSync(join(tmpdir(), 'tranche-registry-'))
  const port = await freePort()
  const host = `127.0.0.1:${port}`
  const settings = { version: '0.1', log: { level: 'error' }, storage: { filesystem: { rootdirectory: folder } }, http: { addr: host } }
  writeFileSync(join(folder, 'config.yml'), JSON.stringify(settings))
  const child = spawnTied(program, ['serve', join(folder, 'config.yml')])
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', resolve)
  })
  const failed = ended.then((code) => Promise.reject(new Error(`${program} ended with ${code} before it listened on ${host}`)))
  failed.catch(() => {})
  while (!(await Promise.race([isOpen(port), failed])));
  return {
    host,
    async dispose() {
      child.kill('SIGKILL')
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function onPath(): string | undefined {
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, PROGRAM))
    .find(existsSync)
}

/** Unpacks Debian's package into a folder of the checkout, which needs no rights and starts no service. */
function unpacked(): string {
  const folder = resolve('node_modules/.cache/release/docker-registry')
  const program = join(folder, 'usr/bin', PROGRAM)
  if (existsSync(program)) return program
  const architecture = process.arch === 'arm64' ? 'arm64' : 'amd64'
  mkdirSync(join(folder, '..'), { recursive: true })
  const half = mkdtempSync(`${folder}-`)
  try {
    withApt(architecture, (options) =>
      execFileSync('apt-get', [...options, '--quiet=2', 'download', PROGRAM], { cwd: half, stdio: 'pipe' }),
    )
    const file = readdirSync(half).find((name) => name.endsWith('.deb')) ?? ''
    execFileSync('dpkg-deb', ['--extract', join(half, file), half], { stdio: 'pipe' })
    renameSync(half, folder)
  } catch (error) {
    rmSync(half, { recursive: true, force: true })
    throw new Error(`${PROGRAM} is not installed, and Debian's package could not be unpacked: apt-get install ${PROGRAM}`, { cause: error })
  }
  return program
}
