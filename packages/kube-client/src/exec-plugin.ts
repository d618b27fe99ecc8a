import { readFileSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { type Clock, sleep } from '@tranche/clock'
import { invalidKubeConfig, messageOf } from './kube-config-error.ts'
import type { ReadKubeConfig } from './read-kube-config.ts'

/** The fields of `users[].user.exec` that we look at. @see client.authentication.k8s.io/v1 */
interface ExecConfig {
  readonly apiVersion?: string
  command: string
  env?: { readonly name: string; readonly value: string }[] | null
  readonly installHint?: string
  readonly interactiveMode?: string
  readonly provideClusterInfo?: boolean
}

/** How long a plugin may take: it may ask a service over the network, and nobody answers questions of it. */
const PLUGIN_LIMIT_MS = 60_000

/**
 * Gives the exec plugin of a kubeconfig what the library leaves out: `KUBERNETES_EXEC_INFO` (with the cluster, where the
 * plugin wants to know it), and a command beside the kubeconfig by its full path.
 *
 * @throws {AppError} KUBECONFIG_INVALID for a plugin that wants to talk to a person
 */
export function prepareExecPlugin(read: ReadKubeConfig): void {
  const exec = execOf(read)
  if (exec === null) return
  if (exec.interactiveMode === 'Always') {
    throw invalidKubeConfig(
      read.origin,
      `kubeconfig ${read.origin}: the plugin ${exec.command} needs a terminal (interactiveMode: Always)`,
      {
        hint: 'Use a user whose credentials can be had without a person: a token, a certificate, or a plugin with interactiveMode Never.',
      },
    )
  }
  const info = { apiVersion: exec.apiVersion, kind: 'ExecCredential', spec: { interactive: false, ...clusterInfo(read, exec) } }
  exec.env = [...(exec.env ?? []), { name: 'KUBERNETES_EXEC_INFO', value: JSON.stringify(info) }]
  if (!isAbsolute(exec.command) && exec.command.includes('/')) exec.command = join(read.folder, exec.command)
}

/**
 * Waits for the credentials, but no longer than a plugin may take.
 *
 * @throws {AppError} KUBECONFIG_INVALID when they cannot be had
 */
export async function withinPluginLimit<T>(clock: Clock, read: ReadKubeConfig, asking: Promise<T>): Promise<T> {
  const exec = execOf(read)
  const over = new AbortController()
  try {
    return await (exec === null ? asking : Promise.race([asking, timeOut(clock, exec.command, over.signal)]))
  } catch (error) {
    const problem = exec === null ? messageOf(error) : `the plugin ${exec.command} failed: ${messageOf(error).trim()}`
    throw invalidKubeConfig(read.origin, `kubeconfig ${read.origin}: the credentials cannot be read: ${problem}`, {
      hint: exec?.installHint?.trim() || 'Check the certificate files, the token file and the exec command that it names.',
      cause: error,
    })
  } finally {
    over.abort()
  }
}

function execOf({ user }: ReadKubeConfig): ExecConfig | null {
  const exec = user?.exec as ExecConfig | undefined
  return exec?.command ? exec : null
}

function clusterInfo({ cluster }: ReadKubeConfig, exec: ExecConfig): object {
  if (exec.provideClusterInfo !== true) return {}
  const authority = cluster.caFile === undefined ? cluster.caData : readFileSync(cluster.caFile).toString('base64')
  return {
    cluster: {
      server: cluster.server,
      ...(cluster.tlsServerName !== undefined && { 'tls-server-name': cluster.tlsServerName }),
      ...(cluster.skipTLSVerify && { 'insecure-skip-tls-verify': true }),
      ...(authority !== undefined && { 'certificate-authority-data': authority }),
    },
  }
}

async function timeOut(clock: Clock, command: string, signal: AbortSignal): Promise<never> {
  await sleep(clock, PLUGIN_LIMIT_MS, signal)
  throw new Error(`${command} has not ended after ${PLUGIN_LIMIT_MS / 1000} s`)
}
