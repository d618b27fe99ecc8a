import { selectsLabels } from '../model/label-selector.ts'
import type { ApiObject } from '../model/client.ts'
import type { Webhook, WebhookRule } from './webhook-configuration.ts'
import type { WebhookWrite } from './webhook-write.ts'

/** Request as seen by rules. */
export interface RequestPlace {
  readonly operation: string
  readonly group: string
  /** Versions in which it may be seen, the requested one first. */
  readonly versions: readonly string[]
  readonly resource: string
  readonly subresource: string | undefined
  readonly namespaced: boolean
  /** Name in the request: empty for a generated name and for the deletion of a collection. Undefined when it is not known yet. */
  readonly name: string | undefined
}

/** @returns version in which the webhook matches the request; undefined when it does not match */
export function matchedVersion(webhook: Pick<Webhook, 'rules' | 'matchPolicy'>, place: RequestPlace): string | undefined {
  const versions = webhook.matchPolicy === 'Exact' ? place.versions.slice(0, 1) : place.versions
  return versions.find((version) => webhook.rules.some((rule) => ruleMatches(rule, place, version)))
}

/** @returns whether the webhook selects the labels of the object, old or new, and of its namespace */
export function selectsWrite(
  { objectSelector, namespaceSelector }: Pick<Webhook, 'objectSelector' | 'namespaceSelector'>,
  write: WebhookWrite,
  namespaceOf: (name: string) => ApiObject | undefined,
): boolean {
  const objects = [write.object, write.oldObject].filter((object) => object !== undefined)
  if (objectSelector !== undefined && !objects.some((object) => selectsLabels(objectSelector, object.metadata.labels ?? {}))) return false
  if (namespaceSelector === undefined) return true
  const holder = write.kind === 'Namespace' ? (write.object ?? write.oldObject) : write.namespace && namespaceOf(write.namespace)
  return holder === undefined || holder === '' || selectsLabels(namespaceSelector, holder.metadata.labels ?? {})
}

function ruleMatches(rule: WebhookRule, place: RequestPlace, version: string): boolean {
  return (
    has(rule.operations, place.operation) &&
    has(rule.apiGroups, place.group) &&
    has(rule.apiVersions, version) &&
    (rule.scope === '*' || (rule.scope === 'Namespaced') === place.namespaced) &&
    rule.resources.some((pattern) => resourceMatches(pattern, place)) &&
    (rule.resourceNames.length === 0 || place.name === undefined || rule.resourceNames.includes(place.name))
  )
}

/** `*` matches all resources without their subresources. */
function resourceMatches(pattern: string, { resource, subresource = '' }: RequestPlace): boolean {
  const [wanted = '', wantedSub = ''] = pattern.split('/')
  return (wanted === '*' || wanted === resource) && (wantedSub === '*' || wantedSub === subresource)
}

function has(words: readonly string[], word: string): boolean {
  return words.includes('*') || words.includes(word)
}
