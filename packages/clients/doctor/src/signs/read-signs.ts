import { KRUISE_LEASE_NAME, KRUISE_WEBHOOKS_NAME, kruiseNamespace, type KruiseWebhooks, readSchemaGap } from '@tranche/cluster'
import type { Clock } from '@tranche/clock'
import { isNotFound, resourcePaths } from '@tranche/kube-client'
import { type KubeObject, type Lease, LEASE_NAME, parseTime } from '@tranche/kube-types'
import type { Exchange } from '@tranche/wire'
import { readAccounts } from './account-signs.ts'
import type { ClusterSigns, LeaseSign, Right, ServerVersion } from './cluster-signs.ts'
import { type GuardedReads, isDenied, unlessDenied } from './guarded-reads.ts'
import { type InstalledPod, toInstalledPod } from './installed-signs.ts'
import { toHeldDaemonSet } from './left-signs.ts'
import { readLeftWork } from './left-work-signs.ts'
import { listWide } from './list-wide.ts'
import { readPodPolicies } from './pod-policy-signs.ts'
import { readPolicySigns } from './policy-signs.ts'
import { readRedisSign } from './read-redis-sign.ts'
import type { PrepareRedisCheck, RedisCheck } from './redis-check.ts'
import { toReleaseSign } from './release-signs.ts'
import { toRolloutSign } from './rollout-signs.ts'
import { readWebhooks } from './webhook-signs.ts'

/** Scope and settings of the checks. */
export interface SignOptions {
  /** Asked once for the time of the API server, after the right to get `/version` was checked. */
  readonly exchange: Exchange
  /** Name of the API server, for messages. */
  readonly server: string
  /** Clock of this machine. */
  readonly clock: Clock
  /** Namespace in which the rights of the user are checked; empty: all namespaces. */
  readonly namespace: string
  /** Namespaces whose objects are listed where a right is missing to list those of all namespaces. */
  readonly namespaces: readonly string[]
  /** Namespace of the Lease of controllers. */
  readonly leaseNamespace: string
  /** Check of the Redis that the options name; null if they name none. */
  readonly redis: RedisCheck | null
  /** Null: this program cannot connect to Redis. */
  readonly prepareRedisCheck: PrepareRedisCheck | null
}

interface SignReader extends SignOptions {
  readonly reads: GuardedReads
  readonly signal: AbortSignal
}

const OUR_RESOURCES = [resourcePaths.rollouts, resourcePaths.batchReleases, resourcePaths.releasePolicies]
const DEFAULT_LEASE_MS = 15_000
/** Maximum number of pods with the label of the chart that are read; an installation has a few. */
const MOST_PODS = 500
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
  const { clock, reads, server, namespace: rightsNamespace, leaseNamespace } = reader
  const { version, skewMs } = await readVersion(reader)
  const pods = unlessDenied(readInstalled(reader))
  const lists = readLists(reader)
  const [served, schemaGap, rights, leader, kruise, admission, webhooks, redis, accounts, podPolicies, installed, listed] =
    await Promise.all([
      unlessDenied(readServed(reader)),
      unlessDenied(readSchemaGap(reads, reader.signal)),
      unlessDenied(Promise.all(commandRights.map((right) => readRight(reader, right)))),
      unlessDenied(readLease(reader)),
      unlessDenied(readKruise(reader)),
      unlessDenied(readAdmission(reader)),
      unlessDenied(readWebhooks(reads, labelSelector)),
      pods.then((found) => readRedisSign({ ...reader, named: reader.redis, installed: found })),
      // Without the right to list pods, there are no service accounts to check.
      pods.then((found) => (isDenied(found) ? found : unlessDenied(readAccounts(reads, found)))),
      pods.then((found) => unlessDenied(readPodPolicies(reads, found))),
      pods,
      lists,
    ])
  const looked = { served, schemaGap, rights, leader, kruise, admission, webhooks, redis, accounts, podPolicies, installed, ...listed }
  const nowMs = clock.nowMs()
  const [policies, leftWork] = await Promise.all([
    readPolicySigns(reads, listed.rollouts),
    readLeftWork(reader, { leader, installed, rollouts: listed.rollouts, serverMs: nowMs + (skewMs ?? 0) }),
  ])
  return { server, version, rightsNamespace, leaseNamespace, ...looked, policies, leftWork, skewMs, nowMs }
}

/** The Date header is truncated to seconds: add half a second on average. */
async function readVersion({ reads, exchange, clock, signal }: SignReader): Promise<Pick<ClusterSigns, 'version' | 'skewMs'>> {
  const text = await unlessDenied(reads.text('/version'))
  if (isDenied(text)) return { version: text, skewMs: null }
  const sentMs = clock.nowMs()
  const { headers, body } = await exchange({ method: 'GET', path: '/version', headers: {} }, signal)
  const halfWayMs = (sentMs + clock.nowMs()) / 2
  for await (const chunk of body) void chunk
  const theirsMs = Date.parse(headers['date'] ?? '')
  return { version: JSON.parse(text) as ServerVersion, skewMs: Number.isNaN(theirsMs) ? null : Math.round(theirsMs + 500 - halfWayMs) }
}

async function readServed({ reads }: SignReader): Promise<Record<string, boolean>> {
  const answers = OUR_RESOURCES.map(async ({ group, version, plural }) => {
    const text = await reads.text(`/apis/${group}/${version}`).catch((error: unknown) => (isNotFound(error) ? '{}' : fail(error)))
    const { resources = [] } = JSON.parse(text) as { readonly resources?: readonly { readonly name: string }[] }
    return [`${plural}.${group}`, resources.some(({ name }) => name === plural)] as const
  })
  return Object.fromEntries(await Promise.all(answers))
}

async function readRight({ reads, namespace }: SignReader, right: Omit<Right, 'allowed'>): Promise<Right> {
  const [resource = '', ...group] = right.resource.split('.')
  const isInNamespace = resource !== 'nodes' && namespace !== ''
  const asked = { verb: right.verb, resource, group: group.join('.'), ...(isInNamespace && { namespace }) }
  return { ...right, allowed: await reads.mayUser(asked) }
}

async function readLease({ reads, leaseNamespace: namespace }: SignReader): Promise<LeaseSign | null> {
  try {
    return toSign(await reads.get<Lease>(resourcePaths.leases, { namespace, name: LEASE_NAME }))
  } catch (error) {
    if (isNotFound(error)) return null
    throw error
  }
}

/**
 * Pods of the installation: those in the namespace of the Lease. If it has none, those of all namespaces, because the options may name the
 * wrong one. The two are not mixed, because any user can give such a label to a pod.
 *
 * @throws {ReadDenied} if the namespace of the Lease has none, and those of all may not be listed: then nothing is known
 */
async function readInstalled(reader: SignReader): Promise<readonly InstalledPod[]> {
  const { leaseNamespace } = reader
  const left = { own: MOST_PODS, other: MOST_PODS }
  const transform = (object: KubeObject): InstalledPod | null => {
    const place = object.metadata.namespace === leaseNamespace ? 'own' : 'other'
    const pod = left[place] > 0 ? toInstalledPod(object) : null
    if (pod !== null) left[place] -= 1
    return pod
  }
  const { items, missing } = await listWide({ ...reader, namespaces: [leaseNamespace] }, resourcePaths.pods, { labelSelector, transform })
  const own = items.filter(({ namespace }) => namespace === leaseNamespace)
  if (own.length === 0 && missing !== null) throw missing
  return own.length === 0 ? items : own
}

async function readLists(reader: SignReader): Promise<Pick<ClusterSigns, 'rollouts' | 'rolloutNamespaces' | 'daemonSets' | 'releases'>> {
  const [rollouts, daemonSets, releases] = await Promise.all([
    unlessDenied(listWide(reader, resourcePaths.rollouts, { transform: toRolloutSign })),
    unlessDenied(listWide(reader, resourcePaths.daemonSets, { transform: toHeldDaemonSet })),
    unlessDenied(listWide(reader, resourcePaths.batchReleases, { transform: toReleaseSign })),
  ])
  return {
    rollouts: isDenied(rollouts) ? rollouts : rollouts.items,
    rolloutNamespaces: isDenied(rollouts) ? [] : rollouts.namespaces,
    daemonSets: isDenied(daemonSets) ? daemonSets : daemonSets.items,
    releases: isDenied(releases) ? releases : releases.items,
  }
}

async function readKruise({ reads }: SignReader): Promise<{ readonly webhook: boolean; readonly lease: LeaseSign | null }> {
  const named = (name: string): { readonly fieldSelector: string } => ({ fieldSelector: `metadata.name=${name}` })
  const [webhooks, leases] = await Promise.all([
    reads.list<KruiseWebhooks>(resourcePaths.mutatingWebhookConfigurations, named(KRUISE_WEBHOOKS_NAME)),
    reads.list<Lease>(resourcePaths.leases, named(KRUISE_LEASE_NAME)),
  ])
  const namespace = webhooks.items.map(kruiseNamespace).find((one) => one !== null) ?? null
  const lease = leases.items.find(({ metadata }) => namespace === null || namespace === '' || metadata.namespace === namespace)
  return { webhook: namespace !== null, lease: lease === undefined ? null : toSign(lease) }
}

/** Only newer API servers serve admission policies. */
async function readAdmission({ reads }: SignReader): Promise<readonly string[]> {
  const lists = [resourcePaths.mutatingWebhookConfigurations, resourcePaths.mutatingAdmissionPolicies].map(async (resource) => {
    const { items } = await reads
      .list<KubeObject>(resource, { labelSelector })
      .catch((error: unknown) => (isNotFound(error) ? { items: [] } : fail(error)))
    return items.filter(admitsDaemonSets).map(({ metadata }) => metadata.name)
  })
  return (await Promise.all(lists)).flat()
}

/** The policy for pods admits no DaemonSets. */
function admitsDaemonSets(object: KubeObject): boolean {
  const { spec } = object as { readonly spec?: { readonly matchConstraints?: { readonly resourceRules?: readonly PolicyRule[] } } }
  const rules = spec?.matchConstraints?.resourceRules
  return rules === undefined || rules.some(({ resources = [] }) => resources.some((one) => one === 'daemonsets' || one === '*'))
}

/** @see admissionregistration/v1 NamedRuleWithOperations */
interface PolicyRule {
  readonly resources?: readonly string[]
}

function toSign({ spec }: Lease): LeaseSign {
  return {
    holder: spec?.holderIdentity ?? '',
    renewedMs: parseTime(spec?.renewTime) ?? 0,
    lengthMs: spec?.leaseDurationSeconds === undefined ? DEFAULT_LEASE_MS : spec.leaseDurationSeconds * 1000,
  }
}

function fail(error: unknown): never {
  throw error
}
