import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

// Result of a stopped command, as a shell sees it. Each waits for a silent API server, so that it is still running.

const folder = mkdtempSync(join(tmpdir(), 'tranche-test-'))
const kubeconfig = join(folder, 'kubeconfig.json')
const sockets = new Set<Socket>()
const silent = createServer((socket) => void sockets.add(socket))
const HIDE_CURSOR = '\u001b[?25l'
const SHOW_CURSOR = '\u001b[?25h'
/** Gives a program a terminal for its output. */
const AT_TERMINAL = ['--import', 'data:text/javascript,process.stdout.isTTY=true']

beforeAll(async () => {
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const server = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
  const cluster = { server, 'insecure-skip-tls-verify': true }
  const contexts = [{ name: 'silent', context: { cluster: 'silent', user: 'me' } }]
  const config = { apiVersion: 'v1', kind: 'Config', 'current-context': 'silent', clusters: [{ name: 'silent', cluster }], contexts }
  writeFileSync(kubeconfig, JSON.stringify({ ...config, users: [{ name: 'me', user: {} }] }))
})
afterAll(() => {
  for (const socket of sockets) socket.destroy()
  silent.close()
  rmSync(folder, { recursive: true, force: true })
})

describe('a signal', () => {
  it.each([
    { title: 'status while it looks for the Rollout', line: 'status daemonset/agent', name: 'SIGINT' },
    { title: 'status while it waits', line: 'status agent', name: 'SIGTERM' },
    { title: 'status that looks once', line: 'status agent --timeout 0', name: 'SIGINT' },
  ] as const)('ends $title by that signal, and never with an exit code', async ({ line, name }) => {
    const { signal, code, err } = await stopped(commandOf(line), name)
    expect([code, signal]).toEqual([null, name])
    expect(err).toBe(`Stopped waiting on ${name}; the release continues.\n`)
  })

  it('ends get -w after the terminal is restored', async () => {
    const { signal, out } = await stopped(commandOf('get agent -w', AT_TERMINAL), 'SIGINT')
    expect(signal).toBe('SIGINT')
    expect([out.startsWith(HIDE_CURSOR), out.endsWith(SHOW_CURSOR)]).toEqual([true, true])
  })

  it('ends a script that waits with status as well', async () => {
    const { signal, out } = await stopped(['bash', '-c', `${quoted(commandOf('status agent'))} || true; echo continues`], 'SIGINT')
    expect([signal, out]).toEqual(['SIGINT', ''])
  })
})

function commandOf(line: string, before: readonly string[] = []): readonly string[] {
  return [process.execPath, ...before, 'apps/launcher/bin/tranche.mjs', ...line.split(' '), '-n', 'demo', '--kubeconfig', kubeconfig]
}

function quoted(words: readonly string[]): string {
  return words.map((word) => `'${word}'`).join(' ')
}

interface Stopped {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly out: string
  readonly err: string
}

/** Starts a program in a group of its own, and sends the group a signal, as a terminal does, once it has asked the server. */
async function stopped([program = '', ...args]: readonly string[], name: NodeJS.Signals): Promise<Stopped> {
  const asked = once(silent, 'connection')
  const child: ChildProcess = spawn(program, args, { detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  const texts = Promise.all([text(child.stdout!), text(child.stderr!)])
  await Promise.race([asked, ended])
  if (child.exitCode === null) process.kill(-child.pid!, name)
  const [[code, signal], [out, err]] = await Promise.all([ended, texts])
  return { code, signal, out, err }
}
