import type { ApiOptions, LoginOptions } from '@tranche/api'
import { invalid, misplaced, parseWhole, textOf, textsOf, type Values } from '@tranche/cli'
import { toLoginOptions } from './login-options.ts'

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
export function toApiProcessOptions(values: Values): ApiProcessOptions {
  const corsOrigins = textsOf(values, 'corsOrigin')
  for (const origin of corsOrigins)
    if (!isOrigin(origin)) throw invalid('--cors-origin', origin, 'give an origin without a path, such as https://tools.example.com')
  return {
    host: textOf(values, 'host') ?? '127.0.0.1',
    port: parseWhole('--api-port', textOf(values, 'apiPort') ?? '8080', { min: 0, max: 65_535 }),
    tls: toCertificateFiles(values),
    corsOrigins,
    trustProxies: textsOf(values, 'trustProxy'),
    audiences: textsOf(values, 'audience'),
    hooks: values['hooks'] === true,
    login: toLoginOptions(values),
    requestsPerSecond: parseWhole('--requests-per-second', textOf(values, 'requestsPerSecond') ?? '200', { min: 1, max: 1_000_000 }),
  }
}

function toCertificateFiles(values: Values): ApiProcessOptions['tls'] {
  const [certFile, keyFile] = [textOf(values, 'tlsCertFile'), textOf(values, 'tlsKeyFile')]
  if (certFile === undefined && keyFile === undefined) return undefined
  if (certFile === undefined) throw misplaced('--tls-key-file', 'requires --tls-cert-file', 'give both, or neither')
  if (keyFile === undefined) throw misplaced('--tls-cert-file', 'requires --tls-key-file', 'give both, or neither')
  return { certFile, keyFile }
}

function isOrigin(value: string): boolean {
  return URL.canParse(value) && new URL(value).origin === value
}
