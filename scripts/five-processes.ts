/**
 * Runs a release with five processes and a real Redis, kills Redis and processes during it, and checks the recording.
 * Takes four to five minutes; not part of `pnpm test`.
 *
 * ```text
 * pnpm exec node scripts/five-processes.ts             300 nodes
 * pnpm exec node scripts/five-processes.ts --nodes 60  another size, at least 30
 * pnpm exec node scripts/five-processes.ts --keep      keep the recording and the logs, and print their folder
 * ```
 *
 * It uses `tranche sim`, two `tranche controller` with leader election, two `tranche executor`, one redis-server with a password, and the
 * manifests of examples/. During the release, in this order:
 *
 * - Redis is killed for 30 s and restarts empty;
 * - it is emptied (FLUSHALL);
 * - an executor is killed (SIGKILL) and another one started;
 * - the leading controller is stopped (SIGSTOP) until the other leads, and continues 20 s later.
 *
 * Prints one line that begins with `kept` (exit 0) or `broken` (exit 1). It reports whether every node was updated, and whether a
 * deletion that the API server accepted breaks G1, G2, G3, G4 or G9. Ends only processes that it started.
 */
import { execFileSync, type ChildProcess } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { type KubeClient, resourcePaths } from '../packages/adapters/kube-client/src/index.ts'
import type { Lease } from '../packages/words/kube-types/src/index.ts'
import { findRedis, type RedisServer, startRedis } from './redis-server.ts'
import { approve, countReady, installExamples, newImage, readRollout, runStage, setTemplate, type Stage } from './staged-release.ts'

const { values } = parseArgs({ options: { nodes: { type: 'string', default: '300' }, keep: { type: 'boolean', default: false } } })
const steps = [{ replicas: '10%', pause: {} }, { replicas: '50%', pause: { duration: 3 } }, { replicas: '100%' }]
const password = 'five-processes'

process.exitCode = await main()

async function main(): Promise<number> {
  const found = await findRedis()
  if ('missing' in found) {
    console.log(`broken: ${found.missing}`)
    return 1
  }
  const redis = await startRedis({ program: found.program, args: ['--requirepass', password] })
  try {
    const options = { name: 'five-processes', nodes: Number(values.nodes), keep: values.keep }
    return await runStage(options, (stage, client) => play(stage, client, redis))
  } finally {
    await redis.dispose()
  }
}

async function play(stage: Stage, client: KubeClient, redis: RedisServer): Promise<void> {
  const { nodes, until } = stage
  const controllers = ['controller-1', 'controller-2'].map((name) => ({ name, process: startProgram(stage, redis, 'controller', name) }))
  const executor = startProgram(stage, redis, 'executor', 'executor-1')
  startProgram(stage, redis, 'executor', 'executor-2')
  await installExamples(stage, client, steps)

  await setTemplate(client)
  await until('step 1 is paused', async () => (await readRollout(client)).status?.currentStepState === 'StepPaused', 120)
  await approve(client)
  const updated = (share: number): Promise<void> => {
    const count = Math.ceil(nodes * share)
    return until(`${count} nodes are updated`, async () => (await countReady(client, newImage)) >= count, 180)
  }
  await updated(0.15)
  await takeRedisAway(stage, redis)
  await updated(0.3)
  stage.say('empties Redis')
  redisCommand(redis, 'FLUSHALL')
  await updated(0.4)
  stage.say('kills executor-1 and starts executor-3')
  executor.kill('SIGKILL')
  startProgram(stage, redis, 'executor', 'executor-3')
  await updated(0.6)
  await stopTheLeader(stage, client, controllers)
  await until('the release is over', async () => (await readRollout(client)).status?.phase === 'Healthy', 300)
  await until('every node runs the new version', async () => (await countReady(client, newImage)) === nodes, 30)
}

async function takeRedisAway({ say }: Stage, redis: RedisServer): Promise<void> {
  say('kills Redis')
  await redis.kill()
  await sleep(30_000)
  await redis.start()
  say('starts Redis again, empty')
}

interface Controller {
  readonly name: string
  readonly process: ChildProcess
}

async function stopTheLeader({ say, until }: Stage, client: KubeClient, controllers: readonly Controller[]): Promise<void> {
  const holder = await leader(client)
  const leading = controllers.find(({ name }) => holder.startsWith(name))
  if (leading === undefined) throw new Error(`the Lease is held by ${holder}, which is not one of the started controllers`)
  say(`stops ${leading.name}, which leads`)
  leading.process.kill('SIGSTOP')
  await until('the other controller leads', async () => !(await leader(client)).startsWith(leading.name), 60)
  await sleep(20_000)
  say(`continues ${leading.name}`)
  leading.process.kill('SIGCONT')
}

async function leader(client: KubeClient): Promise<string> {
  const key = { namespace: 'kube-system', name: 'tranche-controller' }
  const lease = await client.get<Lease>(resourcePaths.leases, key)
  return lease.spec?.holderIdentity ?? ''
}

function startProgram(stage: Stage, { port }: RedisServer, command: 'controller' | 'executor', name: string): ChildProcess {
  const args = [command, '--kubeconfig', stage.kubeconfig, '--identity', name, '--redis', `redis://127.0.0.1:${port}`]
  return stage.start(name, args, { TRANCHE_REDIS_PASSWORD: password })
}

function redisCommand({ port }: RedisServer, ...command: readonly string[]): void {
  execFileSync('redis-cli', ['-p', String(port), ...command], { env: { ...process.env, REDISCLI_AUTH: password }, stdio: 'ignore' })
}
