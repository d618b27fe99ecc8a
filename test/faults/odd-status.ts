import type { Rollout } from '@tranche/api-schema'
import { type KubeClient, resourcePaths } from '@tranche/kube-client'
import type { DaemonSet, ObjectKey } from '@tranche/kube-types'
import { daemonSetManifest, imageOf, rolloutManifest } from '../scenarios/stage-objects.ts'
import type { TenantOperation } from './schedule.ts'
import type { World } from './world.ts'

/** Operation of a tenant with the permission `patch` on the statuses of their own namespace, as `admin` of a namespace has it. */
export type SpoilStatus = Extract<TenantOperation, { readonly kind: 'spoilStatus' }>

/** Times that an API server accepts as `date-time` and that are none, for a parser that is stricter. */
const noTimes = ['2026-01-01T00:00:00x0Z', '2026-12-31T23:59:60Z', '2026-01-01T00:00:00x9999999Z']
/** Times that are valid and far away, for objects without a release. */
const farTimes = ['0001-01-01T00:00:00Z', '9999-12-31T23:59:59Z', '0000-01-01T00:00:00Z']
const NAME = 'odd'

/**
 * Writes odd times into the statuses of a Rollout and a BatchRelease that belong to the tenant, and deletes both in the end.
 *
 * @param client of the tenant
 */
export async function spoilStatus(world: World, client: KubeClient, { namespace, operation }: Spoiled): Promise<void> {
  const { clock } = world
  const key = { namespace, name: NAME }
  await createOdd(client, key, operation)
  let isOver = false
  let writes = 0
  const next = async (): Promise<void> => {
    if (isOver) return
    await spoil(client, key, operation.hasAgent ? noTimes : [...noTimes, ...farTimes], writes++)
    if (operation.hasAgent && writes === 2) await releaseOdd(client, key)
    clock.setTimer(operation.everyMs, () => void next())
  }
  await next()
  world.later(operation.forMs, async () => {
    isOver = true
    for (const path of [resourcePaths.rollouts, resourcePaths.batchReleases, resourcePaths.daemonSets])
      await ignoreRefused(client.delete(path, key))
  })
}

/** The operation, and where. */
export interface Spoiled {
  readonly namespace: string
  readonly operation: SpoilStatus
}

async function createOdd(client: KubeClient, key: ObjectKey, { hasAgent }: SpoilStatus): Promise<void> {
  const rollout = rolloutManifest({ steps: [{ replicas: '50%', pause: { duration: 20 } }, { replicas: '100%' }] }, NAME) as Rollout
  const workloadRef = { ...rollout.spec.workloadRef, name: NAME }
  if (hasAgent) await ignoreRefused(client.create(resourcePaths.daemonSets, oddDaemonSet(key) as never))
  const metadata = { ...rollout.metadata, ...key }
  await ignoreRefused(client.create(resourcePaths.rollouts, { ...rollout, metadata, spec: { ...rollout.spec, workloadRef } } as never))
  if (hasAgent) return
  const releasePlan = { batches: [{ canaryReplicas: '100%' }], batchPartition: 0 }
  const release = { apiVersion: 'rollouts.kruise.io/v1beta1', kind: 'BatchRelease', metadata: key, spec: { workloadRef, releasePlan } }
  await ignoreRefused(client.create(resourcePaths.batchReleases, release as never))
}

function oddDaemonSet(key: ObjectKey): object {
  const daemonSet = daemonSetManifest({}) as DaemonSet
  const labels = { app: NAME }
  const { template } = daemonSet.spec
  const spec = {
    ...daemonSet.spec,
    selector: { matchLabels: labels },
    template: { ...template, metadata: { ...template.metadata, labels } },
  }
  return { ...daemonSet, metadata: key, spec }
}

async function releaseOdd(client: KubeClient, key: ObjectKey): Promise<void> {
  const body = { spec: { template: { spec: { containers: [{ name: 'agent', image: imageOf('v2') }] } } } }
  await ignoreRefused(client.patch(resourcePaths.daemonSets, key, { type: 'strategic', body }))
}

/** An API server that refuses a time leaves the one before. */
async function spoil(client: KubeClient, key: ObjectKey, times: readonly string[], at: number): Promise<void> {
  const time = times[at % times.length]
  const [status, ofRelease] = [
    { canaryStatus: { lastUpdateTime: time }, pausedSince: time, settlingUntil: time },
    { canaryStatus: { batchReadyTime: time }, settledSince: time, settlingUntil: time },
  ]
  for (const [name, value] of Object.entries(status)) await patchStatus(client, resourcePaths.rollouts, key, { [name]: value })
  for (const [name, value] of Object.entries(ofRelease)) await patchStatus(client, resourcePaths.batchReleases, key, { [name]: value })
}

async function patchStatus(client: KubeClient, path: Parameters<KubeClient['patch']>[0], key: ObjectKey, status: object): Promise<void> {
  await ignoreRefused(client.patch(path, key, { type: 'merge', body: { status } }, { subresource: 'status' }))
}

/** The API server may refuse what is odd, and objects may be gone. */
async function ignoreRefused(promise: Promise<unknown>): Promise<void> {
  await promise.catch(() => {})
}
