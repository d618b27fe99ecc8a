/** How long nobody leads after a controller that led has ended. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Rollout } from '../../packages/api-schema/src/index.ts'
import { isNotFound, type KubeClient, resourcePaths } from '../../packages/kube-client/src/index.ts'
import type { Lease } from '../../packages/kube-types/src/index.ts'
import type { MeasuredProcess } from './measured-process.ts'

/** A controller, and the name by which its identity begins. */
export interface NamedController {
  readonly name: string
  readonly process: MeasuredProcess
}

/** How often the cluster is looked at, in milliseconds. */
const POLL_MS = 10

/** Waits until one of them leads. */
export async function leaderOf(client: KubeClient, controllers: readonly NamedController[]): Promise<NamedController> {
  for (;;) {
    const holder = await holderOf(client)
    const leader = controllers.find(({ name }) => holder.startsWith(`${name}_`))
    if (leader !== undefined) return leader
    await sleep(POLL_MS)
  }
}

/**
 * Ends the leader, and asks for something that only a leader does.
 *
 * @returns from the signal until another one has done it, in milliseconds
 */
export async function handOver(client: KubeClient, leader: NamedController, signal: 'SIGTERM' | 'SIGKILL'): Promise<number> {
  await untilObserved(client)
  const startMs = performance.now()
  const ended = leader.process.stop(signal)
  // What is asked for sooner, one that is told to end might still do.
  if (signal === 'SIGTERM') await untilGivenUp(client, leader)
  else await ended
  const { spec } = await client.get<Rollout>(resourcePaths.rollouts, ASKED)
  const first = { replicas: spec.strategy.canary?.steps?.[0]?.replicas === '10%' ? '20%' : '10%', pause: {} }
  const body = { spec: { strategy: { canary: { steps: [first, { replicas: '100%' }] } } } }
  await client.patch(resourcePaths.rollouts, ASKED, { type: 'merge', body })
  await untilObserved(client)
  const tookMs = performance.now() - startMs
  await ended
  return tookMs
}

const ASKED = { namespace: 'bench', name: 'agent-0' }

async function untilGivenUp(client: KubeClient, { name }: NamedController): Promise<void> {
  while ((await holderOf(client)).startsWith(`${name}_`)) await sleep(POLL_MS)
}

async function holderOf(client: KubeClient): Promise<string> {
  try {
    const lease = await client.get<Lease>(resourcePaths.leases, { namespace: 'kube-system', name: 'tranche-controller' })
    return lease.spec?.holderIdentity ?? ''
  } catch (error) {
    if (isNotFound(error)) return ''
    throw error
  }
}

async function untilObserved(client: KubeClient): Promise<void> {
  for (;;) {
    const { metadata, status } = await client.get<Rollout>(resourcePaths.rollouts, ASKED)
    if (status?.observedGeneration === metadata.generation) return
    await sleep(POLL_MS)
  }
}
