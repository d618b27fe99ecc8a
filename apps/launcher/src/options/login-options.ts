import { readFileSync } from 'node:fs'
import type { LoginOptions } from '@tranche/api'
import { invalid, misplaced, textOf, type Values } from '@tranche/cli'

/** Options that `--oidc-issuer` requires. */
const needed = { oidcClientId: '--oidc-client-id', externalUrl: '--external-url', sessionKeyFile: '--session-key-file' } as const
/** Minimum length of a session key, in characters; shorter keys could be guessed. */
const SHORTEST_KEY = 32

/**
 * @returns the settings of browser login; undefined without `--oidc-issuer`
 * @throws {AppError} OPTION_INVALID
 */
export function toLoginOptions(values: Values): LoginOptions | undefined {
  const issuer = textOf(values, 'oidcIssuer')
  if (issuer === undefined) return undefined
  if (!isSafe(issuer)) throw invalid('--oidc-issuer', issuer, 'give an https:// address, or http:// on loopback')
  for (const [name, option] of Object.entries(needed))
    if (textOf(values, name) === undefined) throw misplaced('--oidc-issuer', `needs ${option}`, 'give both, or neither')
  const externalUrl = textOf(values, 'externalUrl') ?? ''
  if (!isSafe(externalUrl) || new URL(externalUrl).origin !== externalUrl)
    throw invalid('--external-url', externalUrl, 'give the origin that browsers use, without a path, such as https://tranche.example.com')
  const secretFile = textOf(values, 'oidcClientSecretFile')
  const usernameClaim = textOf(values, 'oidcUsernameClaim') ?? 'sub'
  return {
    issuer,
    clientId: textOf(values, 'oidcClientId') ?? '',
    clientSecret: secretFile === undefined ? undefined : linesOf('--oidc-client-secret-file', secretFile)[0],
    usernameClaim,
    usernamePrefix: prefixOf(textOf(values, 'oidcUsernamePrefix'), usernameClaim === 'email' ? '' : `${issuer}#`),
    groupsClaim: textOf(values, 'oidcGroupsClaim'),
    groupsPrefix: prefixOf(textOf(values, 'oidcGroupsPrefix'), ''),
    externalUrl,
    sessionKeys: sessionKeys(textOf(values, 'sessionKeyFile') ?? ''),
  }
}

/** A dash means no prefix, as for the API server. */
function prefixOf(given: string | undefined, usual: string): string {
  return given === '-' ? '' : (given ?? usual)
}

function isSafe(value: string): boolean {
  if (!URL.canParse(value)) return false
  const { protocol, hostname } = new URL(value)
  return protocol === 'https:' || (protocol === 'http:' && ['127.0.0.1', '[::1]', 'localhost'].includes(hostname))
}

function sessionKeys(path: string): readonly string[] {
  const keys = linesOf('--session-key-file', path)
  if (keys.some((key) => key.length < SHORTEST_KEY))
    throw invalid('--session-key-file', path, `give each key at least ${SHORTEST_KEY} characters, such as those of openssl rand -hex 32`)
  return keys
}

function linesOf(option: string, path: string): readonly string[] {
  const lines = contentOf(option, path)
    .split(/\r?\n/)
    .filter((line) => line !== '')
  if (lines.length === 0) throw invalid(option, path, 'give a file that is not empty')
  return lines
}

function contentOf(option: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    throw invalid(option, path, 'give a readable file')
  }
}
