import type { Clock } from '@tranche/clock'
import { createCredentialSource } from './credential-source.ts'
import { prepareExecPlugin, withinPluginLimit } from './exec-plugin.ts'
import { createOidcSession, type OidcSession } from './oidc-session.ts'
import { type KubeConfigChoice, type ReadKubeConfig, readKubeConfig } from './read-kube-config.ts'
import type { ClusterAccess, Credentials } from './undici-exchange.ts'

/** Where to look for a cluster. */
export interface KubeConfigOptions extends KubeConfigChoice {
  readonly clock: Clock
}

/** A cluster that a kubeconfig names. */
export interface LoadedCluster extends ClusterAccess {
  /** Name of the context in use. */
  readonly context: string
  /** Namespace of the context. @default `default` */
  readonly namespace: string
}

/**
 * Reads a kubeconfig (bearer token, client certificate, exec plugin, OIDC) or the account of the pod we run in.
 *
 * Files that it names are read again every 10 s. When the server refuses us, or we no longer trust the server, all of
 * it is read anew; only the server's address stays as it was at first.
 *
 * @throws {AppError} KUBECONFIG_INVALID, with the path and what to do, when there is none, it cannot be read or parsed,
 * or it names no usable cluster or credentials
 */
export async function loadKubeConfig({ clock, ...choice }: KubeConfigOptions): Promise<LoadedCluster> {
  const session = createOidcSession(clock)
  let read = await readPrepared(choice)
  const { credentials, renew } = createCredentialSource({
    clock,
    read: () => readCredentials({ clock, session, read, renew: false }),
    async readAnew() {
      read = await readPrepared(choice)
      return readCredentials({ clock, session, read, renew: true })
    },
  })
  await credentials()
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
}

async function readPrepared(choice: KubeConfigChoice): Promise<ReadKubeConfig> {
  const read = await readKubeConfig(choice)
  prepareExecPlugin(read)
  return read
}

/** What reading credentials takes. */
interface CredentialRequest {
  readonly clock: Clock
  readonly session: OidcSession
  readonly read: ReadKubeConfig
  /** Whether the server refused what we had. */
  readonly renew: boolean
}

async function readCredentials({ clock, session, read, renew }: CredentialRequest): Promise<Credentials> {
  const found: FoundOptions = { headers: {} }
  await withinPluginLimit(clock, read, read.config.applyToHTTPSOptions(found))
  const login = read.oidc === null ? null : await session.token(read, renew)
  const basic = found.auth ? { authorization: `Basic ${Buffer.from(found.auth).toString('base64')}` } : {}
  const bearer = login === null ? {} : { authorization: `Bearer ${login}` }
  const headers = Object.entries(found.headers).map(([name, value]) => [name.toLowerCase(), String(value).trim()])
  return {
    ca: pemOf(found.ca),
    cert: pemOf(found.cert),
    key: pemOf(found.key),
    headers: { ...basic, ...bearer, ...Object.fromEntries(headers) },
  }
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
