import type { KubeClient, ResourcePath } from '@tranche/kube-client'
import type { Component, InstalledPod } from './installed-signs.ts'
import rulesOfPrograms from './process-rules.generated.json' with { type: 'json' }

/** One permission that the service account of a process needs. */
export interface NeededRight {
  readonly verb: string
  readonly group: string
  /** `pods`, `rollouts/status`. */
  readonly resource: string
  /** Name of the only object; absent: any object. */
  readonly name?: string
  /** Absent: all namespaces, or a cluster-scoped resource. */
  readonly namespace?: string
}

/** Permissions of one service account, as the API server reports them. */
export interface AccountSign {
  /** `namespace/name` */
  readonly account: string
  /** Components whose pods use it. */
  readonly components: readonly Component[]
  /** Number of permissions checked. */
  readonly asked: number
  readonly missing: readonly NeededRight[]
}

/** RBAC rule. */
interface Rule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
  readonly resourceNames?: readonly string[]
}

/** Overrides for namespaces and object names; undefined: those of the rules. */
interface Place {
  readonly namespaces: readonly (string | undefined)[]
  readonly names?: readonly string[]
}

/** No namespace: cluster-scoped, or all namespaces. */
const everywhere: Place = { namespaces: [undefined] }
const reviews: ResourcePath = { group: 'authorization.k8s.io', version: 'v1', plural: 'subjectaccessreviews', namespaced: false }

/**
 * Checks the permissions of the service accounts of pods against docs/operations/permissions.md.
 *
 * @throws {AppError} API_REFUSED if the caller may not create SubjectAccessReviews
 */
export async function readAccounts(
  client: KubeClient,
  options: { readonly installed: readonly InstalledPod[]; readonly signal: AbortSignal },
): Promise<readonly AccountSign[]> {
  const byAccount = Map.groupBy(options.installed, ({ namespace, account }) => `${namespace}/${account}`)
  return Promise.all([...byAccount].map(([account, pods]) => readAccount(client, { account, pods, signal: options.signal })))
}

async function readAccount(
  client: KubeClient,
  { account, pods, signal }: { readonly account: string; readonly pods: readonly InstalledPod[]; readonly signal: AbortSignal },
): Promise<AccountSign> {
  const needed = [...new Map(pods.flatMap(neededRights).map((right) => [JSON.stringify(right), right])).values()]
  const [namespace = '', name = ''] = account.split('/')
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated']
  const answers = needed.map(async (right) => {
    const { resource: path, ...where } = right
    const [resource, subresource] = path.split('/')
    const resourceAttributes = { ...where, resource, ...(subresource !== undefined && { subresource }) }
    const spec = { user: `system:serviceaccount:${namespace}:${name}`, groups, resourceAttributes }
    const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', metadata: {}, spec }
    const { status } = (await client.create(reviews, review, { signal })) as { readonly status?: { readonly allowed?: boolean } }
    return status?.allowed === true ? [] : [right]
  })
  const components = [...new Set(pods.map(({ component }) => component))]
  return { account, components, asked: needed.length, missing: (await Promise.all(answers)).flat() }
}

/** @returns the permissions that the service account of a pod needs, from its component and arguments. Pure. */
export function neededRights({ component, args }: InstalledPod): readonly NeededRight[] {
  const optionValues = (option: string): readonly string[] =>
    args.flatMap((arg) => (arg.startsWith(`--${option}=`) ? [arg.slice(option.length + 3)] : []))
  const watched = optionValues('watch-namespace')
  const scope: Place = watched.length === 0 ? everywhere : { namespaces: watched }
  const ofProgram = (program: 'controller' | 'executor' | 'api'): readonly NeededRight[] => [
    ...rightsOf(rulesOfPrograms[program].Cluster, everywhere),
    ...rightsOf(rulesOfPrograms[program].Namespaced, scope),
  ]
  const isOne = component === 'all-in-one'
  return [
    ...(isOne || component === 'controller' ? [...ofProgram('controller'), ...ofLeader(optionValues, scope)] : []),
    ...(isOne || component === 'executor' ? ofProgram('executor') : []),
    ...(component === 'api' || (isOne && optionValues('api-port').length > 0) ? ofProgram('api') : []),
  ]
}

/** Permissions for the Lease and for the chosen kind of admission. */
function ofLeader(optionValues: (option: string) => readonly string[], scope: Place): readonly NeededRight[] {
  const [admission = 'none'] = optionValues('admission')
  const [leaseNamespace = 'kube-system'] = optionValues('lease-namespace')
  const [namespace, name] = optionValues('webhook-secret')[0]?.split('/') ?? []
  const configurations = optionValues('webhook-configuration')
  return [
    ...rightsOf(rulesOfPrograms.lease, { namespaces: [leaseNamespace] }),
    ...(admission === 'none' ? [] : rightsOf(rulesOfPrograms.admission, scope)),
    ...(configurations.length === 0 ? [] : rightsOf(rulesOfPrograms.webhookConfigurations, { ...everywhere, names: configurations })),
    ...(name === undefined ? [] : rightsOf(rulesOfPrograms.webhookSecret, { namespaces: [namespace], names: [name] })),
  ]
}

function rightsOf(rules: readonly Rule[], { namespaces, names }: Place): readonly NeededRight[] {
  return rules.flatMap(({ apiGroups, resources, verbs, resourceNames }) =>
    combined({ apiGroups, resources, verbs, namespaces, names: names ?? resourceNames ?? [undefined] }),
  )
}

interface Parts extends Pick<Rule, 'apiGroups' | 'resources' | 'verbs'> {
  readonly namespaces: readonly (string | undefined)[]
  readonly names: readonly (string | undefined)[]
}

/** Expands rules to one permission per verb, resource and namespace. */
function combined({ apiGroups, resources, verbs, namespaces, names }: Parts): readonly NeededRight[] {
  return apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      namespaces.flatMap((namespace) =>
        names.flatMap((name) =>
          verbs.map((verb) => ({
            ...{ verb, group, resource },
            ...(name !== undefined && { name }),
            ...(namespace !== undefined && { namespace }),
          })),
        ),
      ),
    ),
  )
}
