import type { ApiClient, ApiKey, ApiPage } from '@tranche/api-client'
import type { ReleasePolicy } from '@tranche/api-schema'
import type { Clock } from '@tranche/clock'
import { AppError } from '@tranche/errors'
import { isForbidden, type KubeClient, type ResourcePath, resourcePaths } from '@tranche/kube-client'
import { type ObjectKey, rolloutAnnotations } from '@tranche/kube-types'
import { carryOut, getOrNone, readEvents, templateOfRevision } from '@tranche/release-client'
import {
  describePolicy,
  explainNode,
  explainRollout,
  podOnNode,
  type ReleaseFacts,
  reportBatches,
  reportHistory,
  reportNodes,
  reportRevisions,
  reportRollout,
  summarizeRollout,
} from '@tranche/reports'
import { silentLogger } from '@tranche/telemetry'
import type { ReadFleet, ReadRelease } from '../reading/read-release.ts'
import { readNodeEvents } from './node-events.ts'
import type { OwnRights } from './own-rights.ts'

/** Dependencies of {@link createHostClient}. */
export interface HostClientOptions {
  /** Client of the Kubernetes API, with the rights of the host's user. */
  readonly client: KubeClient
  readonly clock: Clock
  readonly rights: OwnRights
  /** Name of the user, for the record of an action. */
  readonly username: () => Promise<string>
  /** Component that the event of an action names, such as `tranche-headlamp`. */
  readonly component: string
  readonly releases: { get(key: ObjectKey): Promise<ReadRelease>; forget(key: ObjectKey): void }
  readonly readFleet: () => Promise<ReadFleet>
}

/**
 * Creates the client that the pages use, over the Kubernetes API with the rights of the host's user: the same reports as the REST API, made
 * here. Parts that need a server of Tranche reject with NOT_FOUND; a host names them as missing, so that no page asks for them.
 */
export function createHostClient(options: HostClientOptions): ApiClient {
  const { client, releases, rights, username } = options
  const about = async <T>(key: ApiKey, report: (facts: ReleaseFacts) => T): Promise<T> => {
    const { facts } = await releases.get(key)
    return report(facts)
  }
  const nodesOf = async (key: ApiKey): Promise<ReturnType<typeof reportNodes>> => {
    const { facts, hasNodes } = await releases.get(key)
    return hasNodes ? reportNodes(facts) : []
  }
  const allRollouts: ApiClient['allRollouts'] = async () => (await options.readFleet()).facts.map(summarizeRollout)
  return {
    allRollouts,
    rollouts: async () => pageOf(await allRollouts()),
    rollout: (key) => about(key, reportRollout),
    allNodes: nodesOf,
    nodes: async (key) => pageOf(await nodesOf(key)),
    explainNode: (key, node) => about(key, (facts) => explainNode(facts, node) ?? noNode(node)),
    nodeEvents: async (key, node, { signal } = {}) => {
      const pod = await about(key, (facts) => podOnNode(facts, node))
      return pod === undefined ? noNode(node) : readNodeEvents(client, { namespace: key.namespace, pod, node }, signal)
    },
    explain: (key) => about(key, explainRollout),
    batches: (key) => about(key, reportBatches),
    revisions: (key) => about(key, reportRevisions),
    revision: (key, revision) => about(key, (facts) => templateOfRevision(facts, revision)),
    history: (key) => about(key, reportHistory),
    events: (key, { signal } = {}) =>
      readEvents({ client }, key, { signal }).catch(denied(`list events in namespace ${JSON.stringify(key.namespace)}`)),
    policy: async (key, { signal } = {}) => {
      const { rollout } = (await releases.get(key)).facts
      const name = rollout.metadata.annotations?.[rolloutAnnotations.releasePolicy]
      if (name === undefined) return describePolicy(rollout, undefined)
      const wanted = { namespace: key.namespace, name }
      const policy = getOrNone<ReleasePolicy>(client, policies, wanted, { signal }).catch(
        denied(`get releasepolicies.tranche.dev ${JSON.stringify(name)} in namespace ${JSON.stringify(key.namespace)}`),
      )
      return describePolicy(rollout, await policy)
    },
    permissions: async (key, { signal } = {}) => rights.of(key, (await releases.get(key)).facts.rollout.spec.workloadRef.name, signal),
    act: async (key, type, body, { idempotencyKey = crypto.randomUUID(), waitMs = 0, signal } = {}) => {
      const ports = { client, clock: options.clock, log: silentLogger, component: options.component }
      const order = { on: 'Rollout', key, type, body, by: await username(), via: 'cli', waitMs, idempotencyKey } as const
      try {
        return await carryOut(ports, order, { signal }).catch(denied(`${type} this: the host refused the write`))
      } finally {
        releases.forget(key)
      }
    },
    me: async () => ({ username: await username(), groups: [] }),
    loginMethods: notHere,
    plan: notHere,
    daemonSetHistory: notHere,
    rollBackDaemonSet: notHere,
    doctor: notHere,
    validate: notHere,
    stream: notStreamed,
  }
}

const policies: ResourcePath = resourcePaths.releasePolicies

function pageOf<T>(items: readonly T[]): ApiPage<T> {
  return { items, total: items.length }
}

function denied(what: string): (error: unknown) => never {
  return (error) => {
    if (!isForbidden(error)) throw error
    throw new AppError('ACCESS_DENIED', `You may not ${what}.`, { cause: error })
  }
}

function noNode(node: string): never {
  throw new AppError('NODE_NOT_FOUND', `the DaemonSet does not run on node ${JSON.stringify(node)}`)
}

async function notHere(): Promise<never> {
  throw new AppError('NOT_FOUND', 'only the REST API of Tranche answers this', { hint: 'Open the dashboard of Tranche.' })
}

async function* notStreamed(): AsyncGenerator<never, void, undefined> {
  yield await notHere()
}
