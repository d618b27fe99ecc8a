import type { BatchRelease, ReleasePolicy, Rollout } from '@tranche/api-schema'
import { resourcePaths } from '@tranche/kube-client'
import type { DaemonSet, Lease, Pod } from '@tranche/kube-types'
import { runs } from './looks.ts'
import { daemonSetManifest, goesBy, policyKey, policyManifest, type ReleaseOptions, rolloutManifest, stageKey } from './stage-objects.ts'
import { drive, setStage, type Stage, type StageOptions } from './stage.ts'

/** Namespace of the Leases of groups. */
export const LEASES = 'kube-system'
/** Group of the agents. */
export const GROUP = 'node-agents'

/** Time limit of a step while calls hang one after the other, in milliseconds. */
const LONG_MS = 3_600_000

/** A DaemonSet with its Rollout. */
export interface Agent {
  readonly name: string
  readonly namespace: string
  rollout(): Promise<Rollout>
  release(): Promise<BatchRelease | undefined>
  /** Changes the image to this tag. */
  setImage(tag: string): Promise<void>
  patchRollout(body: object): Promise<void>
  /** Nodes with a standing pod of this tag. */
  nodesOn(tag: string): Promise<readonly string[]>
  untilReleased(tag: string, withinMs?: number): Promise<void>
  /** Waits until the release waits for this reason. */
  untilWaiting(reason: string): Promise<void>
}

/** Options of a stage with groups. */
export interface GroupStageOptions extends Omit<StageOptions, 'groups'> {
  /** @default the Leases are in {@link LEASES}, and no namespaces share their groups; null: the installation allows no groups */
  readonly groups?: StageOptions['groups'] | null
  /** Names of the agents. @default two */
  readonly agents?: readonly string[]
}

/** Sets a stage with several agents, whose policy names one group. The first is the stage's own. */
export async function setGroupStage(
  options: GroupStageOptions = {},
): Promise<{ readonly stage: Stage; readonly agents: readonly Agent[] }> {
  const { agents: names = ['node-agent', 'log-agent'], groups = { namespace: LEASES, shared: [] }, ...more } = options
  const settings: StageOptions = {
    ...{ nodes: 4, maxUnavailable: 1, steps: [{ replicas: '100%' }], policy: { downtime: { group: GROUP } } },
    ...(groups !== null && { groups }),
    ...more,
  }
  const stage = await setStage(settings)
  const agents = [agentOf(stage, stageKey.name, stageKey.namespace)]
  for (const name of names.slice(1)) agents.push(await addAgent(stage, name, settings))
  return { stage, agents }
}

/** Adds a DaemonSet with its Rollout, and waits until it is Healthy. */
export async function addAgent(
  stage: Stage,
  name: string,
  options: ReleaseOptions & { readonly nodes?: number; readonly namespace?: string },
): Promise<Agent> {
  const { namespace = stageKey.namespace } = options
  const agent = agentOf(stage, name, namespace)
  const labels = { app: name }
  const daemonSet = daemonSetManifest(options) as DaemonSet
  const { template } = daemonSet.spec
  const spec = {
    ...daemonSet.spec,
    selector: { matchLabels: labels },
    template: { ...template, metadata: { ...template.metadata, labels } },
  }
  await made(stage, resourcePaths.daemonSets, { ...daemonSet, metadata: { namespace, name }, spec })
  const rollout = rolloutManifest(options) as Rollout
  const metadata = { namespace, name, ...(options.policy !== undefined && { annotations: goesBy(policyKey.name) }) }
  const workloadRef = { ...rollout.spec.workloadRef, name }
  await made(stage, resourcePaths.rollouts, { ...rollout, metadata, spec: { ...rollout.spec, workloadRef } })
  await stage.until(`${name} is Healthy`, async () => (await agent.rollout()).status?.phase === 'Healthy', LONG_MS)
  await stage.until(`${name} runs`, async () => (await agent.nodesOn('v1')).length >= (options.nodes ?? 4), LONG_MS)
  return agent
}

/** Creates an object. */
export async function made(stage: Stage, resource: Parameters<Stage['client']['create']>[0], object: object): Promise<void> {
  await drive(stage.clock, stage.client.create(resource, object as never))
}

/** Adds a namespace with a policy. */
export async function addNamespace(stage: Stage, name: string, policy: ReleasePolicy['spec']): Promise<void> {
  await made(stage, resourcePaths.namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  await made(stage, resourcePaths.releasePolicies, { ...policyManifest(policy), metadata: { namespace: name, name: policyKey.name } })
}

/** Leases of groups that exist now. */
export async function groupLeases(stage: Stage): Promise<readonly Lease[]> {
  const { items } = await stage.client.list<Lease>(resourcePaths.leases, { namespace: LEASES })
  return items.filter(({ metadata }) => metadata.name.startsWith('tranche-group.'))
}

function agentOf(stage: Stage, name: string, namespace: string): Agent {
  const { client } = stage
  const key = { namespace, name }
  const podsOf = async (): Promise<readonly Pod[]> => {
    const { items } = await client.list<Pod>(resourcePaths.pods, { namespace })
    return items.filter(({ metadata }) => metadata.labels?.['app'] === name)
  }
  const agent: Agent = {
    name,
    namespace,
    rollout: () => client.get<Rollout>(resourcePaths.rollouts, key),
    async release() {
      const { items } = await client.list<BatchRelease>(resourcePaths.batchReleases, { namespace })
      return items.find(({ metadata }) => metadata.name === name)
    },
    async setImage(tag) {
      const body = { spec: { template: { spec: { containers: [{ name: 'agent', image: `registry.example/node-agent:${tag}` }] } } } }
      await drive(stage.clock, client.patch(resourcePaths.daemonSets, key, { type: 'strategic', body }))
    },
    patchRollout: async (body) => void (await drive(stage.clock, client.patch(resourcePaths.rollouts, key, { type: 'merge', body }))),
    async nodesOn(tag) {
      const standing = (await podsOf()).filter((pod) => pod.metadata.deletionTimestamp === undefined && runs(pod, tag))
      return standing.map(({ spec }) => spec?.nodeName ?? '?').toSorted()
    },
    async untilReleased(tag, withinMs) {
      const isReleased = async (): Promise<boolean> =>
        (await agent.rollout()).status?.phase === 'Healthy' && (await podsOf()).every((pod) => runs(pod, tag))
      await stage.until(`${name} runs ${tag} on every node`, isReleased, withinMs)
    },
    untilWaiting: (reason) =>
      stage.until(`${name} waits for ${reason}`, async () => (await agent.release())?.status?.waiting?.reason === reason, LONG_MS),
  }
  return agent
}
