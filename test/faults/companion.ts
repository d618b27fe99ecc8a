import type { Rollout } from '@tranche/api-schema'
import { isAlreadyExists, resourcePaths } from '@tranche/kube-client'
import type { DaemonSet, Lease, Node, Pod } from '@tranche/kube-types'
import { daemonSetManifest, goesBy, imageOf, rolloutManifest } from '../scenarios/stage-objects.ts'
import { COMPANION, GROUP, GROUP_LEASES, type CompanionShape } from './schedule.ts'
import type { World } from './world.ts'

const NAME = 'log-agent'
const key = { namespace: COMPANION, name: NAME }

/** Another DaemonSet, in a namespace of its own, that is released in the same group. Its owners only change its template. */
export interface Companion {
  /** Creates its objects. */
  install(): Promise<void>
  /** Changes its template. */
  release(tag: string): Promise<void>
}

/** @returns a companion that does nothing in a world without one */
export function createCompanion(world: World): Companion {
  const { people, schedule } = world
  const { companion } = schedule.shape
  const create = async (resource: Parameters<World['people']['create']>[0], object: object): Promise<void> => {
    await people.create(resource, object as never).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error
    })
  }
  return {
    async install() {
      if (companion === undefined) return
      await create(resourcePaths.namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: COMPANION } })
      // Failures of its pods are those of the nodes, and no person looks at it.
      const policy = { downtime: { group: GROUP }, failure: { action: 'Continue' } }
      const metadata = { namespace: COMPANION, name: 'company' }
      await create(resourcePaths.releasePolicies, { apiVersion: 'tranche.dev/v1alpha1', kind: 'ReleasePolicy', metadata, spec: policy })
      await create(resourcePaths.daemonSets, companionDaemonSet(companion))
      await create(resourcePaths.rollouts, companionRollout(companion))
    },
    async release(tag) {
      if (companion === undefined) return
      world.note(`the template of the companion becomes ${tag}`)
      const body = { spec: { template: { spec: { containers: [{ name: 'agent', image: imageOf(tag) }] } } } }
      await people.patch(resourcePaths.daemonSets, key, { type: 'strategic', body })
    },
  }
}

/** @returns each difference from the required state of the companion at the end, and Leases of groups that are left, in words */
export async function findUnendedCompanion({ people, schedule }: World): Promise<readonly string[]> {
  if (schedule.shape.companion === undefined) return []
  const { status, metadata } = await people.get<Rollout>(resourcePaths.rollouts, key)
  const nodes = (await people.list<Node>(resourcePaths.nodes)).items
  const pods = (await people.list<Pod>(resourcePaths.pods, { namespace: COMPANION })).items.filter(
    ({ spec }) => spec?.nodeName !== undefined,
  )
  const { status: native } = await people.get<DaemonSet>(resourcePaths.daemonSets, key)
  const leases = (await people.list<Lease>(resourcePaths.leases, { namespace: GROUP_LEASES })).items.filter((lease) =>
    lease.metadata.name.startsWith('tranche-group.'),
  )
  const unended: string[] = []
  if (status?.phase !== 'Healthy' || status.observedGeneration !== metadata.generation)
    unended.push(`the companion is ${status?.phase ?? 'without status'}: ${status?.message ?? ''}`)
  if (native?.updatedNumberScheduled !== nodes.length && pods.length > 0 && native?.currentNumberScheduled !== nodes.length)
    unended.push(`the companion runs on ${native?.currentNumberScheduled ?? 0} of ${nodes.length} nodes`)
  for (const { metadata: lease, spec } of leases)
    unended.push(`the Lease ${lease.name} of ${spec?.holderIdentity ?? 'no release'} still exists`)
  return unended
}

function companionDaemonSet({ maxUnavailable }: CompanionShape): object {
  const daemonSet = daemonSetManifest({ maxUnavailable }) as DaemonSet
  const { template } = daemonSet.spec
  const labels = { app: NAME }
  const spec = {
    ...daemonSet.spec,
    selector: { matchLabels: labels },
    template: { ...template, metadata: { ...template.metadata, labels } },
  }
  return { ...daemonSet, metadata: key, spec }
}

function companionRollout({ steps }: CompanionShape): object {
  const rollout = rolloutManifest({ steps }) as Rollout
  const workloadRef = { ...rollout.spec.workloadRef, name: NAME }
  return { ...rollout, metadata: { ...key, annotations: goesBy('company') }, spec: { ...rollout.spec, workloadRef } }
}
