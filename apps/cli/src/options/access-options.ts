import { AppError } from '@tranche/errors'
import type { CommandIo } from '../command-io.ts'
import { invalid, misplaced } from '../option-values.ts'
import { parseDuration } from './duration-option.ts'

/** As the parser hands options over: strings, booleans, lists, or nothing. */
export type Values = Readonly<Record<string, unknown>>

/** Where a command looks for Rollouts, and how long it waits for one answer. */
export interface AccessOptions {
  readonly source: ClusterSource | ServerSource
  /** As `-n` says; undefined: that of the context. */
  readonly namespace: string | undefined
  readonly allNamespaces: boolean
  /** For one request, in milliseconds. */
  readonly requestTimeoutMs: number
}

/** A cluster, by kubeconfig. */
export interface ClusterSource {
  readonly kind: 'cluster'
  readonly kubeconfig: string | undefined
  readonly context: string | undefined
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
  if (namespace !== undefined && values['allNamespaces'] === true)
    throw misplaced('--all-namespaces', 'stands beside --namespace', 'leave one of them out')
  return {
    source: toSource(values, env),
    namespace,
    allNamespaces: values['allNamespaces'] === true,
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

function toSource(values: Values, env: CommandIo['env']): AccessOptions['source'] {
  const asked = textOf(values, 'server')
  const url =
    asked ?? (values['kubeconfig'] === undefined && values['context'] === undefined ? env['TRANCHE_SERVER'] || undefined : undefined)
  if (url === undefined) {
    for (const option of ['token', 'tokenFile'])
      if (values[option] !== undefined)
        throw misplaced(`--${dashed(option)}`, 'stands without --server', 'add --server URL: with a kubeconfig, that says who you are')
    return { kind: 'cluster', kubeconfig: pathOf(values, 'kubeconfig'), context: textOf(values, 'context') }
  }
  for (const option of ['kubeconfig', 'context'])
    if (values[option] !== undefined)
      throw misplaced(`--${option}`, 'stands beside --server', 'leave one of them out: either a cluster is asked, or the REST API')
  checkUrl(url)
  const token = textOf(values, 'token') ?? (env['TRANCHE_TOKEN'] || undefined)
  return { kind: 'server', url, token, tokenFile: pathOf(values, 'tokenFile') }
}

function checkUrl(url: string): void {
  const parsed = URL.canParse(url) ? new URL(url) : null
  if (parsed === null || !['http:', 'https:'].includes(parsed.protocol))
    throw invalid('--server', url, 'give the address of the REST API, such as https://tranche.example')
  if (parsed.username !== '' || parsed.password !== '')
    throw new AppError('OPTION_INVALID', '--server carries credentials', { hint: 'Give them with --token-file or TRANCHE_TOKEN.' })
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

function dashed(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}
