import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** The members of a container that are used here. */
export interface ContainerSpec {
  readonly name: string
  readonly command: readonly string[]
  readonly args: readonly string[]
  readonly env?: readonly { readonly name: string; readonly value: string }[]
  /** Content of the mounted files, by their path below `/etc/tranche`. */
  readonly files?: Readonly<Record<string, string>>
}

/** Environment of a pod: the image, the address of the API server, and the token of its account. */
export interface PodSetting {
  /** Folder with the files of the image. */
  readonly image: string
  readonly server: string
  readonly caCertificate: string
  readonly token: string
  readonly namespace: string
}

/** A container as a process of this machine. */
export interface RunningContainer {
  /** Output so far, of both streams. */
  output(): string
  /** Resolves with the line that contains the text; rejects if the container ends before. */
  said(text: string | RegExp): Promise<string>
  /** Resolves with the exit code. */
  readonly ended: Promise<number | null>
  /** Asks the container to end, like the kubelet. */
  terminate(): void
  /** Replaces mounted files, like the kubelet when a Secret has changed. */
  write(files: Readonly<Record<string, string>>): void
}

const ACCOUNT = '/run/secrets/kubernetes.io/serviceaccount'
const FILES = '/etc/tranche'

/** Mounts the root of a container, as root: the files of the image, and what an engine adds to them. Only `/tmp` is writable. */
const prepare = `
set -e
mount --bind "$2" /mnt
cd /mnt
for part in dev/null dev/urandom proc; do mount --bind /$part $part; done
mount --bind "$1/account" .${ACCOUNT}
mount --bind "$1/files" .${FILES}
for part in .${ACCOUNT} .${FILES}; do mount -o remount,bind,ro $part; done
mount -o remount,bind,ro /mnt
mount -t tmpfs -o mode=1777 tmpfs tmp
shift 2
exec env -i PATH=/usr/local/bin:/usr/bin "$@"
`
/** The image has no program that changes the user, so `chroot` does both. A process of another user than root has no capability. */
const asUser = ['/usr/bin/setpriv', '--no-new-privs', '/usr/sbin/chroot', '--userspec=65532:65532', '--groups=', '/mnt']

/** @returns why containers cannot run on this machine; null if they can */
export function whyNoContainers(): string | null {
  try {
    execFileSync('unshare', ['--mount', 'sh', '-c', 'mount -t tmpfs tmpfs /mnt && setpriv --version && dpkg-deb --version'], {
      stdio: 'pipe',
    })
    return null
  } catch {
    return 'this user may not mount, or unshare, setpriv and dpkg-deb are missing'
  }
}

/**
 * Runs a container as a process with exactly the environment of its pod: a read-only root with the image, and a `/tmp` of its own. It runs
 * as user 65532, without capabilities and without a home. The token of its account is at the usual path, and its environment is as declared.
 * Only the network is that of this machine.
 */
export function runContainer({ command, args, env = [], files = {} }: ContainerSpec, setting: PodSetting): RunningContainer {
  const folder = mkdtempSync(join(tmpdir(), 'tranche-pod-'))
  write(join(folder, 'account'), { token: setting.token, 'ca.crt': setting.caCertificate, namespace: setting.namespace })
  write(join(folder, 'files'), files)
  execFileSync('chmod', ['-R', 'a+rX', folder])
  const { hostname, port } = new URL(setting.server)
  const declared = [{ name: 'KUBERNETES_SERVICE_HOST', value: hostname }, { name: 'KUBERNETES_SERVICE_PORT', value: port }, ...env].map(
    ({ name, value }) => `${name}=${value}`,
  )
  const child = spawn('unshare', [
    ...['--mount', 'sh', '-c', prepare, 'sh', folder, setting.image],
    ...[...declared, ...asUser, ...command, ...args],
  ])
  return follow(child, {
    write: (changed) => write(join(folder, 'files'), changed),
    onEnd: () => rmSync(folder, { recursive: true, force: true }),
  })
}

function write(folder: string, files: Readonly<Record<string, string>>): void {
  mkdirSync(folder, { recursive: true })
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text, { mode: 0o644 })
  }
}

function follow(
  child: ChildProcess,
  { write: put, onEnd }: Pick<RunningContainer, 'write'> & { readonly onEnd: () => void },
): RunningContainer {
  let output = ''
  const waiting = new Set<() => void>()
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve)).finally(onEnd)
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk) => {
      output += String(chunk)
      for (const look of waiting) look()
    })
  return {
    output: () => output,
    ended,
    terminate: () => void child.kill('SIGTERM'),
    write: put,
    said(text) {
      return new Promise((resolve, reject) => {
        const look = (): void => {
          const line = output.split('\n').find((one) => (typeof text === 'string' ? one.includes(text) : text.test(one)))
          if (line === undefined) return
          waiting.delete(look)
          resolve(line)
        }
        waiting.add(look)
        look()
        void ended.then((code) => reject(new Error(`ended with ${code} before it said ${text}:\n${output}`)))
      })
    },
  }
}
