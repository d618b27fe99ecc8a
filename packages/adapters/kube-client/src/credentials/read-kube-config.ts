import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import type { Cluster, KubeConfig, User } from '@kubernetes/client-node'
import type { ExecConfig } from './exec-plugin.ts'
import { invalidKubeConfig, messageOf } from './kube-config-error.ts'
import { type ImpersonatedParts, readImpersonatedParts } from './read-impersonation.ts'

/** Options that select a kubeconfig and its parts. */
export interface KubeConfigChoice {
  /** Path of a kubeconfig file. @default the files of `KUBECONFIG`, else `~/.kube/config`, else the service account of the pod */
  readonly path?: string | undefined
  /** Name of a context. @default the current context */
  readonly context?: string | undefined
  /** Name of a cluster. @default that of the context */
  readonly cluster?: string | undefined
  /** Name of a user. @default that of the context */
  readonly user?: string | undefined
  /** PEM file of the authorities that may sign the server's certificate. @default the cluster's */
  readonly certificateAuthority?: string | undefined
  /** Accepts any server certificate. @default the cluster's */
  readonly skipTlsVerify?: boolean
  /** @default the environment of this process */
  readonly env?: Readonly<Record<string, string | undefined>>
}

/** A parsed kubeconfig and its selected parts. */
export interface ReadKubeConfig {
  /** The library's object; its current context is the selected one. */
  readonly config: KubeConfig
  /** The file or files, for messages. */
  readonly origin: string
  /** Folder of the file that has the user, which its relative command is relative to. */
  readonly folder: string
  readonly context: string
  readonly namespace: string
  readonly cluster: Cluster
  readonly user: User | null
  /** Groups, uid and extra facts of the user to act as; they count only beside the name of one. */
  readonly impersonated: ImpersonatedParts
  /** OIDC settings of the user, which the library does not handle here; else null. */
  readonly oidc: OidcSettings | null
  /** Exec plugin of the user, which the library does not run here; else null. */
  readonly exec: ExecConfig | null
}

/** `users[].user.auth-provider.config` of the provider `oidc`, with its names. */
export type OidcSettings = Readonly<Record<string, string | undefined>>

/**
 * Reads a kubeconfig or the pod's service account from its files on each call. The parsing library is large, so it is loaded here on
 * demand.
 *
 * @throws {AppError} KUBECONFIG_INVALID
 */
export async function readKubeConfig(choice: KubeConfigChoice): Promise<ReadKubeConfig> {
  const found = findOrigin(choice)
  const { KubeConfig } = await import('@kubernetes/client-node')
  const config = new KubeConfig()
  const fileOf = found.kind === 'account' ? null : readFiles(config, () => new KubeConfig(), found.paths)
  if (fileOf === null) config.loadFromCluster()
  const origin = nameOf(found)
  const context = chooseContext(config, choice.context, origin)
  choosePart(config, { part: 'cluster', wanted: choice.cluster, origin })
  choosePart(config, { part: 'user', wanted: choice.user, origin })
  chooseTrust(config, choice)
  const user = config.getCurrentUser()
  return {
    config,
    origin,
    folder: dirname(fileOf?.get(user?.name ?? '') ?? ''),
    context,
    namespace: config.getContextObject(context)?.namespace ?? 'default',
    cluster: usableCluster(config, context, origin),
    user,
    impersonated: found.kind === 'account' || user === null ? { groups: [] } : await readImpersonatedParts(found.paths, user.name),
    oidc: takeOidc(user),
    exec: takeExec(user),
  }
}

/** Names that can be selected in a kubeconfig. */
export interface KubeConfigNames {
  readonly contexts: readonly string[]
  readonly clusters: readonly string[]
  readonly users: readonly string[]
}

/**
 * @returns the selectable names; none for the service account of a pod
 * @throws {AppError} KUBECONFIG_INVALID
 */
export async function kubeConfigNames(choice: Pick<KubeConfigChoice, 'path' | 'env'>): Promise<KubeConfigNames> {
  const found = findOrigin(choice)
  if (found.kind === 'account') return { contexts: [], clusters: [], users: [] }
  const { KubeConfig } = await import('@kubernetes/client-node')
  const config = new KubeConfig()
  readFiles(config, () => new KubeConfig(), found.paths)
  const names = (all: readonly { readonly name: string }[]): readonly string[] => all.map(({ name }) => name)
  return { contexts: names(config.getContexts()), clusters: names(config.getClusters()), users: names(config.getUsers()) }
}

/** Takes over OIDC: the library sends no client secret, and requests a token every time after the first refresh. */
function takeOidc(user: { authProvider?: User['authProvider'] } | null): OidcSettings | null {
  if (user?.authProvider?.name !== 'oidc') return null
  const settings = (user.authProvider.config ?? {}) as OidcSettings
  delete user.authProvider
  return settings
}

/** Takes over the plugin: the library lets it run without limit, keeps any output, and repeats that output in errors. */
function takeExec(user: { exec?: unknown } | null): ExecConfig | null {
  const exec = user?.exec as ExecConfig | undefined
  if (!exec?.command) return null
  delete user!.exec
  return exec
}

type Origin = { readonly kind: 'files'; readonly paths: readonly string[] } | { readonly kind: 'account' }

const ACCOUNT_TOKEN_PATH = '/var/run/secrets/kubernetes.io/serviceaccount/token'

function findOrigin({ path, env = process.env }: KubeConfigChoice): Origin {
  if (path !== undefined) return { kind: 'files', paths: [path] }
  const named = (env['KUBECONFIG'] ?? '').split(delimiter).filter((one) => one !== '')
  if (named.length > 0) return { kind: 'files', paths: named }
  const usual = join(env['HOME'] ?? homeOfUser(), '.kube', 'config')
  if (existsSync(usual)) return { kind: 'files', paths: [usual] }
  if (env['KUBERNETES_SERVICE_HOST'] && existsSync(ACCOUNT_TOKEN_PATH)) return { kind: 'account' }
  throw invalidKubeConfig(usual, `there is no kubeconfig: KUBECONFIG is not set, ${usual} does not exist, and this is not a pod`, {
    hint: 'Name a kubeconfig with --kubeconfig PATH or in the environment variable KUBECONFIG.',
  })
}

/** A user without an entry, as pods may run as, has no home; then the root folder is used, as in container runtimes. */
function homeOfUser(): string {
  try {
    return homedir()
  } catch {
    return '/'
  }
}

function nameOf(origin: Origin): string {
  return origin.kind === 'account' ? ACCOUNT_TOKEN_PATH : origin.paths.join(delimiter)
}

/**
 * Reads the files in order; earlier files win.
 *
 * @returns the file of each user, by name
 */
function readFiles(config: KubeConfig, create: () => KubeConfig, paths: readonly string[]): ReadonlyMap<string, string> {
  const fileOf = new Map<string, string>()
  for (const [index, path] of paths.entries()) {
    const part = index === 0 ? config : create()
    readFile(part, path)
    for (const { name } of part.getUsers()) fileOf.set(name, path)
    if (part !== config) merge(config, part, path)
  }
  return fileOf
}

function readFile(config: KubeConfig, path: string): void {
  try {
    readFileSync(path)
  } catch (error) {
    throw invalidKubeConfig(path, `kubeconfig ${path} cannot be read: ${messageOf(error)}`, {
      hint: 'Check that the file exists and that you may read it, or name another with --kubeconfig PATH.',
      cause: error,
    })
  }
  try {
    config.loadFromFile(path)
  } catch (error) {
    throw invalidKubeConfig(path, `kubeconfig ${path} is not valid: ${firstLine(messageOf(error))}`, {
      hint: `Fix it; kubectl config view --kubeconfig=${path} shows what is read.`,
      cause: error,
    })
  }
}

function merge(config: KubeConfig, part: KubeConfig, path: string): void {
  try {
    config.mergeConfig(part, Boolean(config.getCurrentContext()))
  } catch (error) {
    throw invalidKubeConfig(path, `kubeconfig ${path} conflicts with the files before it: ${messageOf(error)}`, {
      hint: 'Use different names for clusters, users and contexts in each file of KUBECONFIG.',
      cause: error,
    })
  }
}

function chooseContext(config: KubeConfig, wanted: string | undefined, origin: string): string {
  const context = wanted ?? config.getCurrentContext()
  const names = config.getContexts().map((one) => one.name)
  if (context && names.includes(context)) {
    config.setCurrentContext(context)
    return context
  }
  const problem = context ? `kubeconfig ${origin} has no context ${context}` : `kubeconfig ${origin} names no current context`
  throw invalidKubeConfig(origin, problem, {
    hint: names.length === 0 ? 'Add a context to it.' : `Choose one of its contexts with --context: ${names.join(', ')}.`,
  })
}

interface PartChoice {
  readonly part: 'cluster' | 'user'
  readonly wanted: string | undefined
  readonly origin: string
}

/** Replaces the cluster or the user of the selected context. */
function choosePart(config: KubeConfig, { part, wanted, origin }: PartChoice): void {
  if (wanted === undefined) return
  const names = (part === 'cluster' ? config.getClusters() : config.getUsers()).map(({ name }) => name)
  if (!names.includes(wanted))
    throw invalidKubeConfig(origin, `kubeconfig ${origin} has no ${part} ${wanted}`, {
      hint: names.length === 0 ? `Add a ${part} to it.` : `Choose one with --${part}: ${names.join(', ')}.`,
    })
  const chosen = config.getCurrentContext()
  config.contexts = config.contexts.map((one) => (one.name === chosen ? { ...one, [part]: wanted } : one))
}

function chooseTrust(config: KubeConfig, { certificateAuthority, skipTlsVerify }: KubeConfigChoice): void {
  const chosen = config.getCurrentCluster()?.name
  config.clusters = config.clusters.map((one) => {
    if (one.name !== chosen) return one
    const { caData: _, ...trusting } = one
    return {
      ...(certificateAuthority === undefined ? one : { ...trusting, caFile: certificateAuthority }),
      skipTLSVerify: skipTlsVerify === true || one.skipTLSVerify,
    }
  })
}

/** Rejects settings that would otherwise fail later with a less helpful message. */
function usableCluster(config: KubeConfig, context: string, origin: string): Cluster {
  const cluster = config.getCurrentCluster()
  if (!cluster?.server || !URL.canParse(cluster.server)) {
    throw invalidKubeConfig(origin, `kubeconfig ${origin}: the cluster of context ${context} has no usable server address`, {
      hint: 'Set clusters[].cluster.server to the address of the API server, as https://host:6443.',
    })
  }
  if (cluster.server.startsWith('http:') && !cluster.skipTLSVerify) {
    throw invalidKubeConfig(origin, `kubeconfig ${origin}: the server ${cluster.server} of context ${context} speaks plain HTTP`, {
      hint: 'Use its https address, or set clusters[].cluster.insecure-skip-tls-verify to true on a trusted network.',
    })
  }
  if (cluster.proxyUrl) {
    const problem = `the cluster of context ${context} is reached through the proxy ${cluster.proxyUrl}`
    throw invalidKubeConfig(origin, `kubeconfig ${origin}: ${problem}`, {
      hint: 'Remove clusters[].cluster.proxy-url; proxies are not supported.',
    })
  }
  return cluster
}

/** Keeps only the first line: the YAML parser quotes the text at which it fails, which may contain a token. */
function firstLine(text: string): string {
  return (text.split('\n', 1)[0] ?? '').replace(/[\s:]+$/, '')
}
