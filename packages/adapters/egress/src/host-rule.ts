/** Allowed hosts: one host, or every name below a domain. A port limits the rule to that port. */
export interface HostRule {
  /** Host as in a URL: lower case, IPv6 in brackets, no trailing dot. For `*.example.com` it is `.example.com`. */
  readonly host: string
  /** Whether the rule matches names below `host`, but not `host` itself. */
  readonly isSuffix: boolean
  /** Null: every port. */
  readonly port: number | null
}

/**
 * Parses `example.com`, `example.com:8443`, `*.example.com`, `10.0.0.1`, `[::1]:9090`.
 *
 * @returns the rule, or a text that says what is wrong and how to write it
 */
export function parseHostRule(text: string): HostRule | string {
  const isSuffix = text.startsWith('*.')
  const rest = isSuffix ? text.slice(2) : text
  const url = /^[^\s/?#@\\*]+$/.test(rest) && URL.canParse(`http://${rest}`) ? new URL(`http://${rest}`) : null
  const port = /:(\d+)$/.exec(rest)?.[1]
  if (url === null || url.hostname === '' || (isSuffix && isAddress(url.hostname)))
    return `${JSON.stringify(text)} is not a host; use a name (prometheus.example.com), *.example.com, an address, or one of these with a port`
  const host = withoutDot(url.hostname)
  return { host: isSuffix ? `.${host}` : host, isSuffix, port: port === undefined ? null : Number(port) }
}

/** @returns whether a rule allows the host and port of the URL */
export function isHostAllowed(url: URL, rules: readonly HostRule[]): boolean {
  const host = withoutDot(url.hostname)
  const port = portOf(url)
  return rules.some((rule) => (rule.isSuffix ? host.endsWith(rule.host) : host === rule.host) && (rule.port === null || rule.port === port))
}

function portOf({ port, protocol }: URL): number {
  if (port !== '') return Number(port)
  return protocol === 'https:' ? 443 : 80
}

function withoutDot(host: string): string {
  return host.endsWith('.') ? host.slice(0, -1) : host
}

function isAddress(host: string): boolean {
  return host.startsWith('[') || /^\d+\.\d+\.\d+\.\d+$/.test(host)
}
