import { type Caller, createOwnReviews, type Question } from '@tranche/api'
import { AppError } from '@tranche/errors'
import { type KubeClient, type ResourcePath, resourcePaths } from '@tranche/kube-client'

const { nodes, pods, daemonSets, controllerRevisions, rollouts, batchReleases } = resourcePaths
/** Resources of which the dashboard keeps a copy. */
const watched: readonly ResourcePath[] = [rollouts, batchReleases, daemonSets, controllerRevisions, pods, nodes]

/**
 * Checks that the user may watch everything that the dashboard shows: without one right, it would wait for its first list for good.
 *
 * @throws {AppError} ACCESS_DENIED with the missing rights, and the fix; what {@link KubeClient} rejects with
 */
export async function checkRights(client: KubeClient, { caller, namespace }: RightsOf): Promise<void> {
  const allowed = await Promise.all(watched.map((resource) => mayWatch(client, { caller, namespace, resource })))
  const missing = watched.filter((_resource, index) => !allowed[index])
  if (missing.length === 0) return
  throw new AppError('ACCESS_DENIED', `user ${JSON.stringify(caller.username)} may not list and watch ${rightsText(missing, namespace)}`, {
    hint: hintFor(missing, namespace),
  })
}

/** @returns whether the user may list and watch events, without which the dashboard shows none */
export function mayWatchEvents(client: KubeClient, of: RightsOf): Promise<boolean> {
  return mayWatch(client, { ...of, resource: resourcePaths.events })
}

/** User and scope of a check. */
interface RightsOf {
  readonly caller: Caller
  /** The only namespace to watch; undefined: all. */
  readonly namespace: string | undefined
}

async function mayWatch(
  client: KubeClient,
  { caller, namespace, resource }: RightsOf & { readonly resource: ResourcePath },
): Promise<boolean> {
  const reviews = createOwnReviews(client, () => undefined)
  const questions = ['list', 'watch'].map((verb) => toQuestion(resource, { verb, namespace }))
  const answers = await Promise.all(questions.map((question) => reviews.isAllowed(caller, question)))
  return answers.every((isAllowed) => isAllowed)
}

function rightsText(missing: readonly ResourcePath[], namespace: string | undefined): string {
  const inNamespaces = missing
    .filter(({ namespaced }) => namespaced)
    .map(({ group, plural }) => (group === '' ? plural : `${plural}.${group}`))
  const where = namespace === undefined ? 'in all namespaces' : `in namespace ${JSON.stringify(namespace)}`
  const parts = inNamespaces.length === 0 ? [] : [`${inNamespaces.join(', ')} ${where}`]
  return [...parts, ...(missing.includes(nodes) ? [nodes.plural] : [])].join(', and ')
}

function hintFor(missing: readonly ResourcePath[], namespace: string | undefined): string {
  const lacksOthers = missing.some((resource) => resource !== nodes)
  const narrower = lacksOthers && namespace === undefined ? ['Name a namespace in which you may: tranche dashboard -n NAME.'] : []
  const roles = [
    ...(lacksOthers && namespace !== undefined ? ['tranche-cli-viewer'] : []),
    ...(missing.includes(nodes) ? ['tranche-cli-cluster'] : []),
  ]
  const ask = roles.length === 0 ? [] : [`Ask for the ClusterRole ${roles.join(' and ')}, or rights like it.`]
  return [...narrower, ...ask].join(' ')
}

function toQuestion(
  { group, plural, namespaced }: ResourcePath,
  { verb, namespace = '' }: { readonly verb: string; readonly namespace: string | undefined },
): Question {
  return { kind: 'resource', verb, group, resource: plural, namespace: namespaced ? namespace : '', name: '' }
}
