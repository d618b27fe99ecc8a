import type { ApiObject } from '../model/client.ts'
import { duplicate, invalid, notSupported, required } from '../model/field-errors.ts'
import { labelSelectorCauses } from '../model/label-selector.ts'
import { conditionFault } from '../admission/match-conditions.ts'
import type { Strategy } from '../model/resource-definition.ts'
import { plainStrategy } from './strategies.ts'
import type { StatusCause } from '../model/status-error.ts'
import { isObject, type JsonObject, listOrEmpty, objectOrEmpty } from '../model/json.ts'

/** Mutating webhook configurations. */
export const mutatingWebhookStrategy: Strategy = webhookStrategy(true)

/** Validating webhook configurations. */
export const validatingWebhookStrategy: Strategy = webhookStrategy(false)

function webhookStrategy(mutating: boolean): Strategy {
  return {
    ...plainStrategy,
    hasGeneration: true,
    defaults: (configuration) => withDefaults(configuration, mutating),
    validate: (configuration) => [...webhooksCauses(configuration)],
  }
}

function withDefaults(configuration: ApiObject, mutating: boolean): ApiObject {
  const webhooks = listOrEmpty(configuration['webhooks']).map((entry) => {
    const hook = objectOrEmpty(entry)
    return {
      failurePolicy: 'Fail',
      matchPolicy: 'Equivalent',
      namespaceSelector: {},
      objectSelector: {},
      timeoutSeconds: 10,
      ...(mutating && { reinvocationPolicy: 'Never' }),
      ...hook,
      clientConfig: withDefaultPort(objectOrEmpty(hook['clientConfig'])),
      ...(hook['rules'] !== undefined && { rules: listOrEmpty(hook['rules']).map((rule) => ({ scope: '*', ...objectOrEmpty(rule) })) }),
    }
  })
  return webhooks.length === 0 ? configuration : { ...configuration, webhooks }
}

function withDefaultPort(clientConfig: JsonObject): JsonObject {
  const { service } = clientConfig
  return isObject(service) ? { ...clientConfig, service: { port: 443, ...service } } : clientConfig
}

function webhooksCauses(configuration: ApiObject): readonly StatusCause[] {
  const webhooks = listOrEmpty(configuration['webhooks']).map(objectOrEmpty)
  return webhooks.flatMap((hook, index) => {
    const isTwin = webhooks.findIndex((other) => other['name'] === hook['name']) < index
    return [...webhookCauses(hook, `webhooks[${index}]`), ...(isTwin ? [duplicate(`webhooks[${index}].name`, hook['name'])] : [])]
  })
}

function webhookCauses(hook: JsonObject, path: string): readonly StatusCause[] {
  const { name, timeoutSeconds, sideEffects } = hook
  const seconds = Number(timeoutSeconds)
  const selectors = ['namespaceSelector', 'objectSelector'] as const
  const effects = ['None', 'NoneOnDryRun']
  return [
    ...(String(name ?? '').split('.').length >= 3
      ? []
      : [invalid(`${path}.name`, name ?? '', 'should be a domain with at least three segments separated by dots')]),
    ...listOrEmpty(hook['rules']).flatMap((rule, index) => ruleCauses(objectOrEmpty(rule), `${path}.rules[${index}]`)),
    ...oneOf(hook, 'failurePolicy', ['Fail', 'Ignore'], path),
    ...oneOf(hook, 'matchPolicy', ['Equivalent', 'Exact'], path),
    ...(sideEffects === undefined
      ? [required(`${path}.sideEffects`, `must specify one of ${effects.join(', ')}`)]
      : oneOf(hook, 'sideEffects', effects, path)),
    ...(seconds >= 1 && seconds <= 30
      ? []
      : [invalid(`${path}.timeoutSeconds`, timeoutSeconds, 'the timeout value must be between 1 and 30 seconds')]),
    ...selectors.flatMap((field) => labelSelectorCauses(objectOrEmpty(hook[field]), `${path}.${field}`)),
    ...(hook['reinvocationPolicy'] === undefined ? [] : oneOf(hook, 'reinvocationPolicy', ['IfNeeded', 'Never'], path)),
    ...clientCauses(objectOrEmpty(hook['clientConfig']), `${path}.clientConfig`),
    ...conditionsCauses(listOrEmpty(hook['matchConditions']).map(objectOrEmpty), `${path}.matchConditions`),
    ...versionCauses(listOrEmpty(hook['admissionReviewVersions']), `${path}.admissionReviewVersions`),
  ]
}

/** @returns error of a field with a fixed set of values */
export function oneOf(hook: JsonObject, field: string, supported: readonly string[], path: string): readonly StatusCause[] {
  return supported.includes(String(hook[field])) ? [] : [notSupported(`${path}.${field}`, hook[field], supported)]
}

const OPERATIONS = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE']
const SCOPES = ['*', 'Cluster', 'Namespaced']

/** @returns errors of a rule */
export function ruleCauses(rule: JsonObject, path: string): readonly StatusCause[] {
  const operations = listOrEmpty(rule['operations'])
  return [
    ...['operations', 'apiGroups', 'apiVersions', 'resources']
      .filter((field) => listOrEmpty(rule[field]).length === 0)
      .map((field) => required(`${path}.${field}`)),
    ...operations.flatMap((operation, index) =>
      OPERATIONS.includes(String(operation)) ? [] : [notSupported(`${path}.operations[${index}]`, operation, OPERATIONS)],
    ),
    ...oneOfStar(rule, 'operations', 'other operations', path),
    ...oneOfStar(rule, 'apiGroups', 'other API groups', path),
    ...oneOfStar(rule, 'apiVersions', 'other API versions', path),
    ...(SCOPES.includes(String(rule['scope'])) ? [] : [notSupported(`${path}.scope`, rule['scope'], SCOPES)]),
  ]
}

function oneOfStar(rule: JsonObject, field: string, others: string, path: string): readonly StatusCause[] {
  const words = listOrEmpty(rule[field])
  if (words.length < 2 || !words.includes('*')) return []
  return [invalid(`${path}.${field}`, words, `if '*' is present, must not specify ${others}`)]
}

function clientCauses({ url, service, caBundle }: JsonObject, path: string): readonly StatusCause[] {
  if ((url === undefined) === (service === undefined)) return [required(path, 'exactly one of url or service is required')]
  const causes = url === undefined ? serviceCauses(objectOrEmpty(service), `${path}.service`) : urlCauses(String(url), `${path}.url`)
  const pem = typeof caBundle === 'string' ? Buffer.from(caBundle, 'base64').toString() : ''
  if (pem === '' || pem.includes('-----BEGIN CERTIFICATE-----')) return causes
  const why = 'unable to load root certificates: unable to parse bytes as PEM block'
  return [...causes, invalid(`${path}.caBundle`, caBundle, why)]
}

const URL_FORM = '; desired format: https://host[/path]'

function urlCauses(text: string, field: string): readonly StatusCause[] {
  const url = URL.parse(text)
  if (url === null) return [required(field, `url must be a valid URL: parse ${JSON.stringify(text)}: invalid URI${URL_FORM}`)]
  const scheme = url.protocol.replace(':', '')
  return [
    ...(scheme === 'https' ? [] : [invalid(field, scheme, `'https' is the only allowed URL scheme${URL_FORM}`)]),
    ...(url.host === '' ? [invalid(field, '', `host must be specified${URL_FORM}`)] : []),
    ...(url.username === '' ? [] : [invalid(field, url.username, 'user information is not permitted in the URL')]),
    ...(url.hash === '' ? [] : [invalid(field, url.hash.slice(1), 'fragments are not permitted in the URL')]),
    ...(url.search === '' ? [] : [invalid(field, url.search.slice(1), 'query parameters are not permitted in the URL')]),
  ]
}

function serviceCauses({ name, namespace, path, port }: JsonObject, field: string): readonly StatusCause[] {
  const causes = [...(name ? [] : [required(`${field}.name`)]), ...(namespace ? [] : [required(`${field}.namespace`)])]
  if (typeof path === 'string' && path !== '' && !path.startsWith('/')) causes.push(invalid(`${field}.path`, path, "must start with a '/'"))
  if (!(Number(port) >= 1 && Number(port) <= 65_535))
    causes.push(invalid(`${field}.port`, port, 'port is not valid: must be between 1 and 65535, inclusive'))
  return causes
}

function conditionsCauses(conditions: readonly JsonObject[], path: string): readonly StatusCause[] {
  return conditions.flatMap(({ name, expression }, index) => {
    const at = `${path}[${index}]`
    const fault = expression ? conditionFault(String(expression)) : undefined
    return [
      ...(expression ? [] : [required(`${at}.expression`)]),
      ...(fault === undefined ? [] : [invalid(`${at}.expression`, expression, fault)]),
      ...(name ? [] : [required(`${at}.name`)]),
      ...(name && conditions.findIndex((other) => other['name'] === name) < index ? [duplicate(`${at}.name`, name)] : []),
    ]
  })
}

function versionCauses(versions: readonly unknown[], field: string): readonly StatusCause[] {
  if (versions.length === 0) return [required(field, 'must specify one of v1, v1beta1')]
  return versions.some((version) => version === 'v1' || version === 'v1beta1')
    ? []
    : [invalid(field, versions, 'must include at least one of v1, v1beta1')]
}
