import { resourcePaths } from '@tranche/kube-client'
import type { KubeObject, Pod } from '@tranche/kube-types'
import { setStage, type Stage, type StageOptions } from './stage.ts'
import { rolloutManifest, stageKey } from './stage-objects.ts'

/** A ConfigMap as the API server has it. */
export interface ConfigMap extends KubeObject {
  readonly immutable?: boolean
  readonly data?: Readonly<Record<string, string>>
}

/** Steps of the Rollout. */
export const pinnedSteps = [{ replicas: '20%', pause: {} }, { replicas: '100%' }]

/** The condition Stalled. */
export async function stalled(
  stage: Stage,
): Promise<{ readonly status: string; readonly reason: string; readonly message: string } | undefined> {
  return (await stage.rollout()).status?.conditions?.find(({ type }) => type === 'Stalled')
}

/** A DaemonSet whose pods read the ConfigMap `agent`, which has the content `config`, and a Rollout whose policy pins it. */
export async function setPinnedStage({ config, ...options }: StageOptions & { readonly config?: string } = {}): Promise<Stage> {
  const { policy = { config: 'Pin' } as const } = options
  const stage = await setStage({
    nodes: 5,
    maxUnavailable: 2,
    configMaps: ['agent'],
    pinConfig: true,
    withRollout: false,
    ...options,
    policy,
  })
  if (config !== undefined) await write(stage, config)
  await stage.client.create(resourcePaths.rollouts, rolloutManifest({ steps: pinnedSteps, policy }) as KubeObject)
  const isSettled = async (): Promise<boolean> => {
    const { status } = await stage.rollout()
    return status?.phase === 'Healthy' || status?.phase === 'Progressing' || (await stalled(stage))?.status === 'True'
  }
  await stage.until('it is Healthy or stalled', isSettled)
  return stage
}

/** Creates or changes the ConfigMap, as its owner. */
export async function write(stage: Stage, level: string): Promise<void> {
  const key = { namespace: stageKey.namespace, name: 'agent' }
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: key, data: { level } } as unknown as KubeObject
  await stage.client
    .create(resourcePaths.configMaps, object)
    .catch(() => stage.client.patch(resourcePaths.configMaps, key, { type: 'merge', body: { data: { level } } }))
}

/** All copies. */
export async function copies(stage: Stage): Promise<readonly ConfigMap[]> {
  const { items } = await stage.client.list<ConfigMap>(resourcePaths.configMaps, {
    namespace: stageKey.namespace,
    labelSelector: 'tranche.dev/config-of',
  })
  return items
}

/** What each standing pod reads, in order: the content of an immutable copy, or `live`. */
export async function contents(stage: Stage): Promise<readonly string[]> {
  const byName = new Map(
    (await copies(stage)).map(({ metadata, immutable, data }) => [metadata.name, immutable === true ? data?.['level'] : undefined]),
  )
  const pods = (await stage.pods()).filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  return pods.map((pod) => (nameIn(pod) === 'agent' ? 'live' : (byName.get(nameIn(pod)) ?? `missing ${nameIn(pod)}`))).toSorted()
}

/** Waits until all pods read this, and the release is over. */
export async function untilContents(stage: Stage, wanted: readonly string[], withinMs?: number): Promise<void> {
  const isThere = async (): Promise<boolean> =>
    JSON.stringify(await contents(stage)) === JSON.stringify(wanted) && (await stage.rollout()).status?.phase === 'Healthy'
  await stage.until(`pods read ${wanted.join(', ')}`, isThere, withinMs)
}

function nameIn({ spec }: Pod): string {
  const { containers } = spec as unknown as {
    readonly containers: readonly { readonly envFrom?: readonly { readonly configMapRef?: { readonly name: string } }[] }[]
  }
  return containers[0]?.envFrom?.[0]?.configMapRef?.name ?? ''
}

/** Every answer to a controller's request for a ConfigMap takes an hour. */
export function ignoreConfig(stage: Stage): void {
  stage.disturb({
    onRequest: ({ actor, verb, resource }) =>
      actor.startsWith('controller') && ['get', 'list', 'create'].includes(verb) && resource.resource === 'configmaps'
        ? { kind: 'delay', ms: 3_600_000, when: 'before' }
        : undefined,
  })
}
