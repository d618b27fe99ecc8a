import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { Cluster, KubeConfig } from '@kubernetes/client-node'
import type { Clock } from '@tranche/clock'
import { AppError } from '@tranche/errors'
import type { ClusterAccess, Credentials } from './undici-exchange.ts'

/** Where to look for a cluster. */
export interface KubeConfigOptions {
  readonly clock: Clock
  /** A kubeconfig file. @default the files of `KUBECONFIG`, else `~/.kube/config`, else the account of the pod we run in */
  readonly path?: string | undefined
  /** Name of a context in it. @default its current context */
  readonly context?: string | undefined
  /** @default the environment of this process */
  readonly env?: Readonly<Record<string, string | undefined>>
}

/** A cluster that a kubeconfig names. */
export interface LoadedCluster extends ClusterAccess {
  /** Name of the context in use. */
  readonly context: string
  /** Namespace of the context. @default `default` */
  readonly namespace: string
}

/** Tokens and certificates are looked at again after this long, in milliseconds: they rotate while we run. */
const LOOK_AGAIN_MS = 10_000

/**
 * Reads a kubeconfig (bearer token, client certificate, exec plugin, OIDC) or the account of the pod we run in.
 * The library that understands all of these is loaded here, by those who need it: it is large.
 *
 * @throws {AppError} KUBECONFIG_INVALID, with the path and what to do, when there is none, it cannot be read or parsed,
 * or it names no usable cluster or
 * credentials
 */
export async function loadKubeConfig(options: KubeConfigOptions): Promise<LoadedCluster> {
  const origin = findOrigin(options)
  const { KubeConfig } = await import('@kubernetes/client-node')
  const config = new KubeConfig()
  if (origin.kind === 'account') config.loadFromCluster()
  else readFiles(config, () => new KubeConfig(), origin.paths)
  const cluster = toCluster(config, chooseContext(config, options.context, nameOf(origin)), nameOf(origin), options.clock)
  await cluster.credentials()
  return cluster
}

type Origin = { readonly kind: 'files'; readonly paths: readonly string[] } | { readonly kind: 'account' }

const ACCOUNT_TOKEN_PATH = '/var/run/secrets/kubernetes.io/serviceaccount/token'

function findOrigin(options: KubeConfigOptions): Origin {
  const env = options.env ?? process.env
  if (options.path !== undefined) return { kind: 'files', paths: [options.path] }
  const named = (env['KUBECONFIG'] ?? '').split(delimiter).filter((path) => path !== '')
  if (named.length > 0) return { kind: 'files', paths: named }
  const usual = join(env['HOME'] ?? homedir(), '.kube', 'config')
  if (existsSync(usual)) return { kind: 'files', paths: [usual] }
  if (env['KUBERNETES_SERVICE_HOST'] && existsSync(ACCOUNT_TOKEN_PATH)) return { kind: 'account' }
  throw invalid(usual, `there is no kubeconfig: KUBECONFIG is not set, ${usual} does not exist, and this is not a pod`, {
    hint: 'Name a kubeconfig with --kubeconfig PATH or in the environment variable KUBECONFIG.',
  })
}

function nameOf(origin: Origin): string {
  return origin.kind === 'account' ? ACCOUNT_TOKEN_PATH : origin.paths.join(delimiter)
}

/** Reads the files in order; what an earlier one names wins. */
function readFiles(config: KubeConfig, create: () => KubeConfig, paths: readonly string[]): void {
  for (const [index, path] of paths.entries()) {
    const part = index === 0 ? config : create()
    readFile(part, path)
    if (part !== config) merge(config, part, path)
  }
}

function readFile(config: KubeConfig, path: string): void {
  try {
    readFileSync(path)
  } catch (error) {
    throw invalid(path, `kubeconfig ${path} cannot be read: ${messageOf(error)}`, {
      hint: 'Check that the file exists and that you may read it, or name another with --kubeconfig PATH.',
      cause: error,
    })
  }
  try {
    config.loadFromFile(path)
  } catch (error) {
    throw invalid(path, `kubeconfig ${path} is not valid: ${firstLine(messageOf(error))}`, {
      hint: `Repair it; kubectl config view --kubeconfig=${path} shows what is read.`,
      cause: error,
    })
  }
}

function merge(config: KubeConfig, part: KubeConfig, path: string): void {
  try {
    config.mergeConfig(part, Boolean(config.getCurrentContext()))
  } catch (error) {
    throw invalid(path, `kubeconfig ${path} does not go with the files before it: ${messageOf(error)}`, {
      hint: 'Name clusters, users and contexts differently in each file of KUBECONFIG.',
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
  throw invalid(origin, context ? `kubeconfig ${origin} has no context ${context}` : `kubeconfig ${origin} names no current context`, {
    hint: names.length === 0 ? 'Add a context to it.' : `Choose one of its contexts with --context: ${names.join(', ')}.`,
  })
}

function toCluster(config: KubeConfig, context: string, origin: string, clock: Clock): LoadedCluster {
  const cluster = config.getCurrentCluster()
  if (!cluster?.server || !URL.canParse(cluster.server)) {
    throw invalid(origin, `kubeconfig ${origin}: the cluster of context ${context} has no usable server address`, {
      hint: 'Set clusters[].cluster.server to the address of the API server, as https://host:6443.',
    })
  }
  refuseUnsupported(cluster, context, origin)
  return {
    context,
    namespace: config.getContextObject(context)?.namespace ?? 'default',
    server: cluster.server,
    serverName: cluster.tlsServerName,
    skipTlsVerify: cluster.skipTLSVerify === true,
    credentials: remember(clock, () => readCredentials(config, origin)),
  }
}

/** What would otherwise fail later, with words that say less. */
function refuseUnsupported(cluster: Cluster, context: string, origin: string): void {
  if (cluster.server.startsWith('http:') && !cluster.skipTLSVerify) {
    throw invalid(origin, `kubeconfig ${origin}: the server ${cluster.server} of context ${context} speaks plain HTTP`, {
      hint: 'Use its https address, or set clusters[].cluster.insecure-skip-tls-verify to true where nobody listens.',
    })
  }
  if (cluster.proxyUrl) {
    throw invalid(origin, `kubeconfig ${origin}: the cluster of context ${context} is reached through the proxy ${cluster.proxyUrl}`, {
      hint: 'Remove clusters[].cluster.proxy-url; proxies are not supported.',
    })
  }
}

async function readCredentials(config: KubeConfig, origin: string): Promise<Credentials> {
  const found: FoundOptions = { headers: {} }
  try {
    await config.applyToHTTPSOptions(found)
  } catch (error) {
    throw invalid(origin, `kubeconfig ${origin}: the credentials cannot be read: ${messageOf(error)}`, {
      hint: 'Check the certificate files, the token file and the exec command that it names.',
      cause: error,
    })
  }
  const basic = found.auth ? { authorization: `Basic ${Buffer.from(found.auth).toString('base64')}` } : {}
  const headers = Object.entries(found.headers).map(([name, value]) => [name.toLowerCase(), String(value)])
  return { ca: pemOf(found.ca), cert: pemOf(found.cert), key: pemOf(found.key), headers: { ...basic, ...Object.fromEntries(headers) } }
}

/** What the library fills in. */
interface FoundOptions {
  readonly headers: Record<string, string>
  readonly ca?: string | Buffer
  readonly cert?: string | Buffer
  readonly key?: string | Buffer
  readonly auth?: string
}

function pemOf(value: string | Buffer | undefined): string | undefined {
  return value === undefined ? undefined : value.toString()
}

/** Asks again only after {@link LOOK_AGAIN_MS}; those who ask meanwhile share one answer. A failure is not remembered. */
function remember<T>(clock: Clock, read: () => Promise<T>): () => Promise<T> {
  let last: { readonly atMs: number; readonly answer: Promise<T> } | undefined
  return () => {
    const nowMs = clock.monotonicMs()
    if (last !== undefined && nowMs - last.atMs < LOOK_AGAIN_MS) return last.answer
    const answer = read()
    const asked = { atMs: nowMs, answer }
    last = asked
    answer.catch(() => {
      if (last === asked) last = undefined
    })
    return answer
  }
}

function invalid(path: string, message: string, rest: { readonly hint: string; readonly cause?: unknown }): AppError {
  return new AppError('KUBECONFIG_INVALID', message, { details: { path }, ...rest })
}

/** The parser of YAML repeats the text it fails at, which may hold a token. */
function firstLine(text: string): string {
  return (text.split('\n', 1)[0] ?? '').replace(/[\s:]+$/, '')
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
