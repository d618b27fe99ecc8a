import type { EventReport, Rollout } from '@tranche/api-schema'
import { type KubeClient, resourcePaths } from '@tranche/kube-client'
import type { ObjectKey } from '@tranche/kube-types'
import { newestFirst, type SeenEvent, toEventReport } from './events/seen-event.ts'
import { getOrNone, workloadKey } from './read-action-facts.ts'
import type { AskOptions } from './release-client.ts'
import { rolloutNotFound } from './rollout-not-found.ts'

const kinds: readonly string[] = ['Rollout', 'BatchRelease', 'DaemonSet']

/**
 * Reads the events about a Rollout, its BatchRelease and its DaemonSet.
 *
 * @returns newest first
 * @throws {AppError} ROLLOUT_NOT_FOUND
 */
export async function readEvents(
  { client }: { readonly client: KubeClient },
  key: ObjectKey,
  options: AskOptions = {},
): Promise<readonly EventReport[]> {
  const rollout = await getOrNone<Rollout>(client, resourcePaths.rollouts, key, options)
  if (rollout === undefined) throw rolloutNotFound(key)
  const daemonSet = workloadKey(rollout).name
  const lists = await Promise.all(
    [...new Set([key.name, daemonSet])].map((name) =>
      client.list<SeenEvent>(resourcePaths.events, { ...options, namespace: key.namespace, fieldSelector: `involvedObject.name=${name}` }),
    ),
  )
  return lists
    .flatMap(({ items }) => items)
    .filter(
      ({ involvedObject: { kind = '', name } = {} }) => kinds.includes(kind) && name === (kind === 'DaemonSet' ? daemonSet : key.name),
    )
    .map((event) => ({ resourceVersion: event.metadata.resourceVersion, report: toEventReport(event) }))
    .sort(newestFirst)
    .map(({ report }) => report)
}
