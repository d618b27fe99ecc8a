/**
 * Loads `tranche sim` with mutating HTTPS requests: it creates, patches and deletes ConfigMaps over persistent connections. If `taskset` is
 * available, server and client each run on their own core.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { end, untilReady } from './started-process.ts'

/** Result of the server. */
export interface LoadResult {
  /** Mutating requests answered per second of the server's processor time, which is the throughput of one otherwise idle core. */
  readonly perCoreSecond: number
  /** Mutating requests answered per wall-clock second. */
  readonly perSecond: number
}

interface Access {
  readonly apiServer: string
  readonly caFile: string
  readonly token: string
}

const CONNECTIONS = 16
/** Number of warm-up requests, so that the code is compiled. */
const WARM_UP_ROUNDS = 1_000
const ROUNDS = 4_000
/** Timeout of an answer, in milliseconds. */
const ANSWER_MS = 30_000
const clockTicksPerSecond = 100

/** Starts the server, loads it, and ends it. */
export async function measureHttpsLoad(cli: string): Promise<LoadResult> {
  const folder = mkdtempSync(join(tmpdir(), 'tranche-bench-'))
  const readyFile = join(folder, 'ready.json')
  const server = startPinned(cli, ['sim', '--nodes', '0', '--no-demo', '--ready-file', readyFile])
  try {
    const access = (await untilReady(server, { name: 'tranche sim', readyFile })) as Access
    await load(access, 'warm', WARM_UP_ROUNDS)
    const startMs = performance.now()
    const busyBefore = busySeconds(server)
    const requests = await load(access, 'load', ROUNDS)
    const seconds = (performance.now() - startMs) / 1000
    return { perCoreSecond: requests / (busySeconds(server) - busyBefore || seconds), perSecond: requests / seconds }
  } finally {
    await end(server)
    rmSync(folder, { recursive: true, force: true })
  }
}

function startPinned(cli: string, args: readonly string[]): ChildProcess {
  const command = [process.execPath, cli, ...args]
  const pinned = existsSync('/usr/bin/taskset') && availableParallelism() > 1 ? ['/usr/bin/taskset', '-c', '0', ...command] : command
  return spawn(pinned[0]!, pinned.slice(1), { stdio: 'ignore' })
}

/** Processor time of all threads of the server so far; 0 if the system does not report it. `taskset` execs the server, so the pid is the same. */
function busySeconds({ pid }: ChildProcess): number {
  const file = `/proc/${pid}/stat`
  if (!existsSync(file)) return 0
  const fields = readFileSync(file, 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) / clockTicksPerSecond
}

/** @returns the number of answered requests */
async function load(access: Access, prefix: string, rounds: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS, ca: readFileSync(access.caFile) })
  const path = '/api/v1/namespaces/default/configmaps'
  let next = 0
  let answered = 0
  const send = async (method: string, at: string, body?: object): Promise<void> => {
    await sendOne(agent, access, { method, path: at, body })
    answered++
  }
  const worker = async (): Promise<void> => {
    while (next < rounds) {
      const name = `${prefix}-${next++}`
      await send('POST', path, {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name, labels: { app: 'bench' } },
        data: { a: '1', b: '2' },
      })
      await send('PATCH', `${path}/${name}`, { metadata: { annotations: { seen: 'yes' } }, data: { a: '3' } })
      await send('DELETE', `${path}/${name}`)
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, worker))
  agent.destroy()
  return answered
}

interface Sent {
  readonly method: string
  readonly path: string
  readonly body: object | undefined
}

function sendOne(agent: Agent, { apiServer, token }: Access, { method, path, body }: Sent): Promise<void> {
  const text = body === undefined ? '' : JSON.stringify(body)
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
  const headers = { authorization: `Bearer ${token}`, 'content-type': type, 'content-length': Buffer.byteLength(text) }
  return new Promise((resolve, reject) => {
    const sent = request(`${apiServer}${path}`, { agent, method, headers, timeout: ANSWER_MS }, (answer) => {
      answer.resume()
      answer.on('end', () => (answer.statusCode! < 300 ? resolve() : reject(new Error(`${method} ${path}: ${answer.statusCode}`))))
      answer.on('error', reject)
    })
    sent.on('timeout', () => sent.destroy(new Error(`${method} ${path}: no answer in ${ANSWER_MS} ms`)))
    sent.on('error', reject)
    sent.end(text)
  })
}
