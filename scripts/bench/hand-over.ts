/** Measures the time without a leader after the leading controller ends. */
import type { Rollout } from '../../packages/words/api-schema/src/index.ts'
import { isNotFound, type KubeClient, resourcePaths } from '../../packages/adapters/kube-client/src/index.ts'
import type { Lease } from '../../packages/words/kube-types/src/index.ts'
import type { MeasuredProcess } from './measured-process.ts'
import { until } from './until.ts'

/** A controller and the prefix of its identity. */
export interface NamedController {
  readonly name: string
  readonly process: MeasuredProcess
}

/** Timeout for the next leader, and interval between two checks of the cluster. */
const PATIENCE = { withinSeconds: 120, everyMs: 10 }

/** Waits until one of the controllers leads. */
export async function leaderOf(client: KubeClient, controllers: readonly NamedController[]): Promise<NamedController> {
  let leader: NamedController | undefined
  const look = async (): Promise<true | string> => {
    const holder = await holderOf(client)
    leader = controllers.find(({ name }) => holder.startsWith(`${name}_`))
    return leader !== undefined || `the Lease is held by ${JSON.stringify(holder)}`
  }
  await until(`one of ${controllers.map(({ name }) => name).join(', ')} to lead`, look, PATIENCE)
  return leader!
}

/**
 * Ends the leader, and requests something that only a leader does.
 *
 * @returns milliseconds from the signal until another controller has done it
 */
export async function handOver(client: KubeClient, leader: NamedController, signal: 'SIGTERM' | 'SIGKILL'): Promise<number> {
  await untilObserved(client)
  const startMs = performance.now()
  const ended = leader.process.stop(signal)
  // The ending leader might still handle an earlier request.
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
  const look = async (): Promise<true | string> => !(await holderOf(client)).startsWith(`${name}_`) || 'it holds it'
  await until(`${name} to give up the Lease`, look, PATIENCE)
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
  const look = async (): Promise<true | string> => {
    const { metadata, status } = await client.get<Rollout>(resourcePaths.rollouts, ASKED)
    const observed = status?.observedGeneration ?? 'none'
    return observed === metadata.generation || `${observed} of generation ${metadata.generation}`
  }
  await until(`the Rollout ${ASKED.name} to be observed`, look, PATIENCE)
}
