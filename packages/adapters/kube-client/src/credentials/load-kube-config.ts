import type { Clock } from '@tranche/clock'
import { createCredentialSource } from './credential-source.ts'
import { checkExecPlugin } from './exec-plugin.ts'
import { createExecSession, type ExecSession } from './exec-session.ts'
import { type Impersonation, impersonationHeaders } from './impersonation.ts'
import { invalidKubeConfig, messageOf, passing } from './kube-config-error.ts'
import { createOidcSession, type OidcSession } from './oidc-session.ts'
import { type KubeConfigChoice, type ReadKubeConfig, readKubeConfig } from './read-kube-config.ts'
import type { ClusterAccess, Credentials } from '../exchange/undici-exchange.ts'

/** Options of {@link loadKubeConfig}. */
export interface KubeConfigOptions extends KubeConfigChoice {
  readonly clock: Clock
  /** User to act as. @default the user of the kubeconfig, or the one that it impersonates; also for groups and uid that are not given */
  readonly impersonate?: Impersonation | undefined
}

/** Cluster from a kubeconfig. */
export interface LoadedCluster extends ClusterAccess {
  /** Name of the context in use. */
  readonly context: string
  /** Namespace of the context. @default `default` */
  readonly namespace: string
}

/**
 * Loads a kubeconfig (bearer token, client certificate, exec plugin, OIDC) or the service account of the pod.
 *
 * Files that it names are reread every 10 s. If the server rejects the credentials, or the server's certificate is no longer trusted,
 * everything is reread. Only the server's address stays the same.
 *
 * If a file can no longer be read or a plugin fails, requests reject with CREDENTIALS_UNAVAILABLE until it works again.
 *
 * @throws {AppError} KUBECONFIG_INVALID, with the path and the fix, if there is none, it cannot be read or parsed, or it names no usable
 * cluster or credentials
 */
export async function loadKubeConfig({ clock, impersonate, ...choice }: KubeConfigOptions): Promise<LoadedCluster> {
  const sessions = { oidc: createOidcSession(clock), exec: createExecSession(clock) }
  let read = await readPrepared(choice)
  let isFirst = true
  const { credentials, renew } = createCredentialSource({
    clock,
    read: () => readCredentials({ sessions, read, impersonate, renew: false }).catch((error: unknown) => fail(error)),
    reload: () => reload().catch((error: unknown) => fail(error)),
  })
  await credentials()
  isFirst = false
  const { context, namespace, cluster } = read
  return {
    context,
    namespace,
    server: cluster.server,
    serverName: cluster.tlsServerName,
    skipTlsVerify: cluster.skipTLSVerify === true,
    credentials,
    renew,
  }

  function fail(error: unknown): never {
    if (isFirst) throw error
    throw passing(error)
  }

  async function reload(): Promise<Credentials> {
    read = await readPrepared(choice)
    return readCredentials({ sessions, read, impersonate, renew: true })
  }
}

async function readPrepared(choice: KubeConfigChoice): Promise<ReadKubeConfig> {
  const read = await readKubeConfig(choice)
  checkExecPlugin(read)
  return read
}

/** Parameters of a credential read. */
interface CredentialRequest {
  readonly sessions: { readonly oidc: OidcSession; readonly exec: ExecSession }
  readonly read: ReadKubeConfig
  readonly impersonate: Impersonation | undefined
  /** Whether the server rejected the previous credentials. */
  readonly renew: boolean
}

async function readCredentials({ sessions, read, impersonate, renew }: CredentialRequest): Promise<Credentials> {
  const found: FoundOptions = { headers: {} }
  await read.config.applyToHTTPSOptions(found).catch((error: unknown) => {
    throw unreadable(read, error)
  })
  const login = read.oidc === null ? undefined : await sessions.oidc.token(read, renew)
  const plugin = read.exec === null ? null : await sessions.exec.credentials(read, read.exec, renew)
  const token = plugin?.token ?? login
  const basic = found.auth ? { authorization: `Basic ${Buffer.from(found.auth).toString('base64')}` } : {}
  const bearer = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const headers = Object.entries(found.headers).map(([name, value]) => [name.toLowerCase(), String(value).trim()])
  const acting = impersonationOf(read, impersonate)
  return {
    ca: pemOf(found.ca),
    cert: plugin?.cert ?? pemOf(found.cert),
    key: plugin?.key ?? pemOf(found.key),
    headers: { ...basic, ...bearer, ...Object.fromEntries(headers), ...(acting !== undefined && impersonationHeaders(acting)) },
  }
}

/** As kubectl does it: each part that is not given is that of the kubeconfig. */
function impersonationOf({ user, impersonated }: ReadKubeConfig, given: Impersonation | undefined): Impersonation | undefined {
  const name = given?.user ?? user?.impersonateUser
  if (!name) return undefined
  const groups = given === undefined || given.groups.length === 0 ? impersonated.groups : given.groups
  return { ...impersonated, user: name.trim(), groups, uid: given?.uid ?? impersonated.uid }
}

function unreadable({ origin }: ReadKubeConfig, error: unknown): Error {
  return invalidKubeConfig(origin, `kubeconfig ${origin}: the credentials cannot be read: ${messageOf(error)}`, {
    hint: 'Check the certificate files and the token file that it names.',
    cause: error,
  })
}

/** Fields that the library fills in. */
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
