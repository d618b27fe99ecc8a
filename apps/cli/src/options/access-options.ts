import { AppError } from '@tranche/errors'
import type { Impersonation } from '@tranche/kube-client'
import type { CommandIo } from '../command-io.ts'
import { invalid, misplaced, parseWhole } from '../option-values.ts'
import { parseDuration } from './duration-option.ts'

/** As the parser hands options over: strings, booleans, lists, or nothing. */
export type Values = Readonly<Record<string, unknown>>

/** Where a command looks for Rollouts, and how long it waits for one answer. */
export interface AccessOptions {
  readonly source: ClusterSource | ServerSource
  /** As `-n` says; undefined: that of the context, or all of them. As with kubectl, `-A` wins over `-n`. */
  readonly namespace: string | undefined
  readonly allNamespaces: boolean
  /** Only Rollouts with these labels, as the API server reads it. */
  readonly selector: string | undefined
  /** For one request, in milliseconds. */
  readonly requestTimeoutMs: number
}

/** A cluster, by kubeconfig. */
export interface ClusterSource {
  readonly kind: 'cluster'
  readonly kubeconfig: string | undefined
  readonly context: string | undefined
  /** In place of that of the context. */
  readonly cluster: string | undefined
  /** In place of that of the context. */
  readonly user: string | undefined
  readonly certificateAuthority: string | undefined
  readonly skipTlsVerify: boolean
  readonly impersonate: Impersonation | undefined
  /** Level of `-v`; from 6 on requests are said on standard error. @default 0 */
  readonly verbosity?: number
}

/** Our REST API. */
export interface ServerSource {
  readonly kind: 'server'
  readonly url: string
  readonly token: string | undefined
  readonly tokenFile: string | undefined
}

/** How text is put out. */
export interface OutputOptions {
  readonly format: OutputFormat
  readonly colors: boolean
}

const formats = ['json', 'yaml', 'name', 'wide'] as const
/** `text` where none is asked for. */
export type OutputFormat = (typeof formats)[number] | 'text'

const DEFAULT_REQUEST_TIMEOUT_MS = 15_000
const LONGEST_REQUEST_TIMEOUT_MS = 3_600_000
const NAMESPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/

/** @throws {AppError} OPTION_INVALID */
export function toAccessOptions(values: Values, env: CommandIo['env']): AccessOptions {
  const namespace = textOf(values, 'namespace')
  if (namespace !== undefined && !NAMESPACE.test(namespace)) throw invalid('--namespace', namespace, 'give the name of a namespace')
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

/** @returns the text of an option; undefined where it is not given */
export function textOf(values: Values, name: string): string | undefined {
  const value = values[name]
  return typeof value === 'string' ? value : undefined
}

function toSelector(values: Values, { kind }: AccessOptions['source']): string | undefined {
  const selector = textOf(values, 'selector')
  if (selector === undefined) return undefined
  if (selector.trim() === '') throw invalid('--selector', selector, 'give labels as to kubectl, such as team=storage,tier!=edge')
  if (kind === 'cluster') return selector
  throw misplaced(
    '--selector',
    'stands beside a REST API, which knows no labels',
    'leave it out, or leave --server out (unset TRANCHE_SERVER)',
  )
}

function toSource(values: Values, env: CommandIo['env']): AccessOptions['source'] {
  if (values['token'] !== undefined)
    throw misplaced(
      '--token',
      'holds a token that every user of this machine can read in the list of processes',
      'revoke it; give the next one with --token-file PATH or in TRANCHE_TOKEN',
    )
  const ofCluster = clusterOptions.find((option) => values[option] !== undefined)
  const asked = textOf(values, 'server')
  const url = asked ?? (ofCluster === undefined ? env['TRANCHE_SERVER'] || undefined : undefined)
  if (url === undefined) {
    for (const option of ['tokenFile', 'allowHttp'])
      if (values[option] !== undefined)
        throw misplaced(`--${dashed(option)}`, 'stands without --server', 'add --server URL: with a kubeconfig, that says who you are')
    return toClusterSource(values)
  }
  if (ofCluster !== undefined) throw misplaced(`--${dashed(ofCluster)}`, 'stands beside --server', fixBesideServer(ofCluster))
  checkUrl(url)
  const token = env['TRANCHE_TOKEN'] || undefined
  const tokenFile = pathOf(values, 'tokenFile')
  const mayBeHeard = values['allowHttp'] === true || env['TRANCHE_ALLOW_HTTP'] === 'true'
  if ((token ?? tokenFile) !== undefined && !mayBeHeard) checkUnheard(url)
  return { kind: 'server', url, token, tokenFile }
}

/** With one of them a cluster is asked. */
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
  if (option.startsWith('as')) return 'leave it out: who you are to the REST API, its token says'
  if (option === 'certificateAuthority') return 'name the file in NODE_EXTRA_CA_CERTS for the REST API'
  if (option === 'insecureSkipTlsVerify') return 'name the certificate in NODE_EXTRA_CA_CERTS for the REST API'
  return 'leave one of them out: either a cluster is asked, with a kubeconfig, or the REST API of Tranche, with --server'
}

function toClusterSource(values: Values): ClusterSource {
  const certificateAuthority = pathOf(values, 'certificateAuthority')
  const skipTlsVerify = values['insecureSkipTlsVerify'] === true
  // The parser leaves the sign of -v=6 in the value.
  const level = textOf(values, 'v')?.replace(/^=/, '')
  if (certificateAuthority !== undefined && skipTlsVerify)
    throw misplaced('--insecure-skip-tls-verify', 'stands beside --certificate-authority', 'leave one of them out')
  return {
    kind: 'cluster',
    kubeconfig: pathOf(values, 'kubeconfig'),
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
  throw misplaced(uid === undefined ? '--as-group' : '--as-uid', 'stands without --as', 'add --as USER: whom to act for')
}

function checkUrl(url: string): void {
  const parsed = URL.canParse(url) ? new URL(url) : null
  if (parsed === null || !['http:', 'https:'].includes(parsed.protocol))
    throw invalid('--server', url, 'give the address of the REST API, such as https://tranche.example')
  if (parsed.username !== '' || parsed.password !== '')
    throw new AppError('OPTION_INVALID', '--server carries credentials', { hint: 'Give them with --token-file or TRANCHE_TOKEN.' })
}

/** Over plain HTTP everybody on the way reads the token, and is then who it says. */
function checkUnheard(url: string): void {
  const { protocol, hostname } = new URL(url)
  if (protocol === 'https:' || /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)) return
  throw misplaced(
    '--server',
    `is plain HTTP to ${hostname}, where whoever is on the way reads your token`,
    'give its https address; or add --allow-http (TRANCHE_ALLOW_HTTP=true) where nobody else is on the way',
  )
}

function toRequestTimeoutMs(value: string | undefined): number {
  if (value === undefined) return DEFAULT_REQUEST_TIMEOUT_MS
  const ms = parseDuration('--request-timeout', value)
  return ms === 0 ? LONGEST_REQUEST_TIMEOUT_MS : Math.min(ms, LONGEST_REQUEST_TIMEOUT_MS)
}

function pathOf(values: Values, name: string): string | undefined {
  const value = textOf(values, name)
  if (value === '') throw invalid(`--${dashed(name)}`, value, 'give the path of a file')
  return value
}

function nameOf(values: Values, name: string): string | undefined {
  const value = textOf(values, name)
  if (value === '') throw invalid(`--${dashed(name)}`, value, 'give a name, or leave it out')
  return value
}

function dashed(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}
