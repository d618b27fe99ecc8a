import { AppError } from '@tranche/errors'
import type { Impersonation } from '@tranche/kube-client'
import type { CommandIo } from '../process/command-io.ts'
import { invalid, misplaced, parseWhole } from './option-values.ts'
import { parseDurationOption } from './duration-option.ts'
import { parseNamespace } from './namespace-options.ts'
import { pathOf, textOf, type Values } from './value-of.ts'

/** Source, scope and request timeout of a command. */
export interface AccessOptions {
  readonly source: ClusterSource | ServerSource
  /** Value of `-n`; undefined: the namespace of the context, or all. `-A` wins over `-n`, as in kubectl. */
  readonly namespace: string | undefined
  readonly allNamespaces: boolean
  /** Label selector in the syntax of the API server. */
  readonly selector: string | undefined
  /** Timeout of one request, in milliseconds. */
  readonly requestTimeoutMs: number
}

/** A cluster that is reached by kubeconfig. */
export interface ClusterSource {
  readonly kind: 'cluster'
  readonly kubeconfig: string | undefined
  readonly context: string | undefined
  /** Overrides that of the context. */
  readonly cluster: string | undefined
  /** Overrides that of the context. */
  readonly user: string | undefined
  readonly certificateAuthority: string | undefined
  readonly skipTlsVerify: boolean
  readonly impersonate: Impersonation | undefined
  /** Level of `-v`; from 6, requests are printed to standard error. @default 0 */
  readonly verbosity?: number
}

/** The Tranche REST API. */
export interface ServerSource {
  readonly kind: 'server'
  readonly url: string
  readonly token: string | undefined
  readonly tokenFile: string | undefined
}

/** Format and colours of the output. */
export interface OutputOptions {
  readonly format: OutputFormat
  readonly colors: boolean
}

const formats = ['json', 'yaml', 'name', 'wide'] as const
/** `text` if `-o` is not given. */
export type OutputFormat = (typeof formats)[number] | 'text'

const DEFAULT_REQUEST_TIMEOUT_MS = 15_000
const LONGEST_REQUEST_TIMEOUT_MS = 3_600_000

/** @throws {AppError} OPTION_INVALID */
export function toAccessOptions(values: Values, env: CommandIo['env']): AccessOptions {
  const namespace = textOf(values, 'namespace')
  if (namespace !== undefined) parseNamespace('--namespace', namespace)
  const allNamespaces = values['allNamespaces'] === true
  const source = toSource(values, env)
  return {
    source,
    namespace: allNamespaces ? undefined : namespace,
    allNamespaces,
    selector: toSelector(values, source),
    requestTimeoutMs: toRequestTimeoutMs(textOf(values, 'requestTimeout')),
  }
}

/** @throws {AppError} OPTION_INVALID when the command has no such format */
export function toOutputOptions(values: Values, allowed: readonly OutputFormat[]): OutputOptions {
  const asked = textOf(values, 'output')
  const format = asked === undefined ? 'text' : formats.find((one) => one === asked)
  if (format === undefined || (asked !== undefined && !allowed.includes(format)))
    throw invalid('--output', asked ?? '', `give ${allowed.filter((one) => one !== 'text').join(', ')}, or leave it out`)
  return { format, colors: values['color'] !== false }
}

function toSelector(values: Values, { kind }: AccessOptions['source']): string | undefined {
  const selector = textOf(values, 'selector')
  if (selector === undefined) return undefined
  if (selector.trim() === '') throw invalid('--selector', selector, 'give labels as in kubectl, such as team=storage,tier!=edge')
  if (kind === 'cluster') return selector
  throw misplaced('--selector', 'is not supported by the REST API', 'leave it out, or leave --server out (unset TRANCHE_SERVER)')
}

function toSource(values: Values, env: CommandIo['env']): AccessOptions['source'] {
  if (values['token'] !== undefined)
    throw misplaced(
      '--token',
      'shows the token to every user of this machine in the process list',
      'revoke it, and pass the next one with --token-file PATH or in TRANCHE_TOKEN',
    )
  const ofCluster = clusterOptions.find((option) => values[option] !== undefined)
  const asked = textOf(values, 'server')
  const url = asked ?? (ofCluster === undefined ? env['TRANCHE_SERVER'] || undefined : undefined)
  if (url === undefined) {
    for (const option of ['tokenFile', 'allowHttp'])
      if (values[option] !== undefined)
        throw misplaced(`--${dashed(option)}`, 'requires --server', 'add --server URL: without it the credentials come from the kubeconfig')
    return toClusterSource(values)
  }
  if (ofCluster !== undefined) throw misplaced(`--${dashed(ofCluster)}`, 'cannot be combined with --server', fixBesideServer(ofCluster))
  checkUrl(url)
  const token = env['TRANCHE_TOKEN'] || undefined
  const tokenFile = pathOf(values, 'tokenFile', '--token-file')
  const mayBeHeard = values['allowHttp'] === true || env['TRANCHE_ALLOW_HTTP'] === 'true'
  if ((token ?? tokenFile) !== undefined && !mayBeHeard) checkUnheard(url)
  return { kind: 'server', url, token, tokenFile }
}

/** Options that select a cluster instead of the REST API. */
const clusterOptions = [
  'kubeconfig',
  'context',
  'cluster',
  'user',
  'as',
  'asGroup',
  'asUid',
  'certificateAuthority',
  'insecureSkipTlsVerify',
] as const

function fixBesideServer(option: (typeof clusterOptions)[number]): string {
  if (option.startsWith('as')) return 'leave it out: for the REST API, the token identifies the user'
  if (option === 'certificateAuthority') return 'name the file in NODE_EXTRA_CA_CERTS for the REST API'
  if (option === 'insecureSkipTlsVerify') return 'name the certificate in NODE_EXTRA_CA_CERTS for the REST API'
  return 'leave one of them out: use either a cluster, by kubeconfig, or the Tranche REST API, by --server'
}

function toClusterSource(values: Values): ClusterSource {
  const certificateAuthority = pathOf(values, 'certificateAuthority', '--certificate-authority')
  const skipTlsVerify = values['insecureSkipTlsVerify'] === true
  // The parser leaves the sign of -v=6 in the value.
  const level = textOf(values, 'v')?.replace(/^=/, '')
  if (certificateAuthority !== undefined && skipTlsVerify)
    throw misplaced('--insecure-skip-tls-verify', 'cannot be combined with --certificate-authority', 'leave one of them out')
  return {
    kind: 'cluster',
    kubeconfig: pathOf(values, 'kubeconfig', '--kubeconfig'),
    context: nameOf(values, 'context'),
    cluster: nameOf(values, 'cluster'),
    user: nameOf(values, 'user'),
    certificateAuthority,
    skipTlsVerify,
    impersonate: toImpersonation(values),
    ...(level !== undefined && { verbosity: parseWhole('--v', level, { min: 0, max: 10 }) }),
  }
}

function toImpersonation(values: Values): Impersonation | undefined {
  const user = nameOf(values, 'as')
  const uid = nameOf(values, 'asUid')
  const groups = Array.isArray(values['asGroup']) ? values['asGroup'].map(String) : []
  if (user !== undefined) return { user, groups, uid }
  if (uid === undefined && groups.length === 0) return undefined
  throw misplaced(uid === undefined ? '--as-group' : '--as-uid', 'requires --as', 'add --as USER')
}

function checkUrl(url: string): void {
  const parsed = URL.canParse(url) ? new URL(url) : null
  if (parsed === null || !['http:', 'https:'].includes(parsed.protocol))
    throw invalid('--server', url, 'give the address of the REST API, such as https://tranche.example')
  if (parsed.username !== '' || parsed.password !== '')
    throw new AppError('OPTION_INVALID', '--server carries credentials', { hint: 'Pass a token with --token-file or TRANCHE_TOKEN.' })
}

/** Refuses plain HTTP to another machine: anyone on the network path could read the token and use it. */
function checkUnheard(url: string): void {
  const { protocol, hostname } = new URL(url)
  if (protocol === 'https:' || /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)) return
  throw misplaced(
    '--server',
    `is plain HTTP to ${hostname}, so anyone on the network path can read your token`,
    'give its https address; or add --allow-http (TRANCHE_ALLOW_HTTP=true) on a trusted network',
  )
}

function toRequestTimeoutMs(value: string | undefined): number {
  if (value === undefined) return DEFAULT_REQUEST_TIMEOUT_MS
  const ms = parseDurationOption('--request-timeout', value)
  return ms === 0 ? LONGEST_REQUEST_TIMEOUT_MS : Math.min(ms, LONGEST_REQUEST_TIMEOUT_MS)
}

function nameOf(values: Values, name: string): string | undefined {
  const value = textOf(values, name)
  if (value === '') throw invalid(`--${dashed(name)}`, value, 'give a name, or leave it out')
  return value
}

function dashed(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}
