import type { ApiObject } from '../model/client.ts'
import { type JsonObject, listOrEmpty, objectOrEmpty } from '../model/json.ts'

/** Parsed webhook of a configuration. @see admissionregistration/v1 MutatingWebhook */
export interface Webhook {
  readonly name: string
  /** Configuration and index in it: identifies the webhook across rounds. */
  readonly id: string
  readonly client: WebhookTarget
  readonly rules: readonly WebhookRule[]
  readonly failurePolicy: 'Fail' | 'Ignore'
  readonly matchPolicy: 'Exact' | 'Equivalent'
  /** Undefined selects everything. */
  readonly namespaceSelector: JsonObject | undefined
  readonly objectSelector: JsonObject | undefined
  readonly matchConditions: readonly MatchCondition[]
  readonly sideEffects: string
  readonly timeoutSeconds: number
  readonly reinvocationPolicy: 'Never' | 'IfNeeded'
  readonly admissionReviewVersions: readonly string[]
}

/** Address of a webhook. */
export interface WebhookTarget {
  /** `https://host:port/path`; for a service `https://name.namespace.svc:port/path`. */
  readonly url: string
  readonly service: { readonly namespace: string; readonly name: string; readonly port: number } | undefined
  /** CA certificates to trust, in PEM; undefined: those of this machine. */
  readonly caBundle: string | undefined
}

/** Requests that a webhook or policy matches; `*` matches all. */
export interface WebhookRule {
  readonly operations: readonly string[]
  readonly apiGroups: readonly string[]
  readonly apiVersions: readonly string[]
  readonly resources: readonly string[]
  /** Names of objects; empty matches all. Only rules of policies have them. */
  readonly resourceNames: readonly string[]
  readonly scope: string
}

/** CEL condition that a request must meet for the webhook to be called. */
export interface MatchCondition {
  readonly name: string
  readonly expression: string
}

/** @returns webhooks of a configuration, in order */
export function readWebhooks(configuration: ApiObject): readonly Webhook[] {
  return listOrEmpty(configuration['webhooks']).map((entry, index) => readWebhook(configuration.metadata.name, objectOrEmpty(entry), index))
}

function readWebhook(configuration: string, hook: JsonObject, index: number): Webhook {
  const name = String(hook['name'])
  return {
    name,
    id: `${configuration}/${name}/${index}`,
    client: readTarget(objectOrEmpty(hook['clientConfig'])),
    rules: listOrEmpty(hook['rules']).map((rule) => readRule(objectOrEmpty(rule))),
    failurePolicy: hook['failurePolicy'] === 'Ignore' ? 'Ignore' : 'Fail',
    matchPolicy: hook['matchPolicy'] === 'Exact' ? 'Exact' : 'Equivalent',
    namespaceSelector: selectorOf(hook['namespaceSelector']),
    objectSelector: selectorOf(hook['objectSelector']),
    matchConditions: listOrEmpty(hook['matchConditions']).map((entry) => {
      const condition = objectOrEmpty(entry)
      return { name: String(condition['name']), expression: String(condition['expression']) }
    }),
    sideEffects: String(hook['sideEffects']),
    timeoutSeconds: Number(hook['timeoutSeconds'] ?? 10),
    reinvocationPolicy: hook['reinvocationPolicy'] === 'IfNeeded' ? 'IfNeeded' : 'Never',
    admissionReviewVersions: words(hook['admissionReviewVersions']),
  }
}

function readTarget({ url, service, caBundle }: JsonObject): WebhookTarget {
  const ca = typeof caBundle === 'string' && caBundle !== '' ? Buffer.from(caBundle, 'base64').toString() : undefined
  if (service === undefined) return { url: String(url), service: undefined, caBundle: ca }
  const { namespace, name, port = 443, path = '' } = objectOrEmpty(service)
  const at = { namespace: String(namespace), name: String(name), port: Number(port) }
  return { url: `https://${at.name}.${at.namespace}.svc:${at.port}${String(path)}`, service: at, caBundle: ca }
}

/** @returns parsed rule of a webhook or policy */
export function readRule(rule: JsonObject): WebhookRule {
  return {
    operations: words(rule['operations']),
    apiGroups: words(rule['apiGroups']),
    apiVersions: words(rule['apiVersions']),
    resources: words(rule['resources']),
    resourceNames: words(rule['resourceNames']),
    scope: String(rule['scope'] ?? '*'),
  }
}

/** @returns parsed LabelSelector; undefined when it selects everything */
export function selectorOf(selector: unknown): JsonObject | undefined {
  const given = objectOrEmpty(selector)
  return Object.keys(given).length === 0 ? undefined : given
}

function words(value: unknown): readonly string[] {
  return listOrEmpty(value).map(String)
}
