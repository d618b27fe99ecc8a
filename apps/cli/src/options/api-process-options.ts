import type { ApiOptions, LoginOptions } from '@tranche/api'
import { toLoginOptions } from './login-options.ts'
import { invalid, misplaced, parseWhole } from '../option-values.ts'

/** Listener and authentication of the REST API. */
export interface ApiProcessOptions {
  readonly host: string
  /** 0 picks a free port. */
  readonly port: number
  /** Files of the certificate and key; undefined: plain HTTP. */
  readonly tls: ApiOptions['tls']
  /** Origins of pages that may read responses. */
  readonly corsOrigins: readonly string[]
  /** Addresses of proxies, or ranges, whose `X-Forwarded-For` is trusted. */
  readonly trustProxies: readonly string[]
  /** Audiences that tokens must have; empty: those of the API server. */
  readonly audiences: readonly string[]
  /** Whether pipelines may authenticate by Secrets with the label of a hook. */
  readonly hooks: boolean
  /** Browser login; undefined: disabled. */
  readonly login: LoginOptions | undefined
  /** Limit per client, 1 to 1,000,000. */
  readonly requestsPerSecond: number
}

/** @throws {AppError} OPTION_INVALID */
export function toApiProcessOptions(values: Readonly<Record<string, unknown>>): ApiProcessOptions {
  const corsOrigins = list(values, 'corsOrigin')
  for (const origin of corsOrigins)
    if (!isOrigin(origin)) throw invalid('--cors-origin', origin, 'give an origin without a path, such as https://tools.example.com')
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
  if (certFile === undefined) throw misplaced('--tls-key-file', 'requires --tls-cert-file', 'give both, or neither')
  if (keyFile === undefined) throw misplaced('--tls-cert-file', 'requires --tls-key-file', 'give both, or neither')
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
