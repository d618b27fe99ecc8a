import type { KubeClient, ResourcePath } from '@tranche/kube-client'
import type { Component, InstalledPod } from './installed-signs.ts'
import rulesOfPrograms from './process-rules.generated.json' with { type: 'json' }

/** One thing that the account of a process needs. */
export interface NeededRight {
  readonly verb: string
  readonly group: string
  /** `pods`, `rollouts/status`. */
  readonly resource: string
  /** Of one object; absent: of any. */
  readonly name?: string
  /** Absent: in all namespaces, or of what has none. */
  readonly namespace?: string
}

/** What the API server says of one account. */
export interface AccountSign {
  /** `namespace/name` */
  readonly account: string
  /** Who comes with it. */
  readonly components: readonly Component[]
  /** How many rights were asked about. */
  readonly asked: number
  readonly missing: readonly NeededRight[]
}

/** A rule as RBAC has it. */
interface Rule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
  readonly resourceNames?: readonly string[]
}

/** In which namespaces, and about objects of which names; undefined: those of the rules. */
interface Place {
  readonly namespaces: readonly (string | undefined)[]
  readonly names?: readonly string[]
}

/** Where there is no namespace, or all are meant. */
const everywhere: Place = { namespaces: [undefined] }
const reviews: ResourcePath = { group: 'authorization.k8s.io', version: 'v1', plural: 'subjectaccessreviews', namespaced: false }

/**
 * Asks what the accounts of pods may do of what docs/operations/permissions.md lists for them.
 *
 * @throws {AppError} API_REFUSED where we may not ask
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

/** @returns what the account of a pod needs, by the programs that run in it and what they are told. Pure. */
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

/** Of the Lease, and of the kind of admission that was chosen. */
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

/** Every verb on every resource, in every namespace. */
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
