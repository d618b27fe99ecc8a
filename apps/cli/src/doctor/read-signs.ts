import { KRUISE_LEASE_NAME, KRUISE_WEBHOOKS_NAME, kruiseNamespace, type KruiseWebhooks, readSchemaGap } from '@tranche/cluster'
import type { Clock } from '@tranche/clock'
import {
  isForbidden,
  isNotFound,
  type KubeClient,
  type ListOptions,
  type LoadedCluster,
  type ResourcePath,
  resourcePaths,
  type Scope,
} from '@tranche/kube-client'
import { type KubeObject, type Lease, LEASE_NAME } from '@tranche/kube-types'
import type { Exchange } from '@tranche/wire'
import { readAccounts } from './account-signs.ts'
import type { ClusterSigns, LeaseSign, Right } from './cluster-signs.ts'
import { type InstalledPod, toInstalledPod } from './installed-signs.ts'
import { toHeldDaemonSet } from './left-signs.ts'
import { readRedisSign } from './read-redis-sign.ts'
import type { PrepareRedisCheck, RedisCheck } from './redis-check.ts'
import { type ReleaseSign, toReleaseSign } from './release-signs.ts'
import { toRolloutSign } from './rollout-signs.ts'
import { readWebhooks } from './webhook-signs.ts'

/** Connection, scope and settings of the checks. */
export interface SignReader {
  readonly client: KubeClient
  readonly exchange: Exchange
  readonly cluster: LoadedCluster
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Namespace in which permissions are checked. */
  readonly namespace: string
  /** Namespace of the Lease of controllers. */
  readonly leaseNamespace: string
  /** Check of the Redis that the options name; null if they name none. */
  readonly redis: RedisCheck | null
  readonly prepareRedisCheck: PrepareRedisCheck
}

const OUR_RESOURCES = [resourcePaths.rollouts, resourcePaths.batchReleases, resourcePaths.releasePolicies]
const DEFAULT_LEASE_MS = 15_000
/** Label of the objects of the chart, independent of the name of the Helm release. */
const labelSelector = 'app.kubernetes.io/part-of=tranche'

/** Permissions that the commands need from their user. */
const commandRights: readonly Omit<Right, 'allowed'>[] = [
  { verb: 'list', resource: 'rollouts.rollouts.kruise.io', needed: true },
  { verb: 'get', resource: 'rollouts.rollouts.kruise.io', needed: true },
  { verb: 'get', resource: 'batchreleases.rollouts.kruise.io', needed: true },
  { verb: 'get', resource: 'daemonsets.apps', needed: true },
  { verb: 'list', resource: 'controllerrevisions.apps', needed: true },
  { verb: 'list', resource: 'pods', needed: true },
  { verb: 'list', resource: 'nodes', needed: true },
  { verb: 'watch', resource: 'rollouts.rollouts.kruise.io', needed: false },
  { verb: 'watch', resource: 'batchreleases.rollouts.kruise.io', needed: false },
  { verb: 'watch', resource: 'daemonsets.apps', needed: false },
  { verb: 'watch', resource: 'controllerrevisions.apps', needed: false },
  { verb: 'watch', resource: 'pods', needed: false },
  { verb: 'watch', resource: 'nodes', needed: false },
  { verb: 'patch', resource: 'rollouts.rollouts.kruise.io', needed: false },
  { verb: 'patch', resource: 'daemonsets.apps', needed: false },
  { verb: 'create', resource: 'events', needed: false },
]

/**
 * Reads the facts about a cluster and Redis. Changes nothing.
 *
 * @throws {AppError} if the API server does not answer
 */
export async function readSigns(reader: SignReader): Promise<ClusterSigns> {
  const { cluster, clock, client, signal } = reader
  const { version, skewMs } = await readVersion(reader)
  const installed = unlessForbidden(readInstalled(reader))
  const [served, schemaGap, rights, leader, rollouts, daemonSets, kruise, admission, releases, webhooks, redis, accounts] =
    await Promise.all([
      readServed(reader),
      readSchemaGap(client, signal),
      Promise.all(commandRights.map((right) => readRight(reader, right))),
      unlessForbidden(readLease(reader, reader.leaseNamespace)),
      unlessForbidden(listWide(reader, resourcePaths.rollouts, { transform: toRolloutSign })),
      unlessForbidden(listWide(reader, resourcePaths.daemonSets, { transform: toHeldDaemonSet })),
      unlessForbidden(readKruise(reader)),
      unlessForbidden(readAdmission(reader)),
      unlessForbidden(readReleases(reader)),
      unlessForbidden(readWebhooks(client, { labelSelector, signal })),
      installed.then((pods) => readRedisSign({ ...reader, named: reader.redis, installed: pods })),
      // Without permission to list pods, there are no service accounts to check.
      unlessForbidden(installed.then((pods) => (pods === 'forbidden' ? [] : readAccounts(client, { installed: pods, signal })))),
    ])
  const { server, context } = cluster
  const { leaseNamespace } = reader
  const looked = {
    schemaGap,
    rights,
    leader,
    leaseNamespace,
    rollouts,
    daemonSets,
    kruise,
    admission,
    installed: await installed,
    accounts,
    releases,
    webhooks,
    redis,
  }
  return { server, context, version, served, ...looked, skewMs, nowMs: clock.nowMs() + (skewMs ?? 0) }
}

/** The Date header is truncated to seconds: add half a second on average. */
async function readVersion({ client, exchange, clock, signal }: SignReader): Promise<Pick<ClusterSigns, 'version' | 'skewMs'>> {
  const version = JSON.parse(await client.text('/version', { signal })) as ClusterSigns['version']
  const sentMs = clock.nowMs()
  const { headers, body } = await exchange({ method: 'GET', path: '/version', headers: {} }, signal)
  const halfWayMs = (sentMs + clock.nowMs()) / 2
  for await (const chunk of body) void chunk
  const theirsMs = Date.parse(headers['date'] ?? '')
  return { version, skewMs: Number.isNaN(theirsMs) ? null : Math.round(theirsMs + 500 - halfWayMs) }
}

async function readServed({ client, signal }: SignReader): Promise<Record<string, boolean>> {
  const answers = OUR_RESOURCES.map(async ({ group, version, plural }) => {
    const text = await client
      .text(`/apis/${group}/${version}`, { signal })
      .catch((error: unknown) => (isNotFound(error) ? '{}' : fail(error)))
    const { resources = [] } = JSON.parse(text) as { readonly resources?: readonly { readonly name: string }[] }
    return [`${plural}.${group}`, resources.some(({ name }) => name === plural)] as const
  })
  return Object.fromEntries(await Promise.all(answers))
}

async function readRight({ client, namespace, signal }: SignReader, right: Omit<Right, 'allowed'>): Promise<Right> {
  const [resource = '', ...group] = right.resource.split('.')
  const resourceAttributes = { verb: right.verb, resource, group: group.join('.'), ...(resource !== 'nodes' && { namespace }) }
  const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', metadata: {}, spec: { resourceAttributes } }
  const path: ResourcePath = { group: 'authorization.k8s.io', version: 'v1', plural: 'selfsubjectaccessreviews', namespaced: false }
  const answer = (await client.create(path, review, { signal })) as { readonly status?: { readonly allowed?: boolean } }
  return { ...right, allowed: answer.status?.allowed === true }
}

async function readLease({ client, signal }: SignReader, namespace: string): Promise<LeaseSign | null> {
  try {
    return toSign(await client.get<Lease>(resourcePaths.leases, { namespace, name: LEASE_NAME }, { signal }))
  } catch (error) {
    if (isNotFound(error)) return null
    throw error
  }
}

async function readInstalled(reader: SignReader): Promise<readonly InstalledPod[]> {
  return listWide(reader, resourcePaths.pods, { labelSelector, transform: toInstalledPod })
}

async function readReleases(reader: SignReader): Promise<readonly ReleaseSign[]> {
  return listWide(reader, resourcePaths.batchReleases, { transform: toReleaseSign })
}

/**
 * Lists objects of all namespaces. Without that permission, lists those of the checked namespace and of the context's namespace, which in
 * a pod is its own. Empty if the resource is not served.
 */
async function listWide<T>(
  { client, signal, namespace, cluster }: SignReader,
  resource: ResourcePath,
  options: Pick<ListOptions<T>, 'labelSelector' | 'transform'>,
): Promise<readonly T[]> {
  const list = async (scope: Scope): Promise<readonly T[]> => (await client.list<T>(resource, { signal, ...options, ...scope })).items
  const inSome = async (error: unknown): Promise<readonly T[]> => {
    if (!isForbidden(error)) throw error
    const namespaces = [...new Set([namespace, cluster.namespace])]
    const lists = await Promise.all(namespaces.map((one) => unlessForbidden(list({ namespace: one }))))
    return lists.every((one) => one === 'forbidden') ? fail(error) : lists.flatMap((one) => (one === 'forbidden' ? [] : one))
  }
  return list({})
    .catch(inSome)
    .catch((error: unknown) => (isNotFound(error) ? [] : fail(error)))
}

async function readKruise({ client, signal }: SignReader): Promise<Exclude<ClusterSigns['kruise'], 'forbidden'>> {
  const named = (name: string): { readonly fieldSelector: string; readonly signal: AbortSignal } => ({
    fieldSelector: `metadata.name=${name}`,
    signal,
  })
  const [webhooks, leases] = await Promise.all([
    client.list<KruiseWebhooks>(resourcePaths.mutatingWebhookConfigurations, named(KRUISE_WEBHOOKS_NAME)),
    client.list<Lease>(resourcePaths.leases, named(KRUISE_LEASE_NAME)),
  ])
  const namespace = webhooks.items.map(kruiseNamespace).find((one) => one !== null) ?? null
  const lease = leases.items.find(({ metadata }) => namespace === null || namespace === '' || metadata.namespace === namespace)
  return { webhook: namespace !== null, lease: lease === undefined ? null : toSign(lease) }
}

/** Only newer API servers serve admission policies. */
async function readAdmission({ client, signal }: SignReader): Promise<readonly string[]> {
  const group = 'admissionregistration.k8s.io'
  const policies: ResourcePath = { group, version: 'v1', plural: 'mutatingadmissionpolicies', namespaced: false }
  const lists = [resourcePaths.mutatingWebhookConfigurations, policies].map(async (resource) => {
    const { items } = await client
      .list<KubeObject>(resource, { signal, labelSelector })
      .catch((error: unknown) => (isNotFound(error) ? { items: [] } : fail(error)))
    return items.map(({ metadata }) => metadata.name)
  })
  return (await Promise.all(lists)).flat()
}

function toSign({ spec }: Lease): LeaseSign {
  return {
    holder: spec?.holderIdentity ?? '',
    renewedMs: Date.parse(spec?.renewTime ?? '') || 0,
    lengthMs: spec?.leaseDurationSeconds === undefined ? DEFAULT_LEASE_MS : spec.leaseDurationSeconds * 1000,
  }
}

async function unlessForbidden<T>(answer: Promise<T>): Promise<T | 'forbidden'> {
  try {
    return await answer
  } catch (error) {
    if (isForbidden(error)) return 'forbidden'
    throw error
  }
}

function fail(error: unknown): never {
  throw error
}
