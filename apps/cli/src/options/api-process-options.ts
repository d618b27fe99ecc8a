import type { ApiOptions, LoginOptions } from '@tranche/api'
import { toLoginOptions } from './login-options.ts'
import { invalid, misplaced, parseWhole } from '../option-values.ts'

/** How the REST API is served. */
export interface ApiProcessOptions {
  readonly host: string
  /** 0 takes a free port. */
  readonly port: number
  /** Files of the certificate; undefined: plain HTTP. */
  readonly tls: ApiOptions['tls']
  /** Origins of pages that may read answers. */
  readonly corsOrigins: readonly string[]
  /** Addresses of proxies, or ranges, whose `X-Forwarded-For` is believed. */
  readonly trustProxies: readonly string[]
  /** For which tokens must be meant; none: the API server's own. */
  readonly audiences: readonly string[]
  /** Whether Secrets with the label of a hook let pipelines in. */
  readonly hooks: boolean
  /** How people log in with a browser; undefined: not at all. */
  readonly login: LoginOptions | undefined
  /** From one sender, 1 to 1,000,000. */
  readonly requestsPerSecond: number
}

/** @throws {AppError} OPTION_INVALID */
export function toApiProcessOptions(values: Readonly<Record<string, unknown>>): ApiProcessOptions {
  const corsOrigins = list(values, 'corsOrigin')
  for (const origin of corsOrigins)
    if (!isOrigin(origin)) throw invalid('--cors-origin', origin, 'give an origin without a path, as https://tools.example.com')
  return {
    host: text(values, 'host') ?? '127.0.0.1',
    port: parseWhole('--api-port', text(values, 'apiPort') ?? '8080', { min: 0, max: 65_535 }),
    tls: toCertificateFiles(values),
    corsOrigins,
    trustProxies: list(values, 'trustProxy'),
    audiences: list(values, 'audience'),
    hooks: values['hooks'] === true,
    login: toLoginOptions(values),
    requestsPerSecond: parseWhole('--requests-per-second', text(values, 'requestsPerSecond') ?? '200', { min: 1, max: 1_000_000 }),
  }
}

function toCertificateFiles(values: Readonly<Record<string, unknown>>): ApiProcessOptions['tls'] {
  const [certFile, keyFile] = [text(values, 'tlsCertFile'), text(values, 'tlsKeyFile')]
  if (certFile === undefined && keyFile === undefined) return undefined
  if (certFile === undefined) throw misplaced('--tls-key-file', 'stands without --tls-cert-file', 'give both, or neither')
  if (keyFile === undefined) throw misplaced('--tls-cert-file', 'stands without --tls-key-file', 'give both, or neither')
  return { certFile, keyFile }
}

function isOrigin(value: string): boolean {
  return URL.canParse(value) && new URL(value).origin === value
}

function list(values: Readonly<Record<string, unknown>>, name: string): readonly string[] {
  const value = values[name]
  return Array.isArray(value) ? value.map(String) : []
}

function text(values: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = values[name]
  return typeof value === 'string' ? value : undefined
}
