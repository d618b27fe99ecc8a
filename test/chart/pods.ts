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
  /** Folder with Tranche's part of the image. */
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

/**
 * Builds the root of a container, as root: Tranche's part of the image, and Node.js and the libraries of the base image from this
 * machine. Only `/tmp` is writable.
 */
const prepare = `
set -e
mount -t tmpfs tmpfs /mnt
cd /mnt
mkdir -p tmp proc dev etc usr/bin usr/lib usr/local/bin opt/tranche var run/secrets/kubernetes.io
mkdir .${ACCOUNT} .${FILES}
ln -s /run var/run
for part in lib lib64; do
  if [ -L /$part ]; then cp -P /$part $part; elif [ -d /$part ]; then mkdir $part; mount --bind /$part $part; fi
done
if [ -d /usr/lib64 ]; then mkdir usr/lib64; mount --bind /usr/lib64 usr/lib64; fi
touch dev/null dev/urandom usr/bin/env usr/bin/setpriv usr/local/bin/node
for part in usr/lib usr/bin/env usr/bin/setpriv dev/null dev/urandom proc; do mount --bind /$part $part; done
mount --bind "$3" usr/local/bin/node
mount --bind "$2" opt/tranche
mount --bind "$1/account" .${ACCOUNT}
mount --bind "$1/files" .${FILES}
ln -s /opt/tranche/bin/tranche.mjs usr/local/bin/tranche
for part in opt/tranche usr/lib .${ACCOUNT} .${FILES}; do mount -o remount,bind,ro $part; done
mount -o remount,ro /mnt
mount -t tmpfs -o mode=1777 tmpfs tmp
shift 3
exec env -i PATH=/usr/local/bin:/usr/bin "$@"
`
const asUser = [
  '/usr/sbin/chroot',
  '/mnt',
  '/usr/bin/setpriv',
  '--reuid=65532',
  '--regid=65532',
  '--clear-groups',
  '--bounding-set=-all',
  '--no-new-privs',
]

/** @returns why containers cannot run on this machine; null if they can */
export function whyNoContainers(): string | null {
  try {
    execFileSync('unshare', ['--mount', 'sh', '-c', 'mount -t tmpfs tmpfs /mnt && setpriv --version'], { stdio: 'pipe' })
    return null
  } catch {
    return 'this user may not mount, or unshare and setpriv are missing'
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
    ...['--mount', 'sh', '-c', prepare, 'sh', folder, setting.image, process.execPath],
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
