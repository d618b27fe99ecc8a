import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { isAbsolute, resolve } from 'node:path'
import { type Clock, sleep } from '@tranche/clock'
import { parseTime, clipText } from '@tranche/kube-types'
import { findProgram } from './find-program.ts'
import { invalidKubeConfig } from './kube-config-error.ts'
import type { ReadKubeConfig } from './read-kube-config.ts'

/** Supported fields of `users[].user.exec`. @see client.authentication.k8s.io/v1 */
export interface ExecConfig {
  readonly apiVersion?: string
  readonly command: string
  readonly args?: readonly string[] | null
  readonly env?: readonly { readonly name: string; readonly value: string }[] | null
  readonly installHint?: string
  readonly interactiveMode?: string
  readonly provideClusterInfo?: boolean
}

/** Output of an exec plugin: a token, or a certificate with its key (PEM), or both. */
export interface PluginCredentials {
  readonly token: string | undefined
  readonly cert: string | undefined
  readonly key: string | undefined
  /** Expiry, in epoch milliseconds; Infinity if the plugin does not report one. */
  readonly endsAtMs: number
}

/** Time limit of a plugin, in milliseconds: it may call a service over the network, and no person answers its prompts. */
const PLUGIN_LIMIT_MS = 60_000
/** Maximum output in bytes, far above the size of a certificate chain. */
const MOST_OUTPUT = 4 * 1024 * 1024
/** Maximum length of a plugin's error output in messages, in characters. */
const LONGEST_COMPLAINT = 500

/**
 * Rejects a plugin that cannot work without a person, before anything runs.
 *
 * @throws {AppError} KUBECONFIG_INVALID
 */
export function checkExecPlugin({ exec, origin }: ReadKubeConfig): void {
  if (exec?.interactiveMode !== 'Always') return
  throw invalidKubeConfig(origin, `kubeconfig ${origin}: the plugin ${exec.command} needs a terminal (interactiveMode: Always)`, {
    hint: 'Use a user whose credentials need no person: a token, a certificate, or a plugin with interactiveMode Never.',
  })
}

/**
 * Runs a plugin once and reads its output. A plugin that runs longer than a minute is killed.
 *
 * @throws {AppError} KUBECONFIG_INVALID if it fails or prints no credentials; the message omits its output, which may contain a token
 */
export async function runExecPlugin(clock: Clock, read: ReadKubeConfig, exec: ExecConfig): Promise<PluginCredentials> {
  const over = new AbortController()
  const ended = new AbortController()
  const limit = sleep(clock, PLUGIN_LIMIT_MS, ended.signal).then(
    () => over.abort(),
    () => {},
  )
  try {
    return credentialsOf(await outputOf(read, exec, over.signal))
  } catch (error) {
    const problem = over.signal.aborted ? `${exec.command} did not end within ${PLUGIN_LIMIT_MS / 1000} s` : (error as Error).message
    throw invalidKubeConfig(
      read.origin,
      `kubeconfig ${read.origin}: the credentials cannot be read: the plugin ${exec.command} failed: ${problem}`,
      { hint: exec.installHint?.trim() || 'Run its exec plugin by hand to see the error.' },
    )
  } finally {
    ended.abort()
    await limit
  }
}

async function outputOf(read: ReadKubeConfig, exec: ExecConfig, signal: AbortSignal): Promise<string> {
  const path = pathOf(read, exec)
  const options = { env: environmentOf(read, exec), signal, killSignal: 'SIGKILL', maxBuffer: MOST_OUTPUT } as const
  return new Promise((resolve, reject) => {
    execFile(path, exec.args ?? [], options, (error, stdout, stderr) => {
      if (error === null) return resolve(stdout)
      // The library's error contains the arguments, which may be secret.
      const status = typeof error.code === 'number' ? `exit code ${error.code}` : (error.signal ?? `${error.message}`)
      reject(new Error([status, clipText(stderr.trim(), LONGEST_COMPLAINT)].filter((text) => text !== '').join(': ')))
    })
  })
}

/** A relative path is relative to the kubeconfig. On Windows the system finds programs, because they have extensions there. */
function pathOf(read: ReadKubeConfig, { command }: ExecConfig): string {
  if (isAbsolute(command)) return command
  if (command.includes('/')) return resolve(read.folder, command)
  return process.platform === 'win32' ? command : findProgram(command, process.env['PATH'] ?? '')
}

function environmentOf(read: ReadKubeConfig, exec: ExecConfig): NodeJS.ProcessEnv {
  const own = Object.fromEntries((exec.env ?? []).map(({ name, value }) => [name, value]))
  const info = { apiVersion: exec.apiVersion, kind: 'ExecCredential', spec: { interactive: false, ...clusterInfo(read, exec) } }
  return { ...process.env, ...own, KUBERNETES_EXEC_INFO: JSON.stringify(info) }
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

/** Rejects output without a token or certificate: the server might treat the process as anonymous and forbid everything. */
function credentialsOf(output: string): PluginCredentials {
  const status = (parseJson(output) as { readonly status?: Readonly<Record<string, unknown>> | null } | null)?.status
  const [token, cert, key, ends] = (['token', 'clientCertificateData', 'clientKeyData', 'expirationTimestamp'] as const).map((field) =>
    textOf(status?.[field]),
  )
  if (token === undefined && (cert === undefined || key === undefined))
    throw new Error('it printed no ExecCredential with status.token, or with status.clientCertificateData and clientKeyData')
  const endsAtMs = ends === undefined ? Infinity : parseTime(ends)
  if (endsAtMs === null) throw new Error('its status.expirationTimestamp is not a time')
  return { token, cert, key, endsAtMs }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error('it printed something that is not JSON')
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined
}
