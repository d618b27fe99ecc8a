import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

/** What we run of a container. */
export interface ContainerSpec {
  readonly name: string
  readonly command: readonly string[]
  readonly args: readonly string[]
  readonly env?: readonly { readonly name: string; readonly value: string }[]
}

/** What the kubelet gives to every pod: where the API server is, and the token of its account. */
export interface PodAccount {
  readonly server: string
  readonly caCertificate: string
  readonly token: string
  readonly namespace: string
}

/** A container as a process of this machine. */
export interface RunningContainer {
  /** What it said so far, on both streams. */
  output(): string
  /** Resolves with the line that holds it; rejects when the container ends before. */
  said(text: string | RegExp): Promise<string>
  /** Resolves with the exit code. */
  readonly ended: Promise<number | null>
  /** Asks it to end, as the kubelet does. */
  terminate(): void
}

const ACCOUNT = '/run/secrets/kubernetes.io/serviceaccount'
/** What an image would hold of the checkout. */
const PARTS = ['apps', 'packages', 'node_modules']

/** What a container sees, as root; then it goes on as another user, without any capability. */
const prepare = `
set -e
mount -t tmpfs tmpfs /run
mkdir -p ${ACCOUNT}
mount --bind "$1" ${ACCOUNT}
mount -t tmpfs tmpfs /mnt
mkdir /mnt/bin
for part in ${PARTS.join(' ')}; do mkdir /mnt/$part; mount --bind "$2/$part" /mnt/$part; done
printf '#!/bin/sh\\nexec /mnt/node_modules/.bin/node /mnt/apps/cli/bin/tranche.mjs "$@"\\n' > /mnt/bin/tranche
chmod 755 /mnt /mnt/bin /mnt/bin/tranche
mount -o remount,ro /mnt
mount -t tmpfs -o mode=1777 tmpfs /tmp
mount -o remount,bind,ro /
cd /
shift 2
exec env -i PATH=/mnt/bin:/usr/bin:/bin "$@"
`
const asUser = ['setpriv', '--reuid=65532', '--regid=65532', '--clear-groups', '--bounding-set=-all', '--no-new-privs']

/** @returns why containers cannot be run on this machine; null where they can */
export function whyNoContainers(): string | null {
  try {
    execFileSync('unshare', ['--mount', 'sh', '-c', 'mount -t tmpfs tmpfs /mnt && setpriv --version'], { stdio: 'pipe' })
    return null
  } catch {
    return 'this user may not mount, or unshare and setpriv are missing'
  }
}

/**
 * Runs a container as a process that has what its pod says and nothing else: the code read-only, a root file system that nobody
 * writes to, a `/tmp` of its own, the user 65532 without capabilities, the token of its account where the kubelet puts it, and the
 * declared environment. Only the network is that of this machine.
 */
export function runContainer({ command, args, env = [] }: ContainerSpec, account: PodAccount): RunningContainer {
  const folder = mkdtempSync(join(tmpdir(), 'tranche-pod-'))
  for (const [name, text] of [
    ['token', account.token],
    ['ca.crt', account.caCertificate],
    ['namespace', account.namespace],
  ] as const)
    writeFileSync(join(folder, name), text)
  execFileSync('chmod', ['-R', 'a+rX', folder])
  const { hostname, port } = new URL(account.server)
  const declared = [{ name: 'KUBERNETES_SERVICE_HOST', value: hostname }, { name: 'KUBERNETES_SERVICE_PORT', value: port }, ...env].map(
    ({ name, value }) => `${name}=${value}`,
  )
  const child = spawn('unshare', [
    ...['--mount', 'sh', '-c', prepare, 'sh', folder, resolve('.')],
    ...[...declared, ...asUser, ...command, ...args],
  ])
  return follow(child, () => rmSync(folder, { recursive: true, force: true }))
}

function follow(child: ChildProcess, onEnd: () => void): RunningContainer {
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
