import type { Question } from './reviews.ts'

/** Access rule of a route. Every route states one; a route without one cannot be registered. */
export type Access =
  /** No token needed. `why`: the reason that it reveals nothing confidential. */
  | { readonly kind: 'public'; readonly why: string }
  /** The message is signed with a key that the route looks up and checks itself. `why`: the reason that no token is needed. */
  | { readonly kind: 'signed'; readonly why: string }
  /** Any valid token. `why`: the reason that this is enough. */
  | { readonly kind: 'authenticated'; readonly why: string }
  /** Any valid token; items that the caller may not list are left out of the answer. */
  | { readonly kind: 'filtered' }
  /** The caller may use the verb on the resource, for the `namespace` and `name` of the path. */
  | { readonly kind: 'resource'; readonly verb: string; readonly resource: keyof typeof accessResources }
  /** The caller may use the verb on a non-resource path. */
  | { readonly kind: 'path'; readonly verb: string; readonly path: string }

/** Resources that access rules name, with their API groups. */
export const accessResources = {
  rollouts: { group: 'rollouts.kruise.io', resource: 'rollouts' },
  daemonsets: { group: 'apps', resource: 'daemonsets' },
  events: { group: '', resource: 'events' },
} as const

/** @returns the question for the SubjectAccessReview; null if a valid token is enough */
export function questionOf(access: Access, params: Readonly<Record<string, string | undefined>>): Question | null {
  if (access.kind === 'path') return { kind: 'path', verb: access.verb, path: access.path }
  if (access.kind !== 'resource') return null
  const { verb, resource } = access
  return { kind: 'resource', verb, ...accessResources[resource], namespace: params['namespace'] ?? '', name: params['name'] ?? '' }
}

/** @returns the question as text: `approve rollouts.rollouts.kruise.io "agent" in namespace "demo"` */
export function questionText(question: Question): string {
  if (question.kind === 'path') return `${question.verb} ${question.path}`
  const { verb, group, resource, namespace, name } = question
  const named = name === '' ? '' : ` ${JSON.stringify(name)}`
  const of = group === '' ? '' : `.${group}`
  return `${verb} ${resource}${of}${named} ${namespace === '' ? 'in all namespaces' : `in namespace ${JSON.stringify(namespace)}`}`
}
