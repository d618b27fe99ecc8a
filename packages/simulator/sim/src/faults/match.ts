import type { FaultCall, FaultEvent } from '@tranche/sim-api'

/** Selects requests or events for a fault; absent fields select all. In names, `*` matches any text. */
export interface Selection {
  readonly actors?: readonly string[] | undefined
  readonly verbs?: readonly string[] | undefined
  readonly resources?: readonly string[] | undefined
  readonly namespaces?: readonly string[] | undefined
  readonly names?: readonly string[] | undefined
}

/** @returns whether the request is selected */
export function requestMatcher(selection: Selection): (call: FaultCall) => boolean {
  const isActor = actorMatcher(selection.actors)
  const isResource = textMatcher(selection.resources)
  const isNamespace = textMatcher(selection.namespaces)
  const isName = textMatcher(selection.names)
  const { verbs } = selection
  return (call) =>
    (verbs === undefined || verbs.includes(call.verb)) &&
    isResource(resourceText(call.resource.resource, call.subresource)) &&
    isActor(call) &&
    isNamespace(call.namespace) &&
    isName(call.name)
}

/** @returns whether the watch event is selected */
export function eventMatcher(selection: Selection): (event: FaultEvent) => boolean {
  const isActor = actorMatcher(selection.actors)
  const isResource = textMatcher(selection.resources)
  const isNamespace = textMatcher(selection.namespaces)
  return (event) => isResource(event.resource.resource) && isActor(event) && isNamespace(event.object.metadata.namespace)
}

/** @returns `pods`, or `pods/status`, as in RBAC rules */
export function resourceText(resource: string, subresource: string | undefined): string {
  return subresource === undefined ? resource : `${resource}/${subresource}`
}

/** @returns whether a text matches one of the patterns; without patterns every text matches, and so does an absent one */
export function textMatcher(patterns: readonly string[] | undefined): (text: string | undefined) => boolean {
  if (patterns === undefined) return () => true
  const expressions = patterns.map((pattern) => new RegExp(`^${pattern.split('*').map(literal).join('.*')}$`))
  return (text) => text !== undefined && expressions.some((expression) => expression.test(text))
}

/** Matches an actor by its user, or by the program in its User-Agent: `tranche-executor` of `tranche-executor/0.1.0`. */
function actorMatcher(patterns: readonly string[] | undefined): (sender: Pick<FaultCall, 'actor' | 'userAgent'>) => boolean {
  const matches = textMatcher(patterns)
  return ({ actor, userAgent }) =>
    matches(actor) || (userAgent !== undefined && (matches(userAgent) || matches(userAgent.split('/', 1)[0])))
}

function literal(text: string): string {
  return text.replace(/[\\^$.|?+()[\]{}]/g, '\\$&')
}
