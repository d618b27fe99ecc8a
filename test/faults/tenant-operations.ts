import { createKubeClient, type KubeClient, resourcePaths } from '@tranche/kube-client'
import { silentLogger } from '@tranche/telemetry'
import type { ControllerRevision, DaemonSet, Node } from '@tranche/kube-types'
import { daemonSetManifest, rolloutManifest, stageKey } from '../scenarios/stage-objects.ts'
import type { TenantOperation } from './schedule.ts'
import { daemonSetOf, rolloutOf } from './owners.ts'
import { spoilStatus } from './odd-status.ts'
import { durationText } from './words.ts'
import type { World } from './world.ts'

/** The only namespace in which the tenant may write. */
export const TENANT = 'tenant'

/** A pod template that the tenant would like to run on every node. */
const evil = {
  metadata: { labels: { app: stageKey.name } },
  spec: { hostPID: true, containers: [{ name: 'agent', image: 'evil', securityContext: { privileged: true } }] },
}
const namespaces = { group: '', version: 'v1', plural: 'namespaces', namespaced: false }

/** A tenant with rights in their own namespace, who tries to influence the release. */
export interface Tenant {
  forge(operation: TenantOperation): Promise<void>
}

/** @param world in which the DaemonSet that the tenant attacks exists, or will exist */
export function createTenant(world: World): Tenant {
  const { simulator, clock } = world
  const client = createKubeClient({ exchange: simulator.exchangeFor(TENANT), clock, userAgent: 'tenant/1', log: silentLogger })
  let forged = 0
  let hasNamespace = false

  async function moveIn(): Promise<void> {
    if (hasNamespace) return
    hasNamespace = true
    await world.people.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: TENANT } })
  }

  return {
    async forge(operation) {
      await moveIn()
      world.note(tenantText(operation))
      const victim = await daemonSetOf(world)
      if (victim === undefined) return
      const attempt: Attempt = { world, client, victim, number: ++forged }
      switch (operation.kind) {
        case 'forgeRevision':
          return forgeRevision(attempt, operation)
        case 'forgePod':
          return forgePod(attempt, operation)
        case 'forgeRelease':
          return forgeRelease(attempt, operation)
        case 'copyAgent':
          return copyAgent(attempt, operation)
        case 'spoilStatus':
          return spoilStatus(world, client, { namespace: TENANT, operation })
        default:
          return operation satisfies never
      }
    },
  }
}

interface Attempt {
  readonly world: World
  /** The client of the tenant. */
  readonly client: KubeClient
  readonly victim: DaemonSet
  /** Number of attempts so far, including this one. */
  readonly number: number
}

/** Like metadata of an object of the DaemonSet, with a finalizer against the garbage collector. */
function metadataOf({ victim }: Attempt, name: string, labels: Readonly<Record<string, string>>): object {
  const { name: owner, uid } = victim.metadata
  return {
    namespace: TENANT,
    name,
    labels: { app: stageKey.name, ...labels },
    finalizers: ['example.com/keep'],
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: owner, uid, controller: true, blockOwnerDeletion: true }],
  }
}

async function forgeRevision(
  attempt: Attempt,
  { pick, number, copies }: Extract<TenantOperation, { readonly kind: 'forgeRevision' }>,
): Promise<void> {
  const { world, client } = attempt
  const theirs = await revisionsOf(world)
  const chosen = theirs[pick % Math.max(1, theirs.length)]
  const hash = copies === 'hash' && chosen !== undefined ? hashOf(chosen) : `forged${attempt.number}`
  const template = copies === 'template' && chosen !== undefined ? templateOf(chosen) : evil
  await client.create(resourcePaths.controllerRevisions, {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: metadataOf(attempt, `node-agent-${hash}-${attempt.number}`, { 'controller-revision-hash': hash }),
    data: { spec: { template: { ...template, $patch: 'replace' } } },
    revision: number === 'same' ? (chosen?.revision ?? 1) : number === 'oldest' ? 0 : 900 + attempt.number,
  } as never)
}

async function forgePod(attempt: Attempt, { pick, phase }: Extract<TenantOperation, { readonly kind: 'forgePod' }>): Promise<void> {
  const { world, client } = attempt
  const nodes = (await world.people.list<Node>(resourcePaths.nodes)).items.map(({ metadata }) => metadata.name).toSorted()
  const nodeName = nodes[pick % Math.max(1, nodes.length)]
  if (nodeName === undefined) return
  const theirs = await revisionsOf(world)
  const chosen = theirs[pick % Math.max(1, theirs.length)]
  const key = { namespace: TENANT, name: `forged-${attempt.number}` }
  await client.create(resourcePaths.pods, {
    ...{ apiVersion: 'v1', kind: 'Pod' },
    metadata: metadataOf(attempt, key.name, { 'controller-revision-hash': chosen === undefined ? 'forged' : hashOf(chosen) }),
    spec: { nodeName, tolerations: [{ operator: 'Exists' }], containers: [{ name: 'agent', image: 'evil' }] },
  } as never)
  if (phase === 'stuck') await client.delete(resourcePaths.pods, key)
  if (phase === 'failed')
    await client.patch(resourcePaths.pods, key, { type: 'merge', body: { status: { phase: 'Failed' } } }, { subresource: 'status' })
}

/** A BatchRelease of the Rollout's name, with the Rollout as its owner. */
async function forgeRelease(
  { world, client }: Attempt,
  { forMs }: Extract<TenantOperation, { readonly kind: 'forgeRelease' }>,
): Promise<void> {
  const rollout = await rolloutOf(world)
  const key = { namespace: TENANT, name: stageKey.name }
  const owner = {
    apiVersion: 'rollouts.kruise.io/v1beta1',
    kind: 'Rollout',
    name: stageKey.name,
    uid: rollout?.metadata.uid,
    controller: true,
  }
  await client.create(resourcePaths.batchReleases, {
    apiVersion: 'rollouts.kruise.io/v1beta1',
    kind: 'BatchRelease',
    metadata: { ...key, ...(rollout !== undefined && { ownerReferences: [owner] }) },
    spec: {
      workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: stageKey.name },
      releasePlan: { batches: [{ canaryReplicas: '100%' }], batchPartition: 0 },
    },
  } as never)
  world.later(forMs, async () => void (await client.delete(resourcePaths.batchReleases, key)))
}

/** A DaemonSet and a Rollout of the same names and labels, which take part only in their own release. */
async function copyAgent(
  { world, client, victim }: Attempt,
  { tag, forMs }: Extract<TenantOperation, { readonly kind: 'copyAgent' }>,
): Promise<void> {
  const key = { namespace: TENANT, name: stageKey.name }
  const { annotations } = victim.metadata
  const copy = daemonSetManifest({ maxUnavailable: '100%' }, tag) as DaemonSet
  await client.create(resourcePaths.daemonSets, {
    ...copy,
    metadata: { ...key, ...(annotations !== undefined && { annotations }) },
  } as never)
  const rollout = rolloutManifest({ steps: [{ replicas: '100%' }] }) as { readonly metadata: object }
  await client.create(resourcePaths.rollouts, { ...rollout, metadata: { ...rollout.metadata, ...key } } as never)
  world.later(forMs, async () => {
    await client.delete(resourcePaths.rollouts, key)
    await client.delete(resourcePaths.daemonSets, key)
  })
}

async function revisionsOf({ people }: World): Promise<readonly ControllerRevision[]> {
  const { items } = await people.list<ControllerRevision>(resourcePaths.controllerRevisions, { namespace: stageKey.namespace })
  return items.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
}

function hashOf({ metadata }: ControllerRevision): string {
  return metadata.labels?.['controller-revision-hash'] ?? ''
}

function templateOf({ data }: ControllerRevision): object {
  return (data as { readonly spec: { readonly template: object } }).spec.template
}

function tenantText(operation: TenantOperation): string {
  switch (operation.kind) {
    case 'forgeRevision':
      return `a tenant forges a ControllerRevision with ${{ hash: 'another template', template: 'another hash', nothing: 'a hash and a template of their own' }[operation.copies]}, of ${operation.number === 'same' ? 'the same' : `the ${operation.number}`} number`
    case 'forgePod':
      return `a tenant forges a pod that is ${operation.phase}`
    case 'forgeRelease':
      return `a tenant forges a BatchRelease for ${durationText(operation.forMs)}`
    case 'copyAgent':
      return `a tenant copies the DaemonSet with ${operation.tag}, for ${durationText(operation.forMs)}`
    case 'spoilStatus':
      return `for ${durationText(operation.forMs)}, a tenant writes odd times into the statuses of their own Rollout${operation.hasAgent ? ' and its DaemonSet' : ''}, every ${durationText(operation.everyMs)}`
    default:
      return operation satisfies never
  }
}
