import type { MetricRequest } from '@tranche/analysis'
import type { MetricPort, MetricResult } from '@tranche/controllers'
import type { EgressClient, SecretReader } from '@tranche/egress'
import { readOrMissing } from './secret-reader.ts'

/** Dependencies of {@link createMetricPort}. */
export interface MetricPortParts {
  readonly egress: EgressClient
  readonly secrets: SecretReader
}

/** Queries metric systems over HTTP. Reads Secrets for each request, and removes their values from reported answers. */
export function createMetricPort({ egress, secrets }: MetricPortParts): MetricPort {
  return {
    async ask(namespace, request, signal) {
      const headers = await privateHeaders(secrets, namespace, request, signal)
      if ('failed' in headers) return { kind: 'failed', message: headers.failed }
      return send(egress, namespace, { ...request, ...headers }, signal)
    },
  }
}

interface Headers {
  readonly values: Readonly<Record<string, string>>
  readonly secrets: readonly string[]
}

async function privateHeaders(
  secrets: SecretReader,
  namespace: string,
  { privateHeaders: wanted }: MetricRequest,
  signal: AbortSignal,
): Promise<Headers | { readonly failed: string }> {
  const values = new Map<string, string>()
  const read: string[] = []
  for (const header of wanted) {
    if ('value' in header) {
      values.set(header.name.toLowerCase(), header.value)
      continue
    }
    const answer = await readOrMissing(secrets, { namespace, ...header.secret }, signal)
    if (answer.kind === 'missing') return { failed: `${answer.message}; ${answer.fix}` }
    // Secrets made from files often end with a line break.
    const value = answer.value.replace(/\r?\n$/, '')
    if (!isHeaderValue(value))
      return {
        failed: `the key ${header.secret.key} of the Secret ${header.secret.name} is not a valid header value; write one line of ASCII`,
      }
    values.set(header.name.toLowerCase(), value)
    read.push(value)
  }
  return { values: Object.fromEntries(values), secrets: read }
}

function isHeaderValue(value: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(value)
}

async function send(
  egress: EgressClient,
  caller: string,
  { url, method, headers, body, timeoutMs, values, secrets }: MetricRequest & Headers,
  signal: AbortSignal,
): Promise<MetricResult> {
  const sent = { caller, url, method, headers, privateHeaders: values, timeoutMs, ...(body !== undefined && { body }) }
  const result = await egress.send(sent, signal)
  if (result.kind === 'failed') return { kind: 'failed', message: result.message }
  const contentType = result.headers['content-type'] ?? ''
  return { kind: 'answered', answer: { status: result.status, contentType, body: result.body, conceal: concealing(secrets) } }
}

/** Minimum length of a concealed part, in characters; shorter parts occur in many unrelated texts. */
const SHORTEST_PART = 6

/** Replaces secrets by `***`: whole header values, and their parts, such as the token after `Bearer`. */
function concealing(secrets: readonly string[]): (text: string) => string {
  const parts = secrets.flatMap((secret) => [secret, ...secret.split(/[\s,;:="]+/).filter((part) => part.length >= SHORTEST_PART)])
  const written = parts.flatMap((part) => [part, JSON.stringify(part).slice(1, -1)]).filter((part) => part !== '')
  const longestFirst = [...new Set(written)].sort((a, b) => b.length - a.length)
  return (text) => longestFirst.reduce((left, part) => left.replaceAll(part, '***'), text)
}
