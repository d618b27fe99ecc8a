import { NODE_LOCK_NAMESPACE, sha256Hex } from '@tranche/kube-types'
import type { NeededRight } from './access-right.ts'
import type { GuardedReads } from './guarded-reads.ts'
import type { Component, InstalledPod } from './installed-signs.ts'
import rulesOfPrograms from './process-rules.generated.json' with { type: 'json' }

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

/** The pods need more permissions than are checked. */
export interface TooManyRights {
  readonly tooMany: number
}

/** Maximum number of permissions that are checked: those of the three programs in a hundred namespaces. */
const MOST_RIGHTS = 10_000
/** Maximum number of namespaces of all pods together: with more, they need more rights than that. */
const MOST_PLACES = 1_000

/** Maximum length of an option: its name, a namespace, and the name of an object. */
const MOST_OPTION = 400

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

/**
 * Checks the permissions of the service accounts of pods against docs/operations/permissions.md.
 *
 * @throws {ReadDenied} if the user may not create SubjectAccessReviews
 */
export async function readAccounts(
  reads: GuardedReads,
  installed: readonly InstalledPod[],
): Promise<readonly AccountSign[] | TooManyRights> {
  const needs: AccountNeeds[] = []
  let sum = 0
  let places = 0
  for (const [account, pods] of Map.groupBy(installed, ({ namespace, account: name }) => `${namespace}/${name}`)) {
    const needed = new Map<string, NeededRight>()
    for (const pod of differentPods(pods)) {
      // Before the rights are expanded: any user may write these arguments.
      places += Math.max(1, watchedNamespaces(pod).length)
      if (places > MOST_PLACES) return { tooMany: MOST_RIGHTS }
      for (const right of neededRights(pod)) needed.set(JSON.stringify(right), right)
      if (sum + needed.size > MOST_RIGHTS) return { tooMany: MOST_RIGHTS }
    }
    sum += needed.size
    needs.push({ account, pods, needed: [...needed.values()] })
  }
  return Promise.all(needs.map((one) => readAccount(reads, one)))
}

/** Replicas have the same arguments, and so the same rights. */
function differentPods(pods: readonly InstalledPod[]): readonly InstalledPod[] {
  return [...new Map(pods.map((pod) => [sha256Hex(JSON.stringify([pod.component, pod.args])), pod])).values()]
}

interface AccountNeeds {
  readonly account: string
  readonly pods: readonly InstalledPod[]
  readonly needed: readonly NeededRight[]
}

async function readAccount(reads: GuardedReads, { account, pods, needed }: AccountNeeds): Promise<AccountSign> {
  const [namespace = '', name = ''] = account.split('/')
  const answers = needed.map(async (right) => ((await reads.mayAccount({ namespace, name }, right)) ? [] : [right]))
  const components = [...new Set(pods.map(({ component }) => component))]
  return { account, components, asked: needed.length, missing: (await Promise.all(answers)).flat() }
}

/** @returns the permissions that the service account of a pod needs, from its component and arguments. Pure. */
export function neededRights({ component, args }: InstalledPod): readonly NeededRight[] {
  const optionValues = (option: string): readonly string[] =>
    args.flatMap((arg) => (arg.startsWith(`--${option}=`) && arg.length <= MOST_OPTION ? [arg.slice(option.length + 3)] : []))
  const watched = watchedNamespaces({ args })
  const scope: Place = watched.length === 0 ? everywhere : { namespaces: watched }
  const ofProgram = (program: 'controller' | 'executor' | 'api'): readonly NeededRight[] => [
    ...rightsOf(rulesOfPrograms[program].Cluster, everywhere),
    ...rightsOf(rulesOfPrograms[program].Namespaced, scope),
  ]
  const isOne = component === 'all-in-one'
  return [
    ...(isOne || component === 'controller'
      ? [
          ...ofProgram('controller'),
          ...ofLeader(optionValues, scope),
          ...(args.includes(READ_CONFIG) ? rightsOf(rulesOfPrograms.config, scope) : []),
          ...(args.includes(PIN_CONFIG) ? ofPins(optionValues, scope) : []),
          ...ofSecretPins(optionValues, scope),
        ]
      : []),
    ...(isOne || component === 'executor'
      ? [
          ...ofProgram('executor'),
          ...(args.includes('--room') ? rightsOf(rulesOfPrograms.room, everywhere) : []),
          ...(args.includes('--pre-pull') ? rightsOf(rulesOfPrograms.prePull, scope) : []),
          ...ofDrains(optionValues),
          ...(args.includes('--drain-conditions') ? rightsOf(rulesOfPrograms.drainConditions, everywhere) : []),
          ...ofLocks(optionValues),
          ...optionValues('downtime-namespace').flatMap((place) => rightsOf(rulesOfPrograms.downtime, { namespaces: [place] })),
        ]
      : []),
    ...(component === 'api' || (isOne && optionValues('api-port').length > 0) ? ofProgram('api') : []),
  ]
}

/** Namespaces of `--watch-namespace`, each once; ignores texts that name no namespace. */
function watchedNamespaces({ args }: Pick<InstalledPod, 'args'>): readonly string[] {
  const values = args.flatMap((arg) => (arg.startsWith(WATCH_NAMESPACE) ? [arg.slice(WATCH_NAMESPACE.length)] : []))
  return [...new Set(values)].filter((value) => value.length <= 63 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(value))
}

const WATCH_NAMESPACE = '--watch-namespace='
const READ_CONFIG = '--read-config'
const PIN_CONFIG = '--pin-config'

/** Permissions for the Lease and for the chosen kind of admission. */
function ofLeader(optionValues: (option: string) => readonly string[], scope: Place): readonly NeededRight[] {
  const [admission = 'none'] = optionValues('admission')
  const [leaseNamespace = 'kube-system'] = optionValues('lease-namespace')
  const [namespace, name] = optionValues('webhook-secret')[0]?.split('/') ?? []
  const configurations = optionValues('webhook-configuration')
  return [
    ...rightsOf(rulesOfPrograms.lease, { namespaces: [leaseNamespace] }),
    ...optionValues('group-namespace').flatMap((place) => rightsOf(rulesOfPrograms.groups, { namespaces: [place] })),
    ...(admission === 'none' ? [] : rightsOf(rulesOfPrograms.admission, scope)),
    ...(configurations.length === 0 ? [] : rightsOf(rulesOfPrograms.webhookConfigurations, { ...everywhere, names: configurations })),
    ...(name === undefined ? [] : rightsOf(rulesOfPrograms.webhookSecret, { namespaces: [namespace], names: [name] })),
  ]
}

/** Permissions to copy ConfigMaps, and to watch the policy for pods. */
function ofPins(optionValues: (option: string) => readonly string[], scope: Place): readonly NeededRight[] {
  const names = optionValues('pod-policy')
  const ofPolicy = rightsOf(rulesOfPrograms.podPolicy, names.length === 0 ? everywhere : { ...everywhere, names })
  return [...rightsOf(rulesOfPrograms.configPin, scope), ...ofPolicy]
}

/** Permissions in the namespaces whose Secrets are pinned. */
function ofSecretPins(optionValues: (option: string) => readonly string[], scope: Place): readonly NeededRight[] {
  const names = [...new Set(optionValues('pin-secret-namespace'))]
  if (names.includes('*')) return rightsOf(rulesOfPrograms.secretPin, scope)
  return rightsOf(rulesOfPrograms.secretPin, { namespaces: names })
}

/** Permissions in all namespaces, where some namespace's policies may drain nodes. */
function ofDrains(optionValues: (option: string) => readonly string[]): readonly NeededRight[] {
  return optionValues('drain-namespace').length === 0 ? [] : rightsOf(rulesOfPrograms.drain, everywhere)
}

/** Permissions for the Leases of nodes, where some namespace's policies may lock nodes. */
function ofLocks(optionValues: (option: string) => readonly string[]): readonly NeededRight[] {
  const [place = NODE_LOCK_NAMESPACE] = optionValues('lock-lease-namespace')
  return optionValues('lock-namespace').length === 0 ? [] : rightsOf(rulesOfPrograms.nodeLocks, { namespaces: [place] })
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
